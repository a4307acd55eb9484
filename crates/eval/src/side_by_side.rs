//! The documents of one topic in several runs, beside each other.

use clariq_core::DocId;

/// A document with its rank in each run, from 1; `None` where a run does not rank it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRanks {
    /// Its id in the runs.
    pub document: DocId,
    /// Its ranks, in the order of the runs.
    pub ranks: Vec<Option<usize>>,
}

/// The documents that are among the first `depth` of a ranking of a topic: those of the first ranking in its
/// order, then the others of the next in its order, and so on.
pub fn side_by_side(rankings: &[&[DocId]], depth: usize) -> Vec<DocumentRanks> {
    let mut all: Vec<DocumentRanks> = Vec::new();
    for document in rankings.iter().flat_map(|ranking| ranking.iter().take(depth)) {
        if all.iter().any(|known| known.document == *document) {
            continue;
        }
        let places = rankings.iter().map(|ranking| ranking.iter().position(|id| id == document));
        let ranks = places.map(|place| Some(place? + 1)).collect();
        all.push(DocumentRanks { document: document.clone(), ranks });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn documents_of_later_runs_follow_those_of_the_first() {
        let rankings = [["a", "b", "c"].map(DocId::from), ["c", "a", "d"].map(DocId::from)];
        let rankings = [&rankings[0][..], &rankings[1], &[]];
        let found = side_by_side(&rankings, 2);
        let found: Vec<_> =
            found.iter().map(|one| (one.document.as_str(), &one.ranks[..])).collect();
        let expected: [(&str, &[Option<usize>]); 3] = [
            ("a", &[Some(1), Some(2), None]),
            ("b", &[Some(2), None, None]),
            ("c", &[Some(3), Some(1), None]),
        ];
        assert_eq!(found, expected);
        let behind = side_by_side(&[&[], rankings[0]], 1);
        assert_eq!(behind[0].ranks, [None, Some(1)]);
        assert_eq!(side_by_side(&[&[], &[]], 1), []);
    }
}
