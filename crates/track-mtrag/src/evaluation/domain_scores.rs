//! The scores of each domain, and their weighted mean.

use crate::domains::Domain;
use clariq_collections::evaluation::{ScoreCell, ScoreTable};
use clariq_core::Error;
use clariq_eval::{Measure, parse_measures};

/// The organisers' measures and cutoffs, and 10, the number of passages that are handed in.
pub(super) const MEASURES: [&str; 8] =
    ["nDCG@1", "nDCG@3", "nDCG@5", "nDCG@10", "R@1", "R@3", "R@5", "R@10"];

/// The name of the weighted mean, as the organisers' program writes it.
const ALL: &str = "all";

/// The names of the scores that configurations may expect: `clapnq nDCG@5`, `all R@10`.
pub(crate) fn names() -> Vec<String> {
    let parts = Domain::ALL.map(Domain::name).into_iter().chain([ALL]);
    parts.flat_map(|part| MEASURES.map(|measure| format!("{part} {measure}"))).collect()
}

/// The passages that a run ranks for a domain.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum RankedPassages {
    /// The passages of the collection.
    Collection,
    /// The passages of the references, which stand in for the collection.
    References,
    /// Passages that the folder does not have.
    Others,
    /// Passages of several kinds, in the mean of domains.
    Several,
}

impl RankedPassages {
    const fn name(self) -> &'static str {
        match self {
            Self::Collection => "collection",
            Self::References => "references",
            Self::Others => "others",
            Self::Several => "several",
        }
    }
}

/// The scores of a domain.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct DomainScores {
    /// The domain, or `all` for the weighted mean.
    pub(crate) name: &'static str,
    /// The passages that were ranked.
    pub(crate) passages: RankedPassages,
    /// The number of requests that the run answers.
    pub(crate) answered: usize,
    /// The number of them that are judged.
    pub(crate) judged: usize,
    /// The measures in the order of [`MEASURES`].
    pub(crate) values: Vec<f64>,
}

pub(super) fn measures() -> Result<Vec<Measure>, Error> {
    parse_measures(&MEASURES.join(" "))
}

/// The mean of domains, weighted by the number of requests that are answered in each.
pub(super) fn weighted_mean(domains: &[DomainScores]) -> DomainScores {
    let answered: usize = domains.iter().map(|domain| domain.answered).sum();
    let mut values = vec![0.0; MEASURES.len()];
    for domain in domains {
        for (sum, value) in values.iter_mut().zip(&domain.values) {
            *sum += value * domain.answered as f64;
        }
    }
    for sum in &mut values {
        *sum /= answered.max(1) as f64;
    }
    let judged = domains.iter().map(|domain| domain.judged).sum();
    let mut passages = domains.first().map_or(RankedPassages::Others, |domain| domain.passages);
    if domains.iter().any(|domain| domain.passages != passages) {
        passages = RankedPassages::Several;
    }
    DomainScores { name: ALL, passages, answered, judged, values }
}

/// A score rounded as Python's `round(score, 5)` does.
pub(super) fn five_digits(score: f64) -> f64 {
    format!("{score:.5}").parse().unwrap_or(score)
}

pub(super) fn table(scores: &[DomainScores]) -> ScoreTable {
    let mut header = vec!["domain", "passages", "answered", "judged"];
    header.extend(MEASURES);
    let mut rows = Vec::with_capacity(scores.len());
    for domain in scores {
        let mut row = vec![
            ScoreCell::Text(domain.name.to_owned()),
            ScoreCell::Text(domain.passages.name().to_owned()),
            ScoreCell::Count(domain.answered),
            ScoreCell::Count(domain.judged),
        ];
        row.extend(domain.values.iter().map(|value| ScoreCell::Score(*value, 5)));
        rows.push(row);
    }
    ScoreTable { name: "domains", header, rows }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn domains_count_by_the_requests_that_are_answered() {
        let domain = |name, answered, value| DomainScores {
            name,
            passages: RankedPassages::References,
            answered,
            judged: 1,
            values: vec![value; MEASURES.len()],
        };
        let all = weighted_mean(&[domain("clapnq", 3, 0.5), domain("govt", 1, 0.1)]);
        assert_eq!((all.name, all.answered, all.judged), ("all", 4, 2));
        assert_eq!(all.values, [0.4; MEASURES.len()]);
        assert_eq!(all.passages, RankedPassages::References);
    }

    #[test]
    fn scores_are_rounded_as_python_rounds() {
        // 0.000005 is above, 0.000015 below the middle in binary.
        assert_eq!(five_digits(0.000_005), 0.000_01);
        assert_eq!(five_digits(0.000_015), 0.000_02);
        assert_eq!(five_digits(2.0 / 3.0), 0.666_67);
    }
}
