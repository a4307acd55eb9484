//! Rankings, and the one order of the project: score descending, equal scores by descending id.

use crate::document::Doc;
use std::cmp::Ordering;

/// A document and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The document.
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

/// Orders documents by their scores and keeps the best `depth`.
pub fn rank_by_score(docs: &[Doc], scores: impl Iterator<Item = f32>, depth: usize) -> Ranking {
    let hit = |(&doc, score): (&Doc, f32)| Hit { doc, score: f64::from(score) };
    let mut ranking: Ranking = docs.iter().zip(scores).map(hit).collect();
    if depth < ranking.len() {
        ranking.select_nth_unstable_by(depth, best_first);
        // A copy, so that a block of rankings does not hold room for all documents in each.
        ranking = ranking[..depth].to_vec();
    }
    ranking.sort_unstable_by(best_first);
    ranking
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
}
