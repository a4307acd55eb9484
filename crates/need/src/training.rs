//! Labelled topics with their features, and models trained on them.

use crate::classifier::{Classifier, ModelOrigin, clariq_needs};
use crate::config::NeedConfig;
use crate::features::{Extractor, Features};
use crate::model::NeedModel;
use clariq_collections::documents::Bank;
use clariq_collections::{LabelledRequests, NeedLabel};
use clariq_core::{Checksum, Documents, Result, bail};
use std::collections::BTreeSet;

/// The most labels that a model tells apart: more are rather answers than needs.
const MOST_CLASSES: usize = 50;

/// Requests with labels, and their features.
pub struct NeedTraining {
    extractor: Extractor,
    made_of: ModelOrigin,
    pub(crate) features: Features,
    /// The label of each request, as its place in [`Self::classes`].
    pub labels: Vec<usize>,
}

impl NeedTraining {
    /// Makes the features of labelled requests.
    ///
    /// # Errors
    ///
    /// No label, or only one for a model that needs two different ones; names that a need file cannot
    /// hold, or too many of them.
    pub fn new(config: NeedConfig, bank: &Bank, train: &LabelledRequests) -> Result<Self> {
        if train.requests.is_empty() {
            let hint = "a need model is trained on requests with labels: those of ClariQ's train.tsv, \
                        or with a key `need` in a file of your own";
            bail!(&train.name, "requests with a clarification need", "none", hint);
        }
        let classes = classes_of(train)?;
        let requests: Vec<&str> = train.requests.iter().map(|request| &*request.text).collect();
        let needs = train.requests.iter().map(|request| &request.need);
        let labels: Vec<usize> =
            needs.clone().filter_map(|need| classes.iter().position(|it| it == need)).collect();
        check_labels(&config, &labels, &classes, &train.name)?;
        let extractor = Extractor::new(&config, bank);
        let lines = needs.zip(&requests).map(|(need, request)| format!("{need}\t{request}\n"));
        let made_of = ModelOrigin {
            clariq: env!("CARGO_PKG_VERSION").to_owned(),
            features: config.feature_names(),
            config,
            classes,
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

    /// The labels that the model tells apart, in order.
    pub fn classes(&self) -> &[NeedLabel] {
        &self.made_of.classes
    }

    pub(crate) fn fit_rows(&self, rows: &[usize]) -> Result<NeedModel> {
        let labels: Vec<usize> = rows.iter().map(|&row| self.labels[row]).collect();
        check_labels(self.config(), &labels, self.classes(), "training topics")?;
        let classes = self.classes().len();
        NeedModel::fit(self.config(), &self.features, &self.labels, classes, rows)
    }

    /// Trains on all topics.
    pub fn fit(self) -> Result<Classifier> {
        let rows: Vec<usize> = (0..self.labels.len()).collect();
        let model = self.fit_rows(&rows)?;
        Ok(Classifier { made_of: self.made_of, model, extractor: self.extractor })
    }
}

/// Refuses labels that are all the same, unless the model is the majority. `name` is their source.
fn check_labels(
    config: &NeedConfig,
    labels: &[usize],
    classes: &[NeedLabel],
    name: &str,
) -> Result<()> {
    let is_majority = matches!(config, NeedConfig::Majority { .. });
    let [first, rest @ ..] = labels else { return Ok(()) };
    if is_majority || rest.iter().any(|label| label != first) {
        return Ok(());
    }
    let expected = "training topics with at least two different labels";
    let hint = "label more topics, or use model = \"majority\", which needs one label only";
    let label = &classes[*first];
    bail!(name, expected, "the label {label} on all of them", hint)
}

/// The labels of requests, in order: ClariQ's needs from 1 to 4 if all labels are among them.
fn classes_of(train: &LabelledRequests) -> Result<Vec<NeedLabel>> {
    let distinct: BTreeSet<&NeedLabel> = train.requests.iter().map(|it| &it.need).collect();
    let needs = clariq_needs();
    if distinct.iter().all(|label| needs.contains(label)) {
        return Ok(needs);
    }
    let hint = "the label is the key `need` of a request";
    for label in &distinct {
        if let NeedLabel::Name(name) = label
            && (name.is_empty() || name.contains(char::is_whitespace))
        {
            let expected = "names of needs without white space, since a need file has two fields";
            bail!(&train.name, expected, "`{label}`", hint);
        }
    }
    if distinct.len() > MOST_CLASSES {
        let expected = format!("at most {MOST_CLASSES} different needs");
        bail!(&train.name, expected, (distinct.len().to_string()), hint);
    }
    Ok(distinct.into_iter().cloned().collect())
}
