//! What does a model have to beat? The most frequent label, and labels drawn as often as they are in training.

use crate::error::Error;
use crate::features::Features;
use crate::model::{NeedModel, Prediction, counts, shares};
use crate::random::below;
use clariq_core::Need;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use serde::{Deserialize, Serialize};

/// The most frequent label of the training topics, whatever the request; of equally frequent ones the higher, because
/// asking once too often costs a user less than a wrong answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Majority {
    /// The label.
    pub label: Need,
    /// How many training topics have the labels 1, 2, 3 and 4.
    pub counts: [usize; 4],
}

impl Majority {
    /// Counts labels.
    pub fn fit(labels: impl IntoIterator<Item = Need>) -> Self {
        let counts = counts(labels);
        let most = Need::ALL.into_iter().zip(counts).max_by_key(|&(_, count)| count);
        Self { label: most.map_or(Need::ALL[3], |(label, _)| label), counts }
    }
}

impl NeedModel for Majority {
    fn name(&self) -> &'static str {
        "majority"
    }

    fn predict(&self, features: &Features) -> Result<Vec<Prediction>, Error> {
        let all: usize = self.counts.iter().sum();
        let probabilities = self.counts.map(|count| count as f64 / all.max(1) as f64);
        Ok(vec![Prediction { need: self.label, probabilities }; features.len()])
    }
}

/// A label drawn for every request, each as often as it is in training. The draw depends on the seed and the request's
/// place in the file alone.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Prior {
    /// How many training topics have the labels 1, 2, 3 and 4.
    pub counts: [usize; 4],
    /// The seed of the draw.
    pub seed: u64,
}

impl Prior {
    /// Counts labels.
    pub fn fit(labels: impl IntoIterator<Item = Need>, seed: u64) -> Self {
        Self { counts: counts(labels), seed }
    }

    fn draw(&self, random: &mut ChaCha8Rng) -> Need {
        let mut place = below(random, self.counts.iter().sum());
        for (need, count) in Need::ALL.into_iter().zip(self.counts) {
            if place < count {
                return need;
            }
            place -= count;
        }
        Need::ALL[3]
    }
}

impl NeedModel for Prior {
    fn name(&self) -> &'static str {
        "prior"
    }

    fn predict(&self, features: &Features) -> Result<Vec<Prediction>, Error> {
        let mut random = ChaCha8Rng::seed_from_u64(self.seed);
        let labels = || {
            Need::ALL
                .into_iter()
                .zip(self.counts)
                .flat_map(|(need, count)| std::iter::repeat_n(need, count))
        };
        let probabilities = shares(labels());
        Ok((0..features.len())
            .map(|_| Prediction { need: self.draw(&mut random), probabilities })
            .collect())
    }
}
