//! The search of one query, window by window.

use super::best_hits::{BestHits, key};
use super::list::List;
use super::{Pruner, WINDOW};
use crate::weighting::{MatchedToken, Query, Weighting};
use clariq_core::{Ranking, Result};
use std::cmp::Reverse;
use std::collections::HashMap;

/// Number of sums that are compared at once.
const PART: usize = 16;

/// A query that is ranked.
pub(super) struct PrunedSearch<'s> {
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
    pub(super) fn new(
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

    /// Searches all windows. Returns `None` if the expectations were too high, so that hits may be
    /// missing.
    pub(super) fn run(mut self, uses_expectations: bool) -> Option<Ranking> {
        let windows = self.pruner.windows();
        for window in 0..windows {
            self.window(window);
            // Rare enough to cost nothing.
            if uses_expectations && (window + 1).is_power_of_two() {
                self.best.expect(window + 1, windows);
            }
        }
        self.best.is_complete().then(|| self.best.hits())
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
