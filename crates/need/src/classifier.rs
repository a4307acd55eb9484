//! How is a request labelled? A trained model together with what makes its features.

use crate::error::Error;
use crate::features::{Block, Extractor, Features};
use crate::model::{Contribution, Means, Prediction};
use crate::spec::{Model, Spec};
use clariq_collections::clariq::{Labelled, QuestionBank, Topic};
use clariq_core::Models;
use clariq_core::{Checksum, Location, Need, Problem, ProblemKind, sha256};
use serde::{Deserialize, Serialize};

/// What a model was made of. One that was made of something else is another model.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MadeOf {
    /// The version of the program.
    pub clariq: String,
    /// The model as the configuration declares it.
    pub spec: Spec,
    /// The features, in order.
    pub features: Vec<String>,
    /// The checksum of the requests and labels that it was trained on.
    pub train_sha256: Checksum,
    /// How many topics that were.
    pub topics: usize,
    /// The checksum of the question bank.
    pub bank_sha256: Checksum,
    /// What identifies the encoder, if there is one.
    pub encoder: Option<String>,
    /// The seed of everything random.
    pub seed: u64,
}

/// Labels requests.
pub struct Classifier {
    /// What it was made of.
    pub made_of: MadeOf,
    /// What was learned.
    pub model: Model,
    pub(crate) extractor: Extractor,
}

/// Topics with labels, and their features.
pub struct Training<'m> {
    extractor: Extractor,
    models: &'m dyn Models,
    spec: Spec,
    sha256: Checksum,
    bank: Checksum,
    /// The features, a row per topic.
    pub features: Features,
    /// The labels, one per row.
    pub labels: Vec<Need>,
}

impl<'m> Training<'m> {
    /// Makes the features of all topics of `train` that have a label.
    pub fn new(
        spec: Spec,
        bank: &QuestionBank,
        models: &'m dyn Models,
        train: &Labelled,
    ) -> Result<Self, Error> {
        let labelled: Vec<(&Topic, Need)> =
            train.topics.iter().filter_map(|topic| Some((topic, topic.need?))).collect();
        if labelled.is_empty() {
            let at = Location::file(&train.name);
            let problem =
                Problem::new(at, ProblemKind::Empty, "topics with a clarification need", "none");
            return Err(problem.hint("a need model is trained on train.tsv").into());
        }
        spec.check_labels(labelled.iter().map(|(_, need)| *need), &train.name)?;
        let extractor = extractor(&spec, bank, models)?;
        let requests: Vec<&str> =
            labelled.iter().map(|(topic, _)| topic.request.as_str()).collect();
        let features = extractor.extract(&requests)?;
        let lines: Vec<String> =
            labelled.iter().map(|(topic, need)| format!("{need}\t{}\n", topic.request)).collect();
        let sha256 = sha256(lines.iter().map(String::as_bytes));
        let labels = labelled.into_iter().map(|(_, need)| need).collect();
        Ok(Self {
            extractor,
            models,
            spec,
            sha256,
            bank: bank.checksum().clone(),
            features,
            labels,
        })
    }

    /// The model that is trained.
    pub fn spec(&self) -> &Spec {
        &self.spec
    }

    /// Trains on some topics.
    pub(crate) fn fit_rows(&self, rows: &[usize], seed: u64, keep: bool) -> Result<Model, Error> {
        self.spec.fit(
            &self.features,
            &self.labels,
            rows,
            &Means { models: self.models, seed, keep },
        )
    }

    /// Trains on all topics.
    pub fn fit(self, seed: u64) -> Result<Classifier, Error> {
        let rows: Vec<usize> = (0..self.labels.len()).collect();
        let model = self.fit_rows(&rows, seed, true)?;
        let made_of = MadeOf {
            clariq: env!("CARGO_PKG_VERSION").to_owned(),
            features: feature_names(&self.spec),
            spec: self.spec,
            train_sha256: self.sha256,
            topics: rows.len(),
            bank_sha256: self.bank,
            encoder: self.extractor.encoder_checksum().map(str::to_owned),
            seed,
        };
        Ok(Classifier { made_of, model, extractor: self.extractor })
    }
}

/// What makes the features of a model.
pub(crate) fn extractor(
    spec: &Spec,
    bank: &QuestionBank,
    models: &dyn Models,
) -> Result<Extractor, Error> {
    Extractor::new(&spec.blocks(), bank, models, spec.encoder.as_deref().unwrap_or_default())
}

/// All features of a model, in order.
pub(crate) fn feature_names(spec: &Spec) -> Vec<String> {
    spec.blocks().into_iter().flat_map(Block::features).collect()
}

impl Classifier {
    /// A label for each request, in order.
    pub fn predict(&self, topics: &[Topic]) -> Result<Vec<Prediction>, Error> {
        let requests: Vec<&str> = topics.iter().map(|topic| topic.request.as_str()).collect();
        self.predict_texts(&requests)
    }

    /// A label for each text, in order.
    pub fn predict_texts(&self, requests: &[&str]) -> Result<Vec<Prediction>, Error> {
        self.model.as_model().predict(&self.extractor.extract(requests)?)
    }

    /// A label for one request, and the features that drove it, the strongest first.
    pub fn explain(&self, request: &str) -> Result<(Prediction, Vec<Contribution>), Error> {
        let features = self.extractor.extract(&[request])?;
        let model = self.model.as_model();
        let Some(&prediction) = model.predict(&features)?.first() else {
            return Err(Problem::new(
                Location::file("need model"),
                ProblemKind::Model,
                "a label",
                "none",
            )
            .into());
        };
        let mut drove = model.contributions(&features, 0, prediction.need);
        drove.sort_by(|a, b| b.share.abs().total_cmp(&a.share.abs()));
        Ok((prediction, drove))
    }
}
