//! What does a fine-tuned BERT say of a request? Its probabilities, divided by a power of the prior as an ensemble's are.

use crate::ensemble::decide_by_prior;
use crate::error::Error;
use crate::features::Features;
use crate::model::{Means, NeedModel, Prediction, shares};
use clariq_core::{ClassifiedTexts, Models, TextClassifier};
use clariq_core::{Location, Need, Problem, ProblemKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// The names of the classes.
const NAMES: [&str; 4] = ["1", "2", "3", "4"];

/// How a classifier is fine-tuned.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct BertSpec {
    /// The recipe of its training.
    pub recipe: String,
    /// The power of the prior that probabilities are divided by: 0 is the most probable label.
    pub prior_power: f64,
}

/// A fine-tuned classifier. Its weights are not part of a saved model but named by it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Bert {
    recipe: String,
    /// The name that the weights are kept under.
    weights: String,
    /// What identifies them.
    checksum: String,
    prior_power: f64,
    /// The share of each label among the training topics.
    prior: [f64; 4],
    #[serde(skip)]
    network: Network,
}

/// The weights, once they are opened. Two are equal if they say the same, which their checksums tell.
#[derive(Clone, Default)]
struct Network(Option<Arc<dyn TextClassifier>>);

impl fmt::Debug for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.0.as_ref().map_or("not opened", |network| network.checksum()))
    }
}

impl PartialEq for Network {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl Bert {
    /// Trains on the rows of `features` that are named.
    pub(crate) fn fit(
        spec: &BertSpec,
        features: &Features,
        labels: &[Need],
        rows: &[usize],
        means: &Means,
    ) -> Result<Self, Error> {
        let all = features.requests();
        let texts: Vec<&str> = rows.iter().map(|&row| all[row].as_str()).collect();
        let classes: Vec<usize> =
            rows.iter().map(|&row| usize::from(labels[row].get()) - 1).collect();
        let data = ClassifiedTexts { texts: &texts, classes: &classes, names: &NAMES };
        let trained = means.models.train_classifier(&spec.recipe, &data, means.seed, means.keep);
        let network = trained.map_err(|error| Error::learned(&error))?;
        Ok(Self {
            recipe: spec.recipe.clone(),
            weights: network.name().to_owned(),
            checksum: network.checksum().to_owned(),
            prior_power: spec.prior_power,
            prior: shares(rows.iter().map(|&row| labels[row])),
            network: Network(Some(network)),
        })
    }

    /// Opens the weights that a saved model names; `file` is the model's, for messages.
    pub(crate) fn open(&mut self, file: &str, models: &dyn Models) -> Result<(), Error> {
        let network = models
            .classifier(&self.recipe, &self.weights)
            .map_err(|error| Error::learned(&error))?;
        if network.checksum() != self.checksum {
            let expected =
                format!("the weights {} with the checksum {}", self.weights, short(&self.checksum));
            let found = format!("weights with the checksum {}", short(network.checksum()));
            return Err(Problem::new(Location::file(file), ProblemKind::Model, expected, found)
                .hint("other weights, --device or --precision give other labels: train again with `clariq need train`")
                .into());
        }
        self.network = Network(Some(network));
        Ok(())
    }
}

fn short(checksum: &str) -> String {
    checksum.chars().take(12).collect()
}

impl NeedModel for Bert {
    fn name(&self) -> &'static str {
        "bert"
    }

    fn predict(&self, features: &Features) -> Result<Vec<Prediction>, Error> {
        let texts: Vec<&str> = features.requests().iter().map(String::as_str).collect();
        let Some(network) = &self.network.0 else {
            let problem = Problem::new(
                Location::file("need model"),
                ProblemKind::Model,
                "opened weights",
                "none",
            );
            return Err(problem.hint("train the model again: `clariq need train`").into());
        };
        let rows = network.classify(&texts, &|_| {}).map_err(|error| Error::learned(&error))?;
        let four =
            |row: Vec<f64>| std::array::from_fn(|place| row.get(place).copied().unwrap_or(0.0));
        Ok(rows
            .into_iter()
            .map(|row| decide_by_prior(four(row), &self.prior, self.prior_power))
            .collect())
    }
}
