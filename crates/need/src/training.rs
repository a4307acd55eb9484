//! Labelled topics with their features, and models trained on them.

use crate::classifier::{Classifier, MadeOf};
use crate::config::NeedConfig;
use crate::features::{Extractor, Features};
use crate::model::Model;
use clariq_collections::clariq::{Bank, Labelled, Topic};
use clariq_core::Error;
use clariq_core::Models;
use clariq_core::{Checksum, Location, Need, Problem, ProblemKind, sha256};

/// Topics with labels, and their features.
pub struct Training {
    extractor: Extractor,
    config: NeedConfig,
    sha256: Checksum,
    bank: Checksum,
    /// The features, a row per topic.
    pub features: Features,
    /// The labels, one per row.
    pub labels: Vec<Need>,
}

impl Training {
    /// Makes the features of all topics of `train` that have a label.
    ///
    /// # Errors
    ///
    /// No label, a single label where a model has to tell labels apart, or an encoder that is not
    /// available.
    pub fn new(
        config: NeedConfig,
        bank: &Bank,
        models: &dyn Models,
        train: &Labelled,
    ) -> Result<Self, Error> {
        let labelled: Vec<(&Topic, Need)> =
            train.topics.iter().filter_map(|topic| Some((topic, topic.need?))).collect();
        let labels: Vec<Need> = labelled.iter().map(|(_, need)| *need).collect();
        if labels.is_empty() {
            let (at, expected) = (Location::file(&train.name), "topics with a clarification need");
            let problem = Problem::new(at, ProblemKind::Empty, expected, "none");
            return Err(problem.hint("a need model is trained on labelled topics").into());
        }
        check_labels(&config, &labels, &train.name)?;
        let extractor = Extractor::new(&config, bank, models)?;
        let requests: Vec<&str> =
            labelled.iter().map(|(topic, _)| topic.request.as_str()).collect();
        let features = extractor.extract(&requests)?;
        let lines: Vec<String> =
            labelled.iter().map(|(topic, need)| format!("{need}\t{}\n", topic.request)).collect();
        let sha256 = sha256(lines.iter().map(String::as_bytes));
        Ok(Self { extractor, config, sha256, bank: bank.checksum().clone(), features, labels })
    }

    /// The model that is trained.
    pub fn config(&self) -> &NeedConfig {
        &self.config
    }

    /// Trains on the named rows.
    pub(crate) fn fit_rows(&self, rows: &[usize]) -> Result<Model, Error> {
        check_labels(&self.config, rows.iter().map(|&row| &self.labels[row]), "training topics")?;
        Model::fit(&self.config, &self.features, &self.labels, rows)
    }

    /// Trains on all topics.
    ///
    /// # Errors
    ///
    /// Features that no regression can be fitted to.
    pub fn fit(self) -> Result<Classifier, Error> {
        let rows: Vec<usize> = (0..self.labels.len()).collect();
        let model = self.fit_rows(&rows)?;
        let made_of = MadeOf {
            clariq: env!("CARGO_PKG_VERSION").to_owned(),
            features: self.config.feature_names(),
            config: self.config,
            train_sha256: self.sha256,
            topics: rows.len(),
            bank_sha256: self.bank,
            encoder: self.extractor.encoder_checksum().map(str::to_owned),
        };
        Ok(Classifier { made_of, model, extractor: self.extractor })
    }
}

/// Refuses labels that there is nothing to learn from. They come from `name`.
fn check_labels<'l>(
    config: &NeedConfig,
    labels: impl IntoIterator<Item = &'l Need>,
    name: &str,
) -> Result<(), Error> {
    let mut labels = labels.into_iter();
    let Some(first) = labels.next() else { return Ok(()) };
    if matches!(config, NeedConfig::Majority { .. }) || labels.any(|label| label != first) {
        return Ok(());
    }
    let expected = "training topics with at least two different labels";
    let found = format!("the label {first} on all of them");
    Err(Problem::new(Location::file(name), ProblemKind::Model, expected, found)
        .hint("label more topics, or use model = \"majority\", which needs one label only")
        .into())
}
