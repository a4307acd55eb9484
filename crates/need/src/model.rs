//! Trained need models: features in, labels with probabilities out.

use crate::block::Block;
use crate::config::NeedConfig;
use crate::ensemble::Ensemble;
use crate::features::Features;
use crate::majority::Majority;
use crate::prediction::{Contribution, Prediction};
use clariq_core::Error;
use clariq_core::Need;
use serde::{Deserialize, Serialize};

/// A trained model of any kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Always the most frequent label.
    Majority(Majority),
    /// Softmax regressions.
    Ensemble(Ensemble),
}

impl Model {
    /// Trains on the named rows of `features`, whose labels are `labels[row]`.
    ///
    /// # Errors
    ///
    /// Features that no regression can be fitted to.
    pub(crate) fn fit(
        config: &NeedConfig,
        features: &Features,
        labels: &[Need],
        rows: &[usize],
    ) -> Result<Self, Error> {
        Ok(match config {
            NeedConfig::Majority { .. } => {
                Self::Majority(Majority::fit(rows.iter().map(|&row| labels[row])))
            }
            _ => Self::Ensemble(Ensemble::fit(config, features, labels, rows)?),
        })
    }

    /// The blocks of features that the model looks at.
    pub(crate) fn blocks(&self) -> Vec<Block> {
        match self {
            Self::Majority(_) => Vec::new(),
            Self::Ensemble(ensemble) => ensemble.blocks(),
        }
    }

    /// Whether it has as many weights as its blocks have features. A model from a file may not.
    pub(crate) fn is_consistent(&self) -> bool {
        match self {
            Self::Majority(_) => true,
            Self::Ensemble(ensemble) => ensemble.is_consistent(),
        }
    }

    /// A label for every request, in order.
    pub fn predict(&self, features: &Features) -> Vec<Prediction> {
        match self {
            Self::Majority(majority) => vec![majority.predict(); features.len()],
            Self::Ensemble(ensemble) => {
                (0..features.len()).map(|row| ensemble.predict(features, row)).collect()
            }
        }
    }

    /// What drove the score of a label; empty for a model that does not look at the request.
    pub(crate) fn contributions(
        &self,
        features: &Features,
        row: usize,
        need: Need,
    ) -> Vec<Contribution> {
        match self {
            Self::Majority(_) => Vec::new(),
            Self::Ensemble(ensemble) => ensemble.contributions(features, row, need),
        }
    }

    /// What was learned, as it is written beside a run.
    pub fn parameters(&self) -> serde_json::Value {
        let value = match self {
            Self::Majority(majority) => serde_json::to_value(majority),
            Self::Ensemble(ensemble) => serde_json::to_value(ensemble),
        };
        value.unwrap_or_default()
    }
}
