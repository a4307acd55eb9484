//! Labelled topics with their features, and models trained on them.

use crate::classifier::{Classifier, ModelOrigin};
use crate::config::NeedConfig;
use crate::features::{Extractor, Features};
use crate::model::NeedModel;
use clariq_collections::documents::Bank;
use clariq_core::{Checksum, Documents, Need, Result, bail};
use clariq_track_clariq::Labelled;

/// Topics with labels, and their features.
pub struct NeedTraining {
    extractor: Extractor,
    made_of: ModelOrigin,
    pub(crate) features: Features,
    /// The labels, one per topic.
    pub labels: Vec<Need>,
}

impl NeedTraining {
    /// Makes the features of all topics of `train` that have a label.
    ///
    /// # Errors
    ///
    /// No label, or only one for a model that needs two different ones.
    pub fn new(config: NeedConfig, bank: &Bank, train: &Labelled) -> Result<Self> {
        let labelled = train.topics.iter().filter_map(|topic| Some((&*topic.request, topic.need?)));
        let (requests, labels): (Vec<&str>, Vec<Need>) = labelled.unzip();
        if labels.is_empty() {
            let hint = "a need model is trained on labelled topics";
            bail!(&train.name, "topics with a clarification need", "none", hint);
        }
        check_labels(&config, &labels, &train.name)?;
        let extractor = Extractor::new(&config, bank);
        let lines =
            labels.iter().zip(&requests).map(|(need, request)| format!("{need}\t{request}\n"));
        let made_of = ModelOrigin {
            clariq: env!("CARGO_PKG_VERSION").to_owned(),
            features: config.feature_names(),
            config,
            train_sha256: Checksum::of_pieces([lines.collect::<String>().as_bytes()]),
            topics: labels.len(),
            bank_sha256: bank.checksum().clone(),
        };
        let features = extractor.extract(&requests);
        Ok(Self { extractor, made_of, features, labels })
    }

    /// The model that is trained.
    pub fn config(&self) -> &NeedConfig {
        &self.made_of.config
    }

    pub(crate) fn fit_rows(&self, rows: &[usize]) -> Result<NeedModel> {
        let labels: Vec<Need> = rows.iter().map(|&row| self.labels[row]).collect();
        check_labels(self.config(), &labels, "training topics")?;
        NeedModel::fit(self.config(), &self.features, &self.labels, rows)
    }

    /// Trains on all topics.
    pub fn fit(self) -> Result<Classifier> {
        let rows: Vec<usize> = (0..self.labels.len()).collect();
        let model = self.fit_rows(&rows)?;
        Ok(Classifier { made_of: self.made_of, model, extractor: self.extractor })
    }
}

/// Refuses labels that are all the same, unless the model is the majority. `name` is their source.
fn check_labels(config: &NeedConfig, labels: &[Need], name: &str) -> Result<()> {
    let is_majority = matches!(config, NeedConfig::Majority { .. });
    let [first, rest @ ..] = labels else { return Ok(()) };
    if is_majority || rest.iter().any(|label| label != first) {
        return Ok(());
    }
    let expected = "training topics with at least two different labels";
    let hint = "label more topics, or use model = \"majority\", which needs one label only";
    bail!(name, expected, "the label {first} on all of them", hint)
}
