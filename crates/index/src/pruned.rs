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
mod list;
mod search;

use crate::model::WeightingModel;
use crate::weighting::{MatchedToken, Query, Weighting};
use clariq_core::{Doc, Ranking, Result};
use parking_lot::Mutex;
use search::PrunedSearch;
use std::collections::HashMap;
use std::mem;
use std::ops::Range;
use std::sync::Arc;

/// Number of documents of a window.
const WINDOW: usize = if cfg!(test) { 32 } else { 4096 };

/// Number of classes of lengths; a class is a byte.
const CLASSES: usize = if cfg!(test) { 16 } else { 256 };

/// Number of counts of a token that are distinguished; the last stands for all higher ones.
const COUNTS: usize = 16;

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
        // A contribution of query likelihood is not the product of a weight and a saturation.
        let WeightingModel::Bm25(model) = &weighting.model else { return None };
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
        let key = token.info.postings_range.start;
        if let Some(bounds) = self.bounds.lock().get(&key) {
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
        let mut kept = self.bounds.lock();
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
            let search = PrunedSearch::new(self, weighting, matched, query, limit)?;
            if let Some(hits) = search.run(uses_expectations) {
                return Ok(hits);
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
            if starts.last().is_none_or(|&last| f64::from(length) >= f64::from(last) * growth) {
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
