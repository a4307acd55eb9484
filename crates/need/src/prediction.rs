//! Labels with their probabilities, and what drove them.

use clariq_core::Need;

/// A label, and how probable each of the four is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The label.
    pub need: Need,
    /// The probabilities of the labels 1 to 4; they sum to 1. The label need not be the most
    /// probable one.
    pub probabilities: [f64; 4],
}

/// What a feature did to a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Contribution {
    /// The feature's name.
    pub feature: String,
    /// Its value.
    pub value: f64,
    /// How far it moved the label's score.
    pub share: f64,
}

/// Counts the labels 1, 2, 3 and 4.
pub(crate) fn count_labels(labels: impl IntoIterator<Item = Need>) -> [usize; 4] {
    let mut counts = [0; 4];
    labels.into_iter().for_each(|need| counts[usize::from(need.get()) - 1] += 1);
    counts
}

/// The share of each label among all that were counted.
pub(crate) fn shares(counts: [usize; 4]) -> [f64; 4] {
    let all: usize = counts.iter().sum();
    counts.map(|count| count as f64 / all.max(1) as f64)
}
