//! How well does a model do on topics that it was not trained on? Repeated stratified cross-validation.

use crate::classifier::Training;
use crate::error::Error;
use crate::model::Prediction;
use crate::random::shuffle;
use clariq_core::Need;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use rayon::prelude::*;

/// One pass over all topics.
#[derive(Debug, Clone, PartialEq)]
pub struct Repeat {
    /// The fold of each topic.
    pub folds: Vec<usize>,
    /// The prediction for each topic, by a model that was trained on all other folds.
    pub predictions: Vec<Prediction>,
}

/// The folds of [`Training::held_out`].
pub const HELD_OUT_FOLDS: usize = 10;

impl Training<'_> {
    /// Trains on all folds but one and predicts that one, for every fold; `repeats` times, each with other folds. The topics
    /// of each label are spread evenly over the folds. The same seed gives the same folds.
    pub fn cross_validate(
        &self,
        folds: usize,
        repeats: usize,
        seed: u64,
    ) -> Result<Vec<Repeat>, Error> {
        let pass = |repeat: u64| self.pass(folds, seed.wrapping_add(repeat));
        if self.spec().trains_alone() {
            return (0..repeats as u64).map(pass).collect();
        }
        (0..repeats as u64).into_par_iter().map(pass).collect()
    }

    /// A prediction for every topic by a model that was trained on other topics: what labels of training topics may stand for
    /// where something else looks at them.
    pub fn held_out(&self, seed: u64) -> Result<Vec<Prediction>, Error> {
        Ok(self.pass(HELD_OUT_FOLDS, seed)?.predictions)
    }

    fn pass(&self, folds: usize, seed: u64) -> Result<Repeat, Error> {
        let of = stratified(&self.labels, folds, seed);
        let mut predictions: Vec<Option<Prediction>> = vec![None; self.labels.len()];
        for fold in 0..folds {
            let (held_out, rows): (Vec<usize>, Vec<usize>) =
                (0..self.labels.len()).partition(|&row| of[row] == fold);
            if held_out.is_empty() {
                continue;
            }
            let all = self.fit_rows(&rows, seed, false)?.as_model().predict(&self.features)?;
            for row in held_out {
                predictions[row] = Some(all[row]);
            }
        }
        Ok(Repeat { folds: of, predictions: predictions.into_iter().flatten().collect() })
    }
}

/// A fold for every topic. Each label's topics are dealt out one by one, beginning where the label before ended.
fn stratified(labels: &[Need], folds: usize, seed: u64) -> Vec<usize> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut of = vec![0; labels.len()];
    let mut next = 0;
    for need in Need::ALL {
        let mut rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == need).collect();
        shuffle(&mut random, &mut rows);
        for row in rows {
            of[row] = next % folds;
            next += 1;
        }
    }
    of
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn folds_are_even_and_labels_are_spread() {
        let labels: Vec<Need> = (0..40).map(|row| Need::ALL[usize::from(row % 8 > 0)]).collect();
        let of = stratified(&labels, 5, 1);
        for fold in 0..5 {
            let inside: Vec<usize> = (0..40).filter(|&row| of[row] == fold).collect();
            assert_eq!(inside.len(), 8);
            assert_eq!(inside.iter().filter(|&&row| labels[row] == Need::ALL[0]).count(), 1);
        }
        assert_eq!(of, stratified(&labels, 5, 1));
        assert_ne!(of, stratified(&labels, 5, 2));
    }
}
