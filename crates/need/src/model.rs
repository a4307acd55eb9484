//! What is a need model? Features in, labels with probabilities out.

use crate::error::Error;
use crate::features::{Block, Features};
use clariq_core::Models;
use clariq_core::Need;

/// A label, and how probable each of the four is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Prediction {
    /// The label.
    pub need: Need,
    /// The probabilities of the labels 1 to 4; they sum to 1. The label need not be the most probable one.
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

/// What a training may use beside features and labels.
#[derive(Clone, Copy)]
pub(crate) struct Means<'m> {
    /// Who trains networks.
    pub(crate) models: &'m dyn Models,
    /// The seed of everything random.
    pub(crate) seed: u64,
    /// Whether the weights of a network are kept.
    pub(crate) keep: bool,
}

/// A trained model: one prediction per request, in the same order.
pub trait NeedModel: Send + Sync {
    /// The kind of model.
    fn name(&self) -> &'static str;

    /// The blocks of features that it looks at.
    fn blocks(&self) -> Vec<Block> {
        Vec::new()
    }

    /// Whether it has as many weights as its blocks have features: one that was read from a file may not.
    fn is_consistent(&self) -> bool {
        true
    }

    /// A label for every request.
    fn predict(&self, features: &Features) -> Result<Vec<Prediction>, Error>;

    /// What drove the score of a label; empty for models that do not look at the request.
    fn contributions(&self, _features: &Features, _row: usize, _need: Need) -> Vec<Contribution> {
        Vec::new()
    }
}

/// The label with the highest score; of equal ones the lowest.
pub(crate) fn decide(scores: [f64; 4]) -> Need {
    let best = Need::ALL
        .into_iter()
        .zip(scores)
        .reduce(|best, next| if next.1 > best.1 { next } else { best });
    best.map_or(Need::ALL[0], |(need, _)| need)
}

/// How many of the labels are 1, 2, 3 and 4.
pub(crate) fn counts(labels: impl IntoIterator<Item = Need>) -> [usize; 4] {
    let mut counts = [0; 4];
    labels.into_iter().for_each(|need| counts[usize::from(need.get()) - 1] += 1);
    counts
}

/// The share of each label.
pub(crate) fn shares(labels: impl IntoIterator<Item = Need>) -> [f64; 4] {
    let counts = counts(labels);
    let all: usize = counts.iter().sum();
    counts.map(|count| count as f64 / all.max(1) as f64)
}
