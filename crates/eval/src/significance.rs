//! Paired significance tests over the same topics, and Holm's correction for several comparisons.
//!
//! Sources: the choice of tests follows Smucker, Allan & Carterette, *A comparison of statistical
//! significance tests for information retrieval evaluation*, CIKM 2007: the randomisation test
//! needs no assumption on how differences are distributed, Student's t agrees with it closely, and
//! both are far better than the sign and Wilcoxon tests. The estimate (b + 1) / (m + 1) is that of
//! Davison & Hinkley, *Bootstrap methods and their application*, 1997, section 4.2; it is never 0.
//! The correction is Holm, *A simple sequentially rejective multiple test procedure*, Scandinavian
//! Journal of Statistics 6, 1979.

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use serde::Serialize;
use statrs::function::beta::beta_reg;

/// The usual rounds of the randomisation test: they settle p = 0.05 to ± 0.0014.
pub const ROUNDS: u32 = 100_000;

/// Up to this number of differing topics the randomisation test goes through all 2ⁿ sign patterns.
const EXACT_UP_TO: usize = 16;

/// Figures that differ by less than this share of their size only differ by rounding.
const ROUNDING: f64 = 1e-12;

/// A run against a baseline, over the same topics; differences are run − baseline.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct PairedTest {
    /// d̄, the mean difference; positive where the run is better.
    pub mean_difference: f64,
    /// Topics on which the run is better.
    pub wins: usize,
    /// Topics on which both have the same figure.
    pub ties: usize,
    /// Topics on which the baseline is better.
    pub losses: usize,
    /// Student's t = d̄ / (s / √n), with s the standard deviation of the differences (n − 1 in the
    /// denominator). 0 where no topic differs, infinite where all differ by the same, NaN for one
    /// topic that differs.
    pub t: f64,
    /// Two-sided p of t with n − 1 degrees of freedom, from 0 to 1; 1 where t is NaN.
    pub t_p: f64,
    /// Two-sided p of the randomisation test, above 0 and up to 1: the share of sign patterns of
    /// the differences whose mean is at least as far from 0 as the observed one.
    pub randomisation_p: f64,
    /// Cohen's d of the differences, `d_z` = d̄ / s; not finite where t is not.
    pub effect_size: f64,
}

/// Compares the figures of a run with those of a baseline, topic by topic.
///
/// The randomisation test is exact where at most 16 topics differ; else it draws `rounds` sign
/// patterns from `seed`. The same arguments give the same result on every machine.
///
/// # Panics
///
/// If the two do not have the same number of topics.
pub fn paired_test(run: &[f64], baseline: &[f64], rounds: u32, seed: u64) -> PairedTest {
    assert_eq!(run.len(), baseline.len(), "paired figures are of the same topics");
    let differences: Vec<f64> =
        run.iter().zip(baseline).map(|(&run, &baseline)| difference(run, baseline)).collect();
    let (t, effect_size, mean_difference) = student(&differences);
    let wins = differences.iter().filter(|&&difference| difference > 0.0).count();
    let losses = differences.iter().filter(|&&difference| difference < 0.0).count();
    PairedTest {
        mean_difference,
        wins,
        ties: differences.len() - wins - losses,
        losses,
        t,
        t_p: two_sided(t, differences.len()),
        randomisation_p: randomisation(&differences, rounds, seed),
        effect_size,
    }
}

/// Holm's step-down correction: the smallest of m p-values times m, the next times m − 1 and so on,
/// never below the one before and at most 1. A comparison whose corrected p is at most α is
/// significant; the chance of any false one among them is then at most α, however the comparisons
/// depend on each other. The order of the values is kept.
pub fn holm(p: &[f64]) -> Vec<f64> {
    let mut order: Vec<usize> = (0..p.len()).collect();
    order.sort_by(|&a, &b| p[a].total_cmp(&p[b]));
    let mut corrected = vec![0.0; p.len()];
    let mut largest = 0.0_f64;
    for (step, &index) in order.iter().enumerate() {
        largest = largest.max(p[index] * (p.len() - step) as f64).min(1.0);
        corrected[index] = largest;
    }
    corrected
}

/// The difference; 0 if it is only rounding.
fn difference(run: f64, baseline: f64) -> f64 {
    let difference = run - baseline;
    if difference.abs() <= ROUNDING * run.abs().max(baseline.abs()) { 0.0 } else { difference }
}

/// t, `d_z` and the mean of the differences.
fn student(differences: &[f64]) -> (f64, f64, f64) {
    let count = differences.len() as f64;
    if differences.iter().all(|&difference| difference == 0.0) {
        return (0.0, 0.0, 0.0);
    }
    let mean = differences.iter().sum::<f64>() / count;
    let squares: f64 = differences.iter().map(|difference| (difference - mean).powi(2)).sum();
    let deviation = (squares / (count - 1.0)).sqrt();
    let deviation = if deviation <= ROUNDING * mean.abs() { 0.0 } else { deviation };
    let effect = mean / deviation;
    (effect * count.sqrt(), effect, mean)
}

/// P(|T| ≥ |t|) = I(ν / (ν + t²); ν/2, 1/2), with ν = n − 1 and I the regularised beta function.
fn two_sided(t: f64, topics: usize) -> f64 {
    if t.is_nan() || topics < 2 {
        return 1.0;
    }
    let freedom = (topics - 1) as f64;
    beta_reg(freedom / 2.0, 0.5, freedom / (freedom + t * t)).clamp(0.0, 1.0)
}

fn randomisation(differences: &[f64], rounds: u32, seed: u64) -> f64 {
    // A difference of 0 has no sign: leaving these out does not change p.
    let differences: Vec<f64> =
        differences.iter().copied().filter(|&difference| difference != 0.0).collect();
    if differences.len() <= EXACT_UP_TO {
        exact(&differences)
    } else {
        sampled(&differences, rounds, seed)
    }
}

/// All sign patterns; the observed one is among them.
fn exact(differences: &[f64]) -> f64 {
    let threshold = threshold(differences);
    let patterns = 1_u64 << differences.len();
    let extreme =
        (0..patterns).filter(|&signs| flipped_sum(differences, [signs]).abs() >= threshold).count();
    extreme as f64 / patterns as f64
}

/// Random sign patterns. They come from one generator, in an order that does not depend on threads.
fn sampled(differences: &[f64], rounds: u32, seed: u64) -> f64 {
    let mut bytes = [0; 32];
    bytes[..8].copy_from_slice(&seed.to_le_bytes());
    let mut random = ChaCha8Rng::from_seed(bytes);
    let threshold = threshold(differences);
    let extreme = (0..rounds)
        .filter(|_| {
            flipped_sum(differences, std::iter::repeat_with(|| random.next_u64())).abs()
                >= threshold
        })
        .count();
    (extreme as f64 + 1.0) / (f64::from(rounds) + 1.0)
}

/// The least sum that counts as extreme: sums that should be equal may differ by rounding.
fn threshold(differences: &[f64]) -> f64 {
    let size: f64 = differences.iter().map(|difference| difference.abs()).sum();
    differences.iter().sum::<f64>().abs() - ROUNDING * size
}

/// The sum with the signs of some differences flipped: those whose bit is set.
fn flipped_sum(differences: &[f64], signs: impl IntoIterator<Item = u64>) -> f64 {
    let mut sum = 0.0;
    for (differences, signs) in differences.chunks(64).zip(signs) {
        for (index, difference) in differences.iter().enumerate() {
            sum += f64::from_bits(difference.to_bits() ^ (signs >> index << 63));
        }
    }
    sum
}

#[cfg(test)]
mod tests;
