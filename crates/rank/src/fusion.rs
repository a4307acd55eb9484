//! The fusion of several rankings into one.

use clariq_core::{Doc, Hit, Ranking, best_first};
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// The default constant of reciprocal ranks, as in the paper.
pub(crate) const DEFAULT_K: u16 = 60;

/// The contribution of a ranking to the scores of its documents.
#[derive(Debug, Clone, Copy)]
pub(crate) enum Fusion {
    /// Σ weight / (k + rank): Cormack, Clarke and Büttcher, "Reciprocal Rank Fusion outperforms
    /// Condorcet and individual Rank Learning Methods", SIGIR 2009, which uses k = 60.
    ReciprocalRank { k: f64 },
    /// Σ weight × score; a document that is missing in a ranking counts 0.
    WeightedSum(Normalise),
}

/// The normalisation of the scores of a ranking before they are added.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum Normalise {
    #[default]
    None,
    /// The lowest becomes 0, the highest 1; if all are equal, 1.
    MinMax,
    /// The distance from the lowest in standard deviations: z-scores, shifted. If all are equal, 0.
    ZScore,
}

/// Fuses rankings by their reciprocal ranks, each with the same weight.
pub(crate) fn reciprocal_ranks(rankings: &[&Ranking], depth: usize) -> Ranking {
    let fusion = Fusion::ReciprocalRank { k: DEFAULT_K.into() };
    fusion.fuse(rankings, &vec![1.0; rankings.len()], depth)
}

/// The share of a document at this rank, counted from 1, in [`reciprocal_ranks`].
pub(crate) fn reciprocal_rank(rank: usize) -> f64 {
    1.0 / (f64::from(DEFAULT_K) + rank as f64)
}

impl Fusion {
    /// The contribution of each document of a ranking, before it is weighted.
    pub(crate) fn contributions(self, ranking: &Ranking) -> Vec<f64> {
        let scores = ranking.iter().map(|hit| hit.score);
        let least = scores.clone().fold(f64::INFINITY, f64::min);
        match self {
            Self::ReciprocalRank { k } => {
                (1..=ranking.len()).map(|rank| 1.0 / (k + rank as f64)).collect()
            }
            Self::WeightedSum(Normalise::None) => scores.collect(),
            Self::WeightedSum(Normalise::MinMax) => {
                let range = scores.clone().fold(f64::NEG_INFINITY, f64::max) - least;
                if range > 0.0 {
                    scores.map(|score| (score - least) / range).collect()
                } else {
                    vec![1.0; ranking.len()]
                }
            }
            Self::WeightedSum(Normalise::ZScore) => {
                let deviation = standard_deviation(scores.clone());
                if deviation > 0.0 {
                    scores.map(|score| (score - least) / deviation).collect()
                } else {
                    vec![0.0; ranking.len()]
                }
            }
        }
    }

    /// The fused ranking, with at most `depth` documents; `weights` has a weight per ranking.
    pub(crate) fn fuse(self, rankings: &[&Ranking], weights: &[f64], depth: usize) -> Ranking {
        let mut sums: HashMap<Doc, f64> = HashMap::new();
        for (ranking, weight) in rankings.iter().zip(weights) {
            for (hit, contribution) in ranking.iter().zip(self.contributions(ranking)) {
                *sums.entry(hit.doc).or_default() += weight * contribution;
            }
        }
        let mut fused: Ranking = sums.into_iter().map(|(doc, score)| Hit { doc, score }).collect();
        fused.sort_unstable_by(best_first);
        fused.truncate(depth);
        fused
    }
}

fn standard_deviation(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    (values.map(|value| (value - mean).powi(2)).sum::<f64>() / count).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ranking(hits: &[(u32, f64)]) -> Ranking {
        hits.iter().map(|&(doc, score)| Hit { doc: Doc(doc), score }).collect()
    }

    fn fuse(fusion: Fusion, a: &Ranking, b: &Ranking) -> Ranking {
        fusion.fuse(&[a, b], &[1.0, 2.0], 10)
    }

    #[test]
    fn reciprocal_rank_by_hand() {
        let (a, b) = (ranking(&[(1, 9.0), (2, 8.0)]), ranking(&[(2, 0.5)]));
        let fused = fuse(Fusion::ReciprocalRank { k: 60.0 }, &a, &b);
        assert_eq!(fused[0].doc, Doc(2));
        assert!((fused[0].score - (1.0 / 62.0 + 2.0 / 61.0)).abs() < 1e-15);
        assert!((fused[1].score - 1.0 / 61.0).abs() < 1e-15);
    }

    #[test]
    fn weighted_sum_by_hand() {
        let (a, b) = (ranking(&[(1, 9.0), (2, 8.0), (3, 7.0)]), ranking(&[(2, 5.0), (1, 5.0)]));
        let fused = fuse(Fusion::WeightedSum(Normalise::None), &a, &b);
        assert_eq!(fused, ranking(&[(1, 19.0), (2, 18.0), (3, 7.0)]));
        let fused = fuse(Fusion::WeightedSum(Normalise::MinMax), &a, &b);
        assert_eq!(fused, ranking(&[(1, 3.0), (2, 2.5), (3, 0.0)]));
    }

    #[test]
    fn z_scores_by_hand() {
        let (a, b) = (ranking(&[(1, 9.0), (2, 7.0)]), ranking(&[(2, 5.0), (3, 5.0)]));
        let fused = fuse(Fusion::WeightedSum(Normalise::ZScore), &a, &b);
        // 1 is two deviations above 2; nothing of the second ranking tells its documents apart.
        assert_eq!(fused, ranking(&[(1, 2.0), (3, 0.0), (2, 0.0)]));
    }

    #[test]
    fn ties_are_ordered_by_descending_id() {
        let (a, b) = (ranking(&[(1, 1.0), (5, 1.0), (3, 1.0)]), ranking(&[]));
        let fused = fuse(Fusion::WeightedSum(Normalise::None), &a, &b);
        assert_eq!(fused.iter().map(|hit| hit.doc.0).collect::<Vec<_>>(), [5, 3, 1]);
    }
}
