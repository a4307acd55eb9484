//! Percentile bootstraps of means and of a need model's F1, and the reliability of its confidence.
//!
//! The bootstrap: Efron & Tibshirani, *An introduction to the bootstrap*, 1993, chapter 13.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

/// The samples of the bootstrap of a mean.
pub const SAMPLES: u32 = 10_000;

/// The official weighted F1 of pairs of label and prediction, as places among the labels; 0 if there
/// are none.
pub fn weighted_f1(pairs: &[(usize, usize)]) -> f64 {
    let classes =
        pairs.iter().map(|&(label, predicted)| label.max(predicted) + 1).max().unwrap_or(0);
    let mut counts = vec![vec![0_u32; classes]; classes];
    for &(label, predicted) in pairs {
        counts[label][predicted] += 1;
    }
    let mut sum = 0.0;
    for class in 0..classes {
        let support: u32 = counts[class].iter().sum();
        let predicted: u32 = counts.iter().map(|row| row[class]).sum();
        if support > 0 {
            sum += f64::from(2 * counts[class][class]) / f64::from(support + predicted)
                * f64::from(support);
        }
    }
    sum / pairs.len().max(1) as f64
}

/// The 95 % interval of the weighted F1 over `rounds` samples of the topics, drawn from `seed`.
pub fn need_interval(pairs: &[(usize, usize)], rounds: u32, seed: u64) -> (f64, f64) {
    bootstrap_interval(pairs, rounds, seed, weighted_f1)
}

/// The 95 % interval of the mean of values: percentiles of [`SAMPLES`] samples, drawn from `seed`.
pub fn mean_interval(values: &[f64], seed: u64) -> (f64, f64) {
    bootstrap_interval(values, SAMPLES, seed, |sample| {
        sample.iter().sum::<f64>() / sample.len().max(1) as f64
    })
}

/// The 95 % interval of a figure over `rounds` samples of `items`, drawn from `seed`.
fn bootstrap_interval<T: Copy>(
    items: &[T],
    rounds: u32,
    seed: u64,
    figure: impl Fn(&[T]) -> f64,
) -> (f64, f64) {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut draw = || items[((u64::from(random.next_u32()) * items.len() as u64) >> 32) as usize];
    let mut figures: Vec<f64> =
        (0..rounds).map(|_| figure(&items.iter().map(|_| draw()).collect::<Vec<_>>())).collect();
    figures.sort_by(f64::total_cmp);
    let at =
        |thousandth: usize| figures.get(figures.len() * thousandth / 1000).copied().unwrap_or(0.0);
    (at(25), at(975))
}

/// Predictions of about the same confidence.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct ReliabilityBin {
    /// The lowest confidence of this bin, inclusive.
    pub from: f64,
    /// The lowest confidence of the next bin.
    pub to: f64,
    /// The number of predictions.
    pub count: usize,
    /// Their mean confidence; 0 if there are none.
    pub confidence: f64,
    /// The share of them that is right; 0 if there are none.
    pub accuracy: f64,
}

/// The reliability curve of (confidence, right) pairs: equally wide bins from 0 to 1.
pub fn reliability(predictions: &[(f64, bool)], bins: usize) -> Vec<ReliabilityBin> {
    let bin_of =
        |confidence: f64| (1..bins).filter(|&edge| confidence >= edge as f64 / bins as f64).count();
    let bin = |bin: usize| {
        let inside: Vec<_> =
            predictions.iter().filter(|(confidence, _)| bin_of(*confidence) == bin).collect();
        let count = inside.len();
        let mean = |sum: f64| sum / count.max(1) as f64;
        ReliabilityBin {
            from: bin as f64 / bins as f64,
            to: (bin + 1) as f64 / bins as f64,
            count,
            confidence: mean(inside.iter().map(|(confidence, _)| confidence).sum()),
            accuracy: mean(inside.iter().filter(|(_, right)| *right).count() as f64),
        }
    };
    (0..bins).map(bin).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_f1_of_needs_equals_the_official_one() {
        // f1_score(average='weighted'), scikit-learn 1.7: always 2 of 1, 2, 2, 3.
        assert_eq!(weighted_f1(&[(0, 1), (1, 1), (1, 1), (2, 1)]), 1.0 / 3.0);
        assert_eq!(weighted_f1(&[]), 0.0);
    }

    #[test]
    fn intervals_contain_the_figure_and_are_reproducible() {
        let all = [(0, 0), (1, 1), (1, 2), (2, 2), (3, 3), (3, 1), (2, 0), (0, 0)];
        let (low, high) = need_interval(&all, 1000, 7);
        assert!(low < weighted_f1(&all) && weighted_f1(&all) < high);
        assert_eq!((low, high), need_interval(&all, 1000, 7));
        assert_eq!(need_interval(&[(0, 0), (1, 1)], 100, 7), (1.0, 1.0));
    }

    #[test]
    fn certain_predictions_are_in_the_last_bin() {
        let bins = reliability(&[(1.0, true), (0.9, false), (0.1, false)], 5);
        assert_eq!((bins[4].count, bins[4].accuracy, bins[0].count, bins[2].count), (2, 0.5, 1, 0));
    }
}
