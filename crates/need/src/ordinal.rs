//! What if labels are steps of one scale? Three logistic regressions, each on which side of a step a request is.
//!
//! After Frank and Hall, *A simple approach to ordinal classification*, ECML 2001: P(k) = P(> k − 1) − P(> k).

use crate::error::Error;
use crate::features::{Block, Features};
use crate::linear::{Standard, Weighted, Weights, fit_two_sides, standardise};
use crate::model::{Contribution, NeedModel, Prediction, decide};
use clariq_core::Need;
use serde::{Deserialize, Serialize};

/// What is known of P(> k).
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Step {
    /// No training topic is above.
    Never,
    /// All training topics are above.
    Always,
    /// A regression.
    Fitted(Weights),
}

/// A regression per step of the scale.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Ordinal {
    c: f64,
    standard: Standard,
    steps: [Step; 3],
}

impl Ordinal {
    /// Fits the rows of `features` that are named.
    pub fn fit(
        blocks: &Weighted,
        c: f64,
        features: &Features,
        labels: &[Need],
        rows: &[usize],
    ) -> Result<Self, Error> {
        let standard = standardise(blocks, features, rows);
        let mut steps = [Step::Never, Step::Never, Step::Never];
        for (step, below) in steps.iter_mut().zip(1..) {
            let above: Vec<bool> = rows.iter().map(|&row| labels[row].get() > below).collect();
            *step = match (above.contains(&true), above.contains(&false)) {
                (false, _) => Step::Never,
                (true, false) => Step::Always,
                (true, true) => Step::Fitted(fit_two_sides(&standard, c, features, rows, &above)?),
            };
        }
        Ok(Self { c, standard, steps })
    }

    fn predict_row(&self, features: &Features, row: usize) -> Prediction {
        let columns = self.standard.row(features, row);
        let above = |step: &Step| match step {
            Step::Never => 0.0,
            Step::Always => 1.0,
            Step::Fitted(weights) => 1.0 / (1.0 + (-weights.of(&columns)).exp()),
        };
        let [one, two, three] = [&self.steps[0], &self.steps[1], &self.steps[2]].map(above);
        // Regressions that are fitted apart may cross.
        let differences = [1.0 - one, one - two, two - three, three].map(|p: f64| p.max(0.0));
        let total: f64 = differences.iter().sum();
        let probabilities = differences.map(|p| p / total);
        Prediction { need: decide(probabilities), probabilities }
    }
}

impl NeedModel for Ordinal {
    fn name(&self) -> &'static str {
        "ordinal"
    }

    fn blocks(&self) -> Vec<Block> {
        self.standard.blocks().collect()
    }

    fn is_consistent(&self) -> bool {
        self.steps
            .iter()
            .all(|step| !matches!(step, Step::Fitted(weights) if !self.standard.fits(weights)))
    }

    fn predict(&self, features: &Features) -> Result<Vec<Prediction>, Error> {
        Ok((0..features.len()).map(|row| self.predict_row(features, row)).collect())
    }

    /// How much a feature moves a request up the scale, as the mean over the steps.
    fn contributions(&self, features: &Features, row: usize, _need: Need) -> Vec<Contribution> {
        let columns = self.standard.row(features, row);
        let weight = |place: usize| {
            let fitted = self
                .steps
                .iter()
                .map(|step| if let Step::Fitted(of) = step { of.columns[place] } else { 0.0 });
            fitted.sum::<f64>() / self.steps.len() as f64
        };
        let named = self.standard.named(features, row).into_iter().enumerate();
        named
            .map(|(place, (feature, value))| Contribution {
                feature,
                value,
                share: weight(place) * columns[place],
            })
            .collect()
    }
}
