//! Repeated stratified cross-validation.

use crate::model::Prediction;
use crate::training::NeedTraining;
use clariq_core::{Result, bail};
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};
use rayon::prelude::*;

/// The folds of [`NeedTraining::held_out`].
pub const HELD_OUT_FOLDS: usize = 10;

/// The most repeats: with 1,000, the error of a mean is 3 % of the deviation of one repeat.
pub const MOST_REPEATS: usize = 1000;

/// A pass over all topics.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    /// The fold of each topic.
    pub folds: Vec<usize>,
    /// The prediction for each topic, by a model that was trained on all other folds.
    pub predictions: Vec<Prediction>,
}

impl NeedTraining {
    /// Trains on all folds but one and predicts that one, for every fold; `repeats` times, each
    /// with other folds, over which the topics of each label are spread evenly.
    ///
    /// # Errors
    ///
    /// Fewer than two folds, more folds than topics, no repeat or more than [`MOST_REPEATS`]; a fold
    /// without training data.
    pub fn cross_validate(&self, folds: usize, repeats: usize, seed: u64) -> Result<Vec<Repeat>> {
        check_size("folds", folds, 2, self.labels.len(), "5 and 10 folds are usual")?;
        check_size("repeats", repeats, 1, MOST_REPEATS, "10 to 100 repeats are usual")?;
        let pass = |repeat: u64| self.pass(folds, seed.wrapping_add(repeat));
        (0..repeats as u64).into_par_iter().map(pass).collect()
    }

    /// Predicts every topic by a model that was trained on other topics, to use the predictions
    /// instead of labels.
    pub fn held_out(&self, seed: u64) -> Result<Vec<Prediction>> {
        Ok(self.pass(HELD_OUT_FOLDS, seed)?.predictions)
    }

    fn pass(&self, folds: usize, seed: u64) -> Result<Repeat> {
        let folds_of = stratify(&self.labels, self.classes().len(), folds, seed);
        let mut predictions: Vec<Option<Prediction>> = vec![None; self.labels.len()];
        for fold in 0..folds {
            let (held_out, rows): (Vec<_>, Vec<_>) =
                (0..self.labels.len()).partition(|&row| folds_of[row] == fold);
            if held_out.is_empty() {
                continue;
            }
            let all = self.fit_rows(&rows)?.predict(&self.features);
            for row in held_out {
                predictions[row] = Some(all[row].clone());
            }
        }
        Ok(Repeat { folds: folds_of, predictions: predictions.into_iter().flatten().collect() })
    }
}

fn check_size(what: &str, size: usize, least: usize, most: usize, hint: &str) -> Result<()> {
    if !(least..=most).contains(&size) {
        bail!((format!("--{what}")), "from {least} to {most} {what}", "{size}", hint);
    }
    Ok(())
}

/// A fold for every topic. The topics of each label are dealt out, starting after the last fold of the
/// previous label.
fn stratify(labels: &[usize], classes: usize, folds: usize, seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut folds_of = vec![0; labels.len()];
    let mut next = 0;
    for class in 0..classes {
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == class).collect();
        // The Fisher-Yates shuffle; probabilities of indices differ by at most 1 in 2³².
        for last in (1..rows.len()).rev() {
            let drawn = (u64::from(random.next_u32()) * (last as u64 + 1)) >> 32;
            rows.swap(last, drawn as usize);
        }
        for row in rows {
            folds_of[row] = next % folds;
            next += 1;
        }
    }
    folds_of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_even_and_labels_are_spread() {
        let labels: Vec<usize> = (0..40).map(|row| usize::from(row % 8 > 0)).collect();
        let folds = stratify(&labels, 4, 5, 1);
        for fold in 0..5 {
            let inside: Vec<usize> = (0..40).filter(|&row| folds[row] == fold).collect();
            assert_eq!(inside.len(), 8);
            assert_eq!(inside.iter().filter(|&&row| labels[row] == 0).count(), 1);
        }
        assert_eq!(folds, stratify(&labels, 4, 5, 1));
        assert_ne!(folds, stratify(&labels, 4, 5, 2));
    }
}
