//! Trained need models: features in, labels with probabilities out.
//!
//! A model is the most frequent label, or several regressions whose probabilities are averaged and
//! divided by a power of the prior: labels are not equally frequent, and the official
//! figure weighs classes by their support. The power of a quarter was best in cross-validation;
//! class weights while fitting were worse.

use crate::config::{Block, NeedConfig};
use crate::features::Features;
use crate::linear::Softmax;
use clariq_core::Result;
use serde::{Deserialize, Serialize};
use serde_json::json;

/// A label, and the probabilities of all labels.
#[derive(Debug, Clone, PartialEq)]
pub struct Prediction {
    /// Its place among the labels of the model.
    pub label: usize,
    /// The probabilities of the labels, which sum to 1; `label` may not be the most probable.
    pub probabilities: Vec<f64>,
}

/// The influence of a feature on a label.
#[derive(Debug, Clone, PartialEq)]
pub struct Contribution {
    /// The feature's name.
    pub feature: String,
    pub value: f64,
    /// The change of the label's score.
    pub share: f64,
}

/// A trained model of any kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum NeedModel {
    /// The most frequent label of the training topics, whatever the request. Of equally frequent
    /// ones the higher: asking once too often costs a user less than a wrong answer.
    Majority {
        /// Its number, from 1.
        label: usize,
        /// The number of training topics with each label.
        counts: Vec<usize>,
    },
    /// Softmax regressions whose probabilities are averaged.
    Lexical(Regressions),
}

impl NeedModel {
    /// Trains on some rows of `features`, whose labels are `labels[row]`.
    pub(crate) fn fit(
        config: &NeedConfig,
        features: &Features,
        labels: &[usize],
        classes: usize,
        rows: &[usize],
    ) -> Result<Self> {
        let mut counts = vec![0; classes];
        for &row in rows {
            counts[labels[row]] += 1;
        }
        match *config {
            NeedConfig::Majority { .. } => {
                let label = (1..=classes).max_by_key(|label| counts[label - 1]).unwrap_or(1);
                Ok(Self::Majority { label, counts })
            }
            NeedConfig::Lexical { c, prior_power, .. } => {
                let fit = |blocks| Softmax::fit(blocks, c, features, labels, rows);
                let members = vec![fit(&[Block::Core])?, fit(&Block::ALL)?];
                Ok(Self::Lexical(Regressions { c, prior_power, prior: shares(&counts), members }))
            }
        }
    }

    fn members(&self) -> &[Softmax] {
        match self {
            Self::Majority { .. } => &[],
            Self::Lexical(regressions) => &regressions.members,
        }
    }

    /// True if it uses only `known` blocks of features and has a weight for each of their features;
    /// a model from a file may not.
    pub(crate) fn fits(&self, known: &[Block], classes: usize) -> bool {
        match self {
            Self::Majority { label, counts } => {
                counts.len() == classes && (1..=classes).contains(label)
            }
            Self::Lexical(Regressions { prior, members, .. }) => {
                prior.len() == classes
                    && !members.is_empty()
                    && members.iter().all(|member| member.fits(known, classes))
            }
        }
    }

    /// True if no score can overflow; a model from a file may hold any numbers.
    pub(crate) fn is_bounded(&self) -> bool {
        self.members().iter().all(Softmax::is_bounded)
    }

    /// A label for every request, in order.
    pub fn predict(&self, features: &Features) -> Vec<Prediction> {
        let rows = 0..features.rows;
        match self {
            Self::Majority { label, counts } => rows
                .map(|_| Prediction { label: label - 1, probabilities: shares(counts) })
                .collect(),
            Self::Lexical(regressions) => {
                rows.map(|row| regressions.predict(features, row)).collect()
            }
        }
    }

    /// The change of a label's score by each feature of a request, against the mean of all labels,
    /// as the mean over the members; empty for a model that does not look at the request.
    pub(crate) fn contributions(
        &self,
        features: &Features,
        row: usize,
        label: usize,
    ) -> Vec<Contribution> {
        let mut all: Vec<Contribution> = Vec::new();
        for member in self.members() {
            let columns = member.standard.row(features, row);
            let named = member.standard.named(features, row);
            for (index, (feature, value)) in named.into_iter().enumerate() {
                let weight = member.weight_against_mean(label, index);
                let share = weight * columns[index] / self.members().len() as f64;
                match all.iter_mut().find(|known| known.feature == feature) {
                    Some(known) => known.share += share,
                    None => all.push(Contribution { feature, value, share }),
                }
            }
        }
        all
    }

    /// The trained weights, as written to the record of a run.
    #[expect(clippy::missing_panics_doc, reason = "weights are plain data")]
    pub fn parameters(&self) -> serde_json::Value {
        match self {
            Self::Majority { label, counts } => json!({ "label": label, "counts": counts }),
            Self::Lexical(regressions) => serde_json::to_value(regressions).expect("plain data"),
        }
    }
}

/// The share of each label among all that were counted.
fn shares(counts: &[usize]) -> Vec<f64> {
    let all: usize = counts.iter().sum();
    counts.iter().map(|&count| count as f64 / all.max(1) as f64).collect()
}

/// Softmax regressions whose probabilities are averaged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Regressions {
    c: f64,
    prior_power: f64,
    /// The share of each label among the training topics.
    prior: Vec<f64>,
    members: Vec<Softmax>,
}

impl Regressions {
    pub(crate) fn predict(&self, features: &Features, row: usize) -> Prediction {
        let mut mean = vec![0.0; self.prior.len()];
        for member in &self.members {
            let row = member.standard.row(features, row);
            let probabilities = member.probabilities(&row, self.prior.len());
            for (sum, probability) in mean.iter_mut().zip(probabilities) {
                *sum += probability / self.members.len() as f64;
            }
        }
        Prediction { label: self.decide(&mean), probabilities: mean }
    }

    /// The label whose probability is highest after division by a power of the prior; of equal ones
    /// the lowest. A label that no training topic has is never given.
    fn decide(&self, probabilities: &[f64]) -> usize {
        let score = |label: usize| {
            let prior = self.prior[label];
            if prior > 0.0 { probabilities[label] / prior.powf(self.prior_power) } else { 0.0 }
        };
        let mut best = 0;
        for label in 1..probabilities.len() {
            if score(label) > score(best) {
                best = label;
            }
        }
        best
    }
}
