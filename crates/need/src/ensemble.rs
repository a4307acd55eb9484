//! Which label do several regressions agree on? The mean of their probabilities, divided by a power of the prior.
//!
//! Four labels of 187 topics are not equally frequent, and the official figure weighs classes by their support: dividing by
//! the prior to the power of a quarter was best in cross-validation, class weights while fitting were worse.

use crate::error::Error;
use crate::features::{Block, Features};
use crate::linear::{Softmax, Weighted};
use crate::model::{Contribution, NeedModel, Prediction, decide, shares};
use clariq_core::Need;
use serde::{Deserialize, Serialize};

/// How an ensemble is fitted.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct EnsembleSpec {
    /// One regression each: its blocks and their weights.
    pub members: Vec<Weighted>,
    /// The inverse of the penalty on weights.
    pub c: f64,
    /// The power of the prior that probabilities are divided by: 0 is the most probable label.
    pub prior_power: f64,
}

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
    /// Fits the rows of `features` that are named.
    pub fn fit(
        spec: &EnsembleSpec,
        features: &Features,
        labels: &[Need],
        rows: &[usize],
    ) -> Result<Self, Error> {
        let member = |blocks| Softmax::fit(blocks, spec.c, features, labels, rows);
        Ok(Self {
            c: spec.c,
            prior_power: spec.prior_power,
            prior: shares(rows.iter().map(|&row| labels[row])),
            members: spec.members.iter().map(member).collect::<Result<_, _>>()?,
        })
    }

    fn predict_row(&self, features: &Features, row: usize) -> Prediction {
        let mut mean = [0.0; 4];
        for member in &self.members {
            let probabilities = member.probabilities(&member.standard.row(features, row));
            mean.iter_mut()
                .zip(probabilities)
                .for_each(|(sum, p)| *sum += p / self.members.len() as f64);
        }
        decide_by_prior(mean, &self.prior, self.prior_power)
    }
}

/// The label whose probability is highest after division by a power of the prior; one that no training topic has is never
/// given.
pub(crate) fn decide_by_prior(probabilities: [f64; 4], prior: &[f64; 4], power: f64) -> Prediction {
    let scaled = |place: usize| {
        if prior[place] > 0.0 { probabilities[place] / prior[place].powf(power) } else { 0.0 }
    };
    Prediction { need: decide(std::array::from_fn(scaled)), probabilities }
}

impl NeedModel for Ensemble {
    fn name(&self) -> &'static str {
        "ensemble"
    }

    fn blocks(&self) -> Vec<Block> {
        self.members.iter().flat_map(|member| member.standard.blocks()).collect()
    }

    fn is_consistent(&self) -> bool {
        let whole =
            |member: &Softmax| member.labels.values().all(|weights| member.standard.fits(weights));
        !self.members.is_empty()
            && self.members.iter().all(|member| !member.labels.is_empty() && whole(member))
    }

    fn predict(&self, features: &Features) -> Result<Vec<Prediction>, Error> {
        Ok((0..features.len()).map(|row| self.predict_row(features, row)).collect())
    }

    /// How much a feature moves the label's score against the mean of all labels, as the mean over the members.
    fn contributions(&self, features: &Features, row: usize, need: Need) -> Vec<Contribution> {
        let mut all: Vec<Contribution> = Vec::new();
        for member in &self.members {
            let columns = member.standard.row(features, row);
            for (place, (feature, value)) in
                member.standard.named(features, row).into_iter().enumerate()
            {
                let mean =
                    member.labels.values().map(|weights| weights.columns[place]).sum::<f64>();
                let mean = mean / member.labels.len() as f64;
                let weight =
                    member.labels.get(&need).map_or(0.0, |weights| weights.columns[place]) - mean;
                let share = weight * columns[place] / self.members.len() as f64;
                match all.iter_mut().find(|known| known.feature == feature) {
                    Some(known) => known.share += share,
                    None => all.push(Contribution { feature, value, share }),
                }
            }
        }
        all
    }
}
