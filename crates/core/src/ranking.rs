//! Rankings in one order, score descending and equal scores by descending id; and explanations.

use crate::document::Doc;
use crate::printable::fixed;
use serde::Serialize;
use std::cmp::Ordering;
use std::fmt;

/// A document and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The document by its number, which also orders equal scores.
    pub doc: Doc,
    /// Its score; higher is better.
    pub score: f64,
}

/// The documents found for one request, best first.
pub type Ranking = Vec<Hit>;

/// The order of every ranking. No two hits of a ranking are equal under it.
pub fn best_first(a: &Hit, b: &Hit) -> Ordering {
    b.score.total_cmp(&a.score).then(b.doc.cmp(&a.doc))
}

/// The best of the documents that were scored so far.
#[derive(Debug, Clone)]
pub struct Best {
    depth: usize,
    /// The best, and others that are not yet dropped.
    hits: Ranking,
    /// The worst of the best hits at the last drop: no worse hit can be among the best.
    last: Option<Hit>,
}

impl Best {
    /// Keeps the best `depth`.
    pub fn new(depth: usize) -> Self {
        Self { depth, hits: Ranking::new(), last: None }
    }

    /// Takes documents with their scores.
    pub fn add(&mut self, docs: &[Doc], scores: impl Iterator<Item = f32>) {
        let hit = |(&doc, score): (&Doc, f32)| Hit { doc, score: f64::from(score) };
        self.extend(docs.iter().zip(scores).map(hit));
    }

    fn drop_others(&mut self) {
        if self.depth < self.hits.len() {
            self.hits.select_nth_unstable_by(self.depth, best_first);
            self.hits.truncate(self.depth);
            self.last = self.hits.iter().copied().max_by(best_first);
        }
    }

    /// A hit that every further one must be better than.
    pub fn last(&self) -> Option<Hit> {
        self.last
    }

    /// The best so far, in no order.
    pub fn hits(&mut self) -> &[Hit] {
        self.drop_others();
        &self.hits
    }

    /// The best, in order.
    pub fn ranking(mut self) -> Ranking {
        self.drop_others();
        self.hits.sort_unstable_by(best_first);
        self.hits.shrink_to_fit();
        self.hits
    }
}

impl Extend<Hit> for Best {
    fn extend<I: IntoIterator<Item = Hit>>(&mut self, hits: I) {
        let hits = hits.into_iter();
        // Dropping takes time proportional to the hits, so that about as many are dropped as kept.
        let most = self.depth.saturating_add(self.depth.max(64));
        self.hits.reserve(hits.size_hint().0.min(most - self.hits.len()));
        for hit in hits {
            if self.last.is_none_or(|last| best_first(&hit, &last) == Ordering::Less) {
                self.hits.push(hit);
                if self.hits.len() == most {
                    self.drop_others();
                }
            }
        }
    }
}

/// Orders documents by their scores and keeps the best `depth`.
pub fn rank_by_score(docs: &[Doc], scores: impl Iterator<Item = f32>, depth: usize) -> Ranking {
    let mut best = Best::new(depth);
    best.add(docs, scores);
    best.ranking()
}

/// The derivation of a score: a value, and the values that it was computed from.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Explanation {
    /// The score, or a quantity that a score was computed from.
    pub value: f64,
    /// A description, with the formula if there is one.
    pub what: String,
    /// The values that went into it.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Explanation>,
}

impl Explanation {
    /// A value made of nothing else.
    pub fn value(value: f64, what: impl Into<String>) -> Self {
        Self { value, what: what.into(), parts: Vec::new() }
    }

    /// A value made of others.
    pub fn of(value: f64, what: impl Into<String>, parts: Vec<Self>) -> Self {
        Self { value, what: what.into(), parts }
    }

    /// The sum of others.
    pub fn sum(what: impl Into<String>, parts: Vec<Self>) -> Self {
        Self::of(parts.iter().map(|part| part.value).sum(), what, parts)
    }

    /// A copy with at most this number of levels below it.
    #[must_use]
    pub fn cut(&self, levels: usize) -> Self {
        let below = levels.checked_sub(1);
        let parts = below.map(|below| self.parts.iter().map(|part| part.cut(below)).collect());
        Self { value: self.value, what: self.what.clone(), parts: parts.unwrap_or_default() }
    }

    fn write(&self, f: &mut fmt::Formatter<'_>, depth: usize) -> fmt::Result {
        // Counts as counts: `4` and not `4.000000`.
        let digits = if self.value.fract() == 0.0 && self.value != 0.0 { 0 } else { 6 };
        let value = fixed(self.value, digits);
        writeln!(f, "{:indent$}{value:<10} {}", "", self.what, indent = depth * 2)?;
        self.parts.iter().try_for_each(|part| part.write(f, depth + 1))
    }
}

impl fmt::Display for Explanation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.write(f, 0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn equal_scores_are_ordered_by_descending_number() {
        let docs = [Doc(0), Doc(1), Doc(2), Doc(3)];
        let numbers = |depth| -> Vec<u32> {
            let ranking = rank_by_score(&docs, [1.0, 2.0, 1.0, 1.0].into_iter(), depth);
            ranking.iter().map(|hit| hit.doc.0).collect()
        };
        assert_eq!(numbers(9), [1, 3, 2, 0]);
        assert_eq!(numbers(2), [1, 3]);
        assert_eq!(numbers(0), [] as [u32; 0]);
    }
    #[test]
    fn the_best_are_those_of_sorting_everything() {
        for (count, kinds) in [(0, 1), (63, 20), (64, 3), (1000, 20), (1000, 999)] {
            let score = |doc: u32| f64::from(doc * 7919 % kinds);
            let hits = (0..count).map(|doc| Hit { doc: Doc(doc), score: score(doc) });
            let mut sorted: Ranking = hits.clone().collect();
            sorted.sort_by(best_first);
            for depth in [0, 1, 10, 64, 200, 5000] {
                let mut best = Best::new(depth);
                best.extend(hits.clone().filter(|hit| hit.doc.0 % 2 == 0));
                best.extend(hits.clone().filter(|hit| hit.doc.0 % 2 == 1));
                assert_eq!(best.ranking(), sorted[..depth.min(sorted.len())], "{count} {depth}");
            }
        }
    }
}
