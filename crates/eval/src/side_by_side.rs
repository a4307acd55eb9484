//! The documents of one topic in several runs, beside each other.

use crate::measures::RankedRun;
use clariq_core::{DocId, RequestId};

/// A document with its rank in each run, from 1; `None` where a run does not rank it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct DocumentRanks {
    /// Its id in the runs.
    pub document: DocId,
    /// Its ranks, in the order of the runs.
    pub ranks: Vec<Option<usize>>,
}

/// The documents that are among the first `depth` of a topic in a run: those of the first run in its
/// order, then the others of the next run in its order, and so on.
pub fn side_by_side(runs: &[RankedRun], topic: &RequestId, depth: usize) -> Vec<DocumentRanks> {
    let rankings: Vec<&[DocId]> = runs.iter().map(|run| run.ranking(topic)).collect();
    let mut all: Vec<DocumentRanks> = Vec::new();
    for document in rankings.iter().flat_map(|ranking| ranking.iter().take(depth)) {
        if all.iter().any(|known| known.document == *document) {
            continue;
        }
        let rank_in = |ranking: &&[DocId]| ranking.iter().position(|other| other == document);
        let ranks = rankings.iter().map(|ranking| Some(rank_in(ranking)? + 1)).collect();
        all.push(DocumentRanks { document: document.clone(), ranks });
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::run;

    #[test]
    fn documents_of_later_runs_follow_those_of_the_first() {
        let runs = [
            RankedRun::new(&run(&[("1", "a", 3.0), ("1", "b", 2.0), ("1", "c", 1.0)])),
            RankedRun::new(&run(&[("1", "c", 9.0), ("1", "a", 8.0), ("1", "d", 7.0)])),
            RankedRun::new(&run(&[("2", "a", 1.0)])),
        ];
        let of = |topic: &str, depth| -> Vec<(String, Vec<Option<usize>>)> {
            let found = side_by_side(&runs, &topic.into(), depth);
            found.into_iter().map(|one| (one.document.to_string(), one.ranks)).collect()
        };
        let expected = [
            ("a".to_owned(), vec![Some(1), Some(2), None]),
            ("b".to_owned(), vec![Some(2), None, None]),
            ("c".to_owned(), vec![Some(3), Some(1), None]),
        ];
        assert_eq!(of("1", 2), expected);
        assert_eq!(of("2", 1), [("a".to_owned(), vec![None, None, Some(1)])]);
        assert_eq!(of("3", 1), []);
    }
}
