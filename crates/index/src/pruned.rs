//! Dynamic pruning: the best documents of a large index without scoring every posting.
//!
//! This is `MaxScore` (Turtle and Flood, "Query Evaluation: Strategies and Optimizations", 1995) by
//! windows of documents. In each window, the most frequent tokens whose summed upper bounds stay
//! below the worst of the best hits so far are set aside: a document that has no other token cannot
//! become a hit. Upper bounds of the scores are added up for the documents of the remaining tokens,
//! and completed with the tokens that were set aside while they reach the worst hit. Only for those
//! that still do is the score computed, as the exhaustive search computes it. Bounds decide what is
//! left out and nothing else, so the hits, their scores and their order are those of the exhaustive
//! search, bit for bit.

mod best_hits;

use crate::bm25::Variant;
use crate::weighting::{MatchedToken, Query, Weighting};
use best_hits::{BestHits, key};
use clariq_core::{Doc, Ranking, Result};
use std::cmp::Reverse;
use std::collections::HashMap;
use std::mem;
use std::ops::Range;
use std::sync::{Arc, Mutex, PoisonError};
use tantivy::postings::BlockSegmentPostings;

/// Number of documents of a window.
const WINDOW: usize = if cfg!(test) { 32 } else { 4096 };

/// Number of classes of lengths; a class is a byte.
const CLASSES: usize = if cfg!(test) { 16 } else { 256 };

/// Number of counts of a token that are distinguished; the last stands for all higher ones.
const COUNTS: usize = 16;

/// Number of sums that are compared at once.
const PART: usize = 16;

/// Maximum size of the bounds that are kept, in bytes.
const KEPT_BOUNDS: usize = 64 << 20;

/// Range of weights and saturations, whose products must be ordinary `f32` numbers.
const USUAL: Range<f64> = 1e-15..1e15;

/// Upper bounds of contributions to scores, for pruning.
pub(crate) struct Pruner {
    /// The class of each document's length, up to whole windows.
    classes: Vec<u8>,
    /// The last of the documents in each window.
    last: Vec<Doc>,
    /// The norm of each class, if all documents of a class have the same.
    norms: Option<Vec<f64>>,
    /// An upper bound of the saturation for each count and class.
    saturations: Vec<f32>,
    /// The highest of these.
    most: f32,
    /// The highest saturation of a token in each window, by the position of its postings.
    bounds: Mutex<HashMap<usize, Arc<[f32]>>>,
}

impl Pruner {
    /// Computes the bounds; `None` for query likelihood, and for parameters with which scores leave
    /// the usual range.
    pub(crate) fn new(weighting: &Weighting) -> Option<Self> {
        let model = &weighting.model;
        if model.variant == Variant::Ql {
            // A contribution is not the product of a weight and a saturation.
            return None;
        }
        let lengths: Vec<u32> =
            weighting.index.lengths.iter().map(|&tokens| model.length(tokens)).collect();
        let (starts, exact) = classes(&lengths);
        let norm = |&length: &u32| model.norm(f64::from(length), weighting.mean_length);
        let norms: Vec<f64> = starts.iter().map(norm).collect();
        // Saturation falls with the length and rises with the count.
        let mut saturations = vec![0.0; COUNTS * CLASSES];
        for (class, (&length, &norm)) in starts.iter().zip(&norms).enumerate() {
            // No document without a token has a posting.
            for row in (0..COUNTS).filter(|_| length > 0) {
                let count = if row + 1 < COUNTS { row as u32 + 1 } else { u32::MAX };
                let saturation = model.saturation(f64::from(count), norm);
                if !USUAL.contains(&saturation) {
                    return None;
                }
                saturations[row * CLASSES + class] = (saturation as f32).next_up();
            }
        }
        let class = |length| starts.partition_point(|&start| start <= length).saturating_sub(1);
        let mut classes: Vec<u8> = lengths.into_iter().map(|length| class(length) as u8).collect();
        classes.resize(classes.len().next_multiple_of(WINDOW), 0);
        let most = saturations.iter().copied().fold(0.0, f32::max);
        let norms = exact.then_some(norms);
        let windows = weighting.index.docs.chunks(WINDOW);
        let last = windows.filter_map(|docs| docs.iter().copied().max()).collect();
        Some(Self { classes, last, norms, saturations, most, bounds: Mutex::default() })
    }

    /// True if the bounds hold for these tokens: all have a positive weight.
    pub(crate) fn takes(matched: &[MatchedToken]) -> bool {
        matched.iter().all(|token| USUAL.contains(&(token.idf * token.weight)))
    }

    fn windows(&self) -> usize {
        self.classes.len() / WINDOW
    }

    /// An upper bound of the saturation of a token in a document of a class.
    fn saturation(&self, count: u32, class: u8) -> f32 {
        let row = (count as usize).min(COUNTS) - 1;
        self.saturations[row * CLASSES + usize::from(class)]
    }

    /// The highest saturation of a token in each window, if there are more documents with it than
    /// windows. It is computed from all postings when the token is first searched.
    fn bounds(&self, weighting: &Weighting, token: &MatchedToken) -> Result<Option<Arc<[f32]>>> {
        if token.info.doc_freq as usize <= self.windows() {
            return Ok(None);
        }
        let lock = || self.bounds.lock().unwrap_or_else(PoisonError::into_inner);
        let key = token.info.postings_range.start;
        if let Some(bounds) = lock().get(&key) {
            return Ok(Some(Arc::clone(bounds)));
        }
        let mut bounds = vec![0.0_f32; self.windows()];
        let mut blocks = weighting.blocks(token)?;
        while !blocks.docs().is_empty() {
            for (&document, &count) in blocks.docs().iter().zip(blocks.freqs()) {
                let saturation = self.saturation(count, self.classes[document as usize]);
                let bound = &mut bounds[document as usize / WINDOW];
                *bound = bound.max(saturation);
            }
            blocks.advance();
        }
        let bounds: Arc<[f32]> = bounds.into();
        let mut kept = lock();
        if kept.len() * mem::size_of_val(&*bounds) >= KEPT_BOUNDS {
            kept.clear();
        }
        kept.insert(key, Arc::clone(&bounds));
        Ok(Some(bounds))
    }

    /// The best `limit` hits of a query whose tokens all add to the score.
    pub(crate) fn rank(
        &self,
        weighting: &Weighting,
        matched: &[MatchedToken],
        query: &Query,
        limit: usize,
    ) -> Result<Ranking> {
        if limit == 0 {
            return Ok(Ranking::new());
        }
        for uses_expectations in [true, false] {
            let mut search = PrunedSearch::new(self, weighting, matched, query, limit)?;
            for window in 0..self.windows() {
                search.window(window);
                // Rare enough to cost nothing.
                if uses_expectations && (window + 1).is_power_of_two() {
                    search.best.expect(window + 1, self.windows());
                }
            }
            if search.best.is_complete() {
                return Ok(search.best.hits());
            }
        }
        Ok(Ranking::new())
    }
}

/// The shortest length of each class, and true if no class has another length. If there are too
/// many lengths, the ratio of the longest to the shortest length is about the same in all classes.
fn classes(lengths: &[u32]) -> (Vec<u32>, bool) {
    let mut different = lengths.to_vec();
    different.sort_unstable();
    different.dedup();
    let mut growth = 1.0;
    loop {
        let mut starts: Vec<u32> = Vec::new();
        for &length in &different {
            let next = |&last: &u32| f64::from(length) >= f64::from(last) * growth;
            if starts.last().is_none_or(next) {
                starts.push(length);
            }
        }
        if starts.len() <= CLASSES {
            let exact = starts.len() == different.len();
            return (starts, exact);
        }
        growth += 0.01;
    }
}

/// A query that is ranked.
struct PrunedSearch<'s> {
    pruner: &'s Pruner,
    weighting: &'s Weighting,
    matched: &'s [MatchedToken<'s>],
    query: &'s Query<'s>,
    /// The list of each token.
    of_token: Vec<usize>,
    /// The lists by descending length.
    order: Vec<usize>,
    lists: Vec<List>,
    /// The lists that are set aside in the window at hand, each with the sum of the bounds of those
    /// before it.
    aside: Vec<(usize, f64)>,
    /// The other lists of the window.
    searched: Vec<usize>,
    /// The positions in the window of documents that may be hits, in ascending order.
    candidates: Vec<u16>,
    /// Upper bounds of the scores in the window; 0 between windows.
    sums: [f32; WINDOW],
    best: BestHits,
}

impl<'s> PrunedSearch<'s> {
    fn new(
        pruner: &'s Pruner,
        weighting: &'s Weighting,
        matched: &'s [MatchedToken<'s>],
        query: &'s Query<'s>,
        limit: usize,
    ) -> Result<Self> {
        let mut lists: Vec<List> = Vec::new();
        let mut of_token = Vec::new();
        let mut known = HashMap::new();
        for token in matched {
            let list = *known.entry(token.info.postings_range.start).or_insert(lists.len());
            if list == lists.len() {
                lists.push(List::new(pruner, weighting, token)?);
            }
            lists[list].factor += token.idf * token.weight;
            of_token.push(list);
        }
        // The most frequent tokens, which cost the most, come first.
        let mut order: Vec<usize> = (0..lists.len()).collect();
        order.sort_by_key(|&list| Reverse(lists[list].doc_freq));
        Ok(Self {
            pruner,
            weighting,
            matched,
            query,
            of_token,
            order,
            lists,
            aside: Vec::new(),
            searched: Vec::new(),
            candidates: Vec::new(),
            sums: [0.0; WINDOW],
            best: BestHits::new(limit, matched.len()),
        })
    }

    /// Searches a window.
    fn window(&mut self, window: usize) {
        let rest = self.set_aside(window);
        let first = (window * WINDOW) as u32;
        let mut postings = 0;
        for position in 0..self.searched.len() {
            let list = self.searched[position];
            self.lists[list].take_window(first);
            self.add(list, first);
            postings += self.lists[list].documents.len();
        }
        if postings == 0 {
            return;
        }
        self.find_candidates(first, postings, rest);
        while let Some((list, rest)) = self.aside.pop()
            && !self.candidates.is_empty()
        {
            self.lists[list].take(first, &self.candidates);
            self.add(list, first);
            let sums = &self.sums;
            let needed = self.best.needed(rest);
            self.candidates.retain(|&at| sums[usize::from(at)] >= needed);
        }
        for position in 0..self.candidates.len() {
            let at = self.candidates[position];
            // The worst of the best hits may have risen since.
            if self.sums[usize::from(at)] >= self.best.needed {
                self.score(first + u32::from(at));
            }
        }
        self.sums.fill(0.0);
    }

    /// Chooses the lists that are searched in a window and those that are set aside. Returns the
    /// sum of the bounds of the latter.
    fn set_aside(&mut self, window: usize) -> f64 {
        self.aside.clear();
        self.searched.clear();
        let mut rest = 0.0;
        for &list in &self.order {
            let bound = self.lists[list].bound(window);
            self.lists[list].clear();
            if rest + bound < self.best.least {
                self.aside.push((list, rest));
                rest += bound;
            } else if bound > 0.0 {
                self.searched.push(list);
            }
        }
        rest
    }

    /// Adds upper bounds of the contributions of a list's postings that were taken.
    fn add(&mut self, list: usize, first: u32) {
        let List { documents, counts, factor, places, .. } = &mut self.lists[list];
        let factor = (*factor as f32).next_up();
        let classes = &self.pruner.classes[first as usize..][..WINDOW];
        for (place, (&document, &count)) in documents.iter().zip(&*counts).enumerate() {
            let at = (document - first) as usize % WINDOW;
            self.sums[at] += factor * self.pruner.saturation(count, classes[at]);
            places[at] = place as u16;
        }
    }

    /// Notes the documents of the searched lists whose sums are high enough.
    fn find_candidates(&mut self, first: u32, postings: usize, rest: f64) {
        let needed = self.best.needed(rest);
        self.candidates.clear();
        if postings < WINDOW / 16 {
            for &list in &self.searched {
                let found = self.lists[list].documents.iter().map(|&found| (found - first) as u16);
                self.candidates.extend(found.filter(|&at| self.sums[usize::from(at)] >= needed));
            }
            if self.searched.len() > 1 {
                self.candidates.sort_unstable();
                self.candidates.dedup();
            }
            return;
        }
        // Several sums at once: a branch for each would take longer.
        for (part, sums) in self.sums.chunks_exact(PART).enumerate() {
            if sums.iter().copied().fold(0.0, f32::max) >= needed {
                let high = (0..PART).filter(|&at| sums[at] >= needed);
                self.candidates.extend(high.map(|at| (part * PART + at) as u16));
            }
        }
    }

    /// Scores a document as the exhaustive search does: by adding the contributions of the tokens
    /// in their order.
    fn score(&mut self, document: u32) {
        let Self { pruner, weighting, lists, .. } = self;
        let norm = match &pruner.norms {
            Some(norms) => norms[usize::from(pruner.classes[document as usize])],
            None => weighting.norms[document as usize],
        };
        let mut score = 0.0;
        for (token, &list) in self.matched.iter().zip(&self.of_token) {
            if let Some(count) = lists[list].count(document) {
                score += weighting.contribution(token.idf, count, norm) * token.weight;
            }
        }
        // Reading the document's number takes longer. Where documents are nearly in order, this is
        // enough for most of those that tie.
        if key(score, pruner.last[document as usize / WINDOW]) < self.best.floor {
            return;
        }
        let doc = weighting.index.docs[document as usize];
        let key = key(score, doc);
        if key >= self.best.floor && self.query.admits(doc) {
            self.best.add(key);
        }
    }
}

/// The postings of a token, and those of them that were taken for the current window.
struct List {
    blocks: BlockSegmentPostings,
    doc_freq: usize,
    /// Mean number of postings in a window.
    per_window: usize,
    /// The factor of the saturation: idf and weight, as often as the request repeats the token.
    factor: f64,
    bounds: Option<Arc<[f32]>>,
    /// An upper bound of every saturation.
    most: f32,
    documents: Vec<u32>,
    counts: Vec<u32>,
    /// The place of each document of the window among those that were taken.
    places: Box<[u16; WINDOW]>,
}

impl List {
    fn new(pruner: &Pruner, weighting: &Weighting, token: &MatchedToken) -> Result<Self> {
        Ok(Self {
            blocks: weighting.blocks(token)?,
            doc_freq: token.info.doc_freq as usize,
            per_window: token.info.doc_freq as usize / pruner.windows(),
            factor: 0.0,
            bounds: pruner.bounds(weighting, token)?,
            most: pruner.most,
            documents: Vec::new(),
            counts: Vec::new(),
            places: Box::new([0; WINDOW]),
        })
    }

    /// An upper bound of the contribution in a window; 0 if no document has the token.
    fn bound(&self, window: usize) -> f64 {
        let saturation = match &self.bounds {
            Some(bounds) => bounds[window],
            None if self.may_have(window) => self.most,
            None => 0.0,
        };
        f64::from(saturation) * self.factor
    }

    /// False if the current block shows that no document of the window has the token.
    fn may_have(&self, window: usize) -> bool {
        let first = window * WINDOW;
        let end = first + WINDOW;
        let documents = self.blocks.docs();
        let next = documents.partition_point(|&document| (document as usize) < first);
        documents.get(next).map_or(!documents.is_empty(), |&next| (next as usize) < end)
    }

    fn clear(&mut self) {
        self.documents.clear();
        self.counts.clear();
    }

    /// Takes the postings of the window that begins at `first`.
    fn take_window(&mut self, first: u32) {
        let end = first.saturating_add(WINDOW as u32);
        let mut from = self.blocks.seek(first);
        while !self.blocks.docs().is_empty() {
            let documents = &self.blocks.docs()[from..];
            let count = documents.partition_point(|&document| document < end);
            self.documents.extend_from_slice(&documents[..count]);
            self.counts.extend_from_slice(&self.blocks.freqs()[from..][..count]);
            if count < documents.len() {
                break;
            }
            self.blocks.advance();
            from = 0;
        }
    }

    /// Takes at least the postings of the candidates in the window that begins at `first`.
    fn take(&mut self, first: u32, candidates: &[u16]) {
        // Looking up a document takes about as long as taking 16 postings.
        if candidates.len() * 16 > self.per_window {
            return self.take_window(first);
        }
        for &at in candidates {
            let document = first + u32::from(at);
            let from = self.blocks.seek(document);
            if self.blocks.docs().get(from) == Some(&document) {
                self.documents.push(document);
                self.counts.push(self.blocks.freq(from));
            }
        }
    }

    /// The count of the token in a document, if its posting was taken.
    fn count(&self, document: u32) -> Option<u32> {
        let place = usize::from(self.places[document as usize % WINDOW]);
        (*self.documents.get(place)? == document).then(|| self.counts[place])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_are_exact_if_there_are_enough_of_them() {
        for lengths in [0..300, 0..100_000, 5..15, 7..8] {
            let lengths: Vec<u32> = lengths.collect();
            let (starts, exact) = classes(&lengths);
            assert!(starts.len() <= CLASSES && starts.len() > lengths.len().min(CLASSES) / 2);
            assert_eq!(exact, starts == lengths);
            assert!(starts.is_sorted() && starts[0] == lengths[0]);
        }
    }
}
