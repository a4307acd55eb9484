//! Several regressions whose probabilities are averaged and divided by a power of the prior.
//!
//! The four labels are not equally frequent, and the official figure weighs classes by their
//! support. Dividing by the prior to the power of a quarter was best in cross-validation; class
//! weights while fitting were worse.

use crate::block::Block;
use crate::config::NeedConfig;
use crate::features::Features;
use crate::linear::Softmax;
use crate::prediction::{Contribution, Prediction, count_labels, shares};
use clariq_core::Error;
use clariq_core::Need;
use serde::{Deserialize, Serialize};

/// Softmax regressions whose probabilities are averaged.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ensemble {
    c: f64,
    prior_power: f64,
    /// The share of each label among the training topics.
    prior: [f64; 4],
    members: Vec<Softmax>,
}

impl Ensemble {
    /// Fits the members of `config` to the named rows of `features`.
    pub(crate) fn fit(
        config: &NeedConfig,
        features: &Features,
        labels: &[Need],
        rows: &[usize],
    ) -> Result<Self, Error> {
        let (c, prior_power) = config.parameters();
        let members = config.members();
        let fit = |member| Softmax::fit(member, c, features, labels, rows);
        Ok(Self {
            c,
            prior_power,
            prior: shares(count_labels(rows.iter().map(|&row| labels[row]))),
            members: members.iter().map(fit).collect::<Result<_, _>>()?,
        })
    }

    pub(crate) fn blocks(&self) -> Vec<Block> {
        self.members.iter().flat_map(|member| member.standard.blocks()).collect()
    }

    pub(crate) fn is_consistent(&self) -> bool {
        let is_whole = |member: &Softmax| {
            !member.labels.is_empty()
                && member.labels.values().all(|weights| member.standard.fits(weights))
        };
        !self.members.is_empty() && self.members.iter().all(is_whole)
    }

    /// The label of one row of `features`.
    pub(crate) fn predict(&self, features: &Features, row: usize) -> Prediction {
        let mut mean = [0.0; 4];
        for member in &self.members {
            let probabilities = member.probabilities(&member.standard.row(features, row));
            for (sum, probability) in mean.iter_mut().zip(probabilities) {
                *sum += probability / self.members.len() as f64;
            }
        }
        Prediction { need: self.decide(mean), probabilities: mean }
    }

    /// The label whose probability is highest after division by a power of the prior; of equal ones
    /// the lowest. A label that no training topic has is never given.
    fn decide(&self, probabilities: [f64; 4]) -> Need {
        let score = |label: usize| {
            let prior = self.prior[label];
            if prior > 0.0 { probabilities[label] / prior.powf(self.prior_power) } else { 0.0 }
        };
        let mut best = 0;
        for label in 1..4 {
            if score(label) > score(best) {
                best = label;
            }
        }
        Need::ALL[best]
    }

    /// How far each feature moves the label's score against the mean of all labels, as the mean
    /// over the members.
    pub(crate) fn contributions(
        &self,
        features: &Features,
        row: usize,
        need: Need,
    ) -> Vec<Contribution> {
        let mut all: Vec<Contribution> = Vec::new();
        for member in &self.members {
            let columns = member.standard.row(features, row);
            let named = member.standard.named(features, row);
            for (index, (feature, value)) in named.into_iter().enumerate() {
                let weight = member.weight_against_mean(need, index);
                let share = weight * columns[index] / self.members.len() as f64;
                match all.iter_mut().find(|known| known.feature == feature) {
                    Some(known) => known.share += share,
                    None => all.push(Contribution { feature, value, share }),
                }
            }
        }
        all
    }
}
