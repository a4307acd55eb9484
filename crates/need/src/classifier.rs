//! A trained model together with what makes its features.

use crate::config::NeedConfig;
use crate::features::Extractor;
use crate::model::Model;
use crate::prediction::{Contribution, Prediction};
use clariq_core::Checksum;
use clariq_core::Error;
use serde::{Deserialize, Serialize};

/// What a model was made of. A model that was made of anything else is another model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeOf {
    /// The version of the program.
    pub clariq: String,
    /// The model as the configuration declares it.
    pub config: NeedConfig,
    /// The names of the features, in order.
    pub features: Vec<String>,
    /// The checksum of the requests and labels that it was trained on.
    pub train_sha256: Checksum,
    /// How many topics that were.
    pub topics: usize,
    /// The checksum of the question bank.
    pub bank_sha256: Checksum,
    /// The checksum of the encoder, if there is one.
    pub encoder: Option<String>,
}

/// Labels requests.
pub struct Classifier {
    /// What it was made of.
    pub made_of: MadeOf,
    /// What was learned.
    pub model: Model,
    pub(crate) extractor: Extractor,
}

impl Classifier {
    /// Predicts a label for each request, in order.
    ///
    /// # Errors
    ///
    /// An encoder that fails.
    pub fn predict(&self, requests: &[&str]) -> Result<Vec<Prediction>, Error> {
        Ok(self.model.predict(&self.extractor.extract(requests)?))
    }

    /// Predicts the label of one request and lists the features that drove it, the strongest first.
    ///
    /// # Errors
    ///
    /// An encoder that fails.
    pub fn explain(&self, request: &str) -> Result<(Prediction, Vec<Contribution>), Error> {
        let features = self.extractor.extract(&[request])?;
        let prediction = self.model.predict(&features)[0];
        let mut drove = self.model.contributions(&features, 0, prediction.need);
        drove.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
        Ok((prediction, drove))
    }
}
