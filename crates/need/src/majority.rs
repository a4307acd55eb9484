//! The most frequent label: what every other model has to beat.

use crate::prediction::{Prediction, count_labels, shares};
use clariq_core::Need;
use serde::{Deserialize, Serialize};

/// The most frequent label of the training topics, whatever the request. Of equally frequent labels
/// the higher one: asking once too often costs a user less than a wrong answer.
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
        let counts = count_labels(labels);
        let most = Need::ALL.into_iter().zip(counts).max_by_key(|&(_, count)| count);
        Self { label: most.map_or(Need::ALL[3], |(label, _)| label), counts }
    }

    /// The same prediction for every request; its probabilities are the shares of the labels.
    pub(crate) fn predict(&self) -> Prediction {
        Prediction { need: self.label, probabilities: shares(self.counts) }
    }
}
