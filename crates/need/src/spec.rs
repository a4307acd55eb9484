//! Which model is meant by a configuration? Its kind, its features and its parameters, with their defaults filled in.

use crate::baseline::{Majority, Prior};
use crate::bert::{Bert, BertSpec};
use crate::ensemble::{Ensemble, EnsembleSpec};
use crate::error::Error;
use crate::features::{Block, Features};
use crate::linear::Weighted;
use crate::model::{Means, NeedModel};
use crate::ordinal::Ordinal;
use clariq_core::{Location, Need, Problem, ProblemKind};
use clariq_rank::NeedConfig;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// The encoder where a configuration names none.
const ENCODER: &str = "all-MiniLM-L6-v2";

/// Chosen by cross-validation on train, with everything else of `lexical` and `full`; configs/README.md has the table.
const C: f64 = 0.03;
const PRIOR_POWER: f64 = 0.25;
const VECTORS: f64 = 0.7;

const MODELS: [&str; 8] =
    ["majority", "prior", "lexical", "full", "logistic", "ordinal", "ensemble", "bert"];

/// The recipe where a configuration names none.
const RECIPE: &str = "need-classifier";

/// A model that can be trained.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Spec {
    /// The name in the configuration.
    pub model: String,
    /// The encoder that features are made with, if any are.
    pub encoder: Option<String>,
    kind: Kind,
}

#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Kind {
    Majority,
    Prior,
    Ordinal { features: Weighted, c: f64 },
    Ensemble(EnsembleSpec),
    Bert(BertSpec),
}

/// A trained model of any kind.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Model {
    /// Always the most frequent label.
    Majority(Majority),
    /// Labels drawn by their frequency.
    Prior(Prior),
    /// A regression per step of the scale.
    Ordinal(Ordinal),
    /// Softmax regressions.
    Ensemble(Ensemble),
    /// A fine-tuned classifier.
    Bert(Bert),
}

impl Model {
    /// What it has in common with all others.
    pub fn as_model(&self) -> &dyn NeedModel {
        match self {
            Self::Majority(model) => model,
            Self::Prior(model) => model,
            Self::Ordinal(model) => model,
            Self::Ensemble(model) => model,
            Self::Bert(model) => model,
        }
    }

    /// What made it, as it is written beside a run.
    pub fn parameters(&self) -> serde_json::Value {
        let value = match self {
            Self::Majority(model) => serde_json::to_value(model),
            Self::Prior(model) => serde_json::to_value(model),
            Self::Ordinal(model) => serde_json::to_value(model),
            Self::Ensemble(model) => serde_json::to_value(model),
            Self::Bert(model) => serde_json::to_value(model),
        };
        value.unwrap_or_default()
    }
}

impl Spec {
    /// The model that a configuration declares at some place.
    pub fn new(config: &NeedConfig, at: &Location) -> Result<Self, Error> {
        let kind = match config.model.as_str() {
            "majority" => Kind::Majority,
            "prior" => Kind::Prior,
            "lexical" => ensemble(config, lexical()),
            "full" => ensemble(config, full()),
            "logistic" => ensemble(config, vec![one_member(config, at)?]),
            "ordinal" => {
                Kind::Ordinal { features: one_member(config, at)?, c: config.c.unwrap_or(C) }
            }
            "ensemble" => ensemble(config, members(config, at)?),
            "bert" => bert(config),
            other => {
                return Err(wrong(
                    at,
                    &format!("a need model: {}", list(&MODELS)),
                    format!("`{other}`"),
                ));
            }
        };
        let mut spec = Self { model: config.model.clone(), encoder: None, kind };
        spec.check(config, at)?;
        if spec.blocks().iter().any(|block| block.needs_encoder()) {
            spec.encoder = Some(config.encoder.clone().unwrap_or_else(|| ENCODER.to_owned()));
        }
        Ok(spec)
    }

    /// The blocks of features that it looks at, each once.
    pub fn blocks(&self) -> Vec<Block> {
        let used = |block: &Block| match &self.kind {
            Kind::Majority | Kind::Prior | Kind::Bert(_) => false,
            Kind::Ordinal { features, .. } => features.contains_key(block),
            Kind::Ensemble(spec) => spec.members.iter().any(|member| member.contains_key(block)),
        };
        Block::ALL.into_iter().filter(used).collect()
    }

    /// Trains on the named rows of `features`, whose labels are `labels[row]`.
    pub(crate) fn fit(
        &self,
        features: &Features,
        labels: &[Need],
        rows: &[usize],
        means: &Means,
    ) -> Result<Model, Error> {
        let of_rows = || rows.iter().map(|&row| labels[row]);
        self.check_labels(of_rows(), "clarification_need")?;
        Ok(match &self.kind {
            Kind::Majority => Model::Majority(Majority::fit(of_rows())),
            Kind::Prior => Model::Prior(Prior::fit(of_rows(), means.seed)),
            Kind::Ordinal { features: blocks, c } => {
                Model::Ordinal(Ordinal::fit(blocks, *c, features, labels, rows)?)
            }
            Kind::Ensemble(spec) => Model::Ensemble(Ensemble::fit(spec, features, labels, rows)?),
            Kind::Bert(spec) => Model::Bert(Bert::fit(spec, features, labels, rows, means)?),
        })
    }

    /// Labels that there is nothing to learn from. They come from `name`.
    pub(crate) fn check_labels(
        &self,
        labels: impl Iterator<Item = Need>,
        name: &str,
    ) -> Result<(), Error> {
        let mut labels = labels;
        match (&self.kind, labels.next()) {
            (Kind::Ordinal { .. } | Kind::Ensemble(_) | Kind::Bert(_), Some(first))
                if labels.all(|label| label == first) =>
            {
                Err(single_class(name, first))
            }
            _ => Ok(()),
        }
    }

    /// Whether one training keeps all cores busy, and draws from a generator that others would disturb.
    pub(crate) fn trains_alone(&self) -> bool {
        matches!(self.kind, Kind::Bert(_))
    }

    /// The recipe that it is fine-tuned by.
    pub fn recipe(&self) -> Option<&str> {
        if let Kind::Bert(spec) = &self.kind { Some(&spec.recipe) } else { None }
    }

    /// Parameters that the model does not have, or that make no sense.
    fn check(&self, config: &NeedConfig, at: &Location) -> Result<(), Error> {
        let is = |names: &[&str]| names.contains(&self.model.as_str());
        let given = [
            ("features", config.features.is_some(), is(&["logistic", "ordinal"])),
            ("members", config.members.is_some(), is(&["ensemble"])),
            ("c", config.c.is_some(), !is(&["majority", "prior", "bert"])),
            ("recipe", config.recipe.is_some(), is(&["bert"])),
            ("prior_power", config.prior_power.is_some(), !is(&["majority", "prior", "ordinal"])),
            (
                "encoder",
                config.encoder.is_some(),
                self.blocks().iter().any(|block| block.needs_encoder()),
            ),
        ];
        if let Some((key, ..)) = given.into_iter().find(|(_, is_given, has)| *is_given && !has) {
            return Err(wrong(
                at,
                &format!("keys that the model `{}` looks at", self.model),
                format!("`{key}`"),
            ));
        }
        let (c, power) = (config.c.unwrap_or(C), config.prior_power.unwrap_or(PRIOR_POWER));
        if !(c > 0.0 && c.is_finite()) {
            return Err(wrong(at, "a `c` above 0", c.to_string()));
        }
        if !(0.0..=1.0).contains(&power) {
            return Err(wrong(at, "a `prior_power` from 0 to 1", power.to_string()));
        }
        Ok(())
    }
}

fn ensemble(config: &NeedConfig, members: Vec<Weighted>) -> Kind {
    let (c, prior_power) = (config.c.unwrap_or(C), config.prior_power.unwrap_or(PRIOR_POWER));
    Kind::Ensemble(EnsembleSpec { members, c, prior_power })
}

fn bert(config: &NeedConfig) -> Kind {
    let recipe = config.recipe.clone().unwrap_or_else(|| RECIPE.to_owned());
    Kind::Bert(BertSpec { recipe, prior_power: config.prior_power.unwrap_or(PRIOR_POWER) })
}

fn lexical() -> Vec<Weighted> {
    vec![[(Block::Core, 1.0)].into(), [(Block::Core, 1.0), (Block::Aspects, 1.0)].into()]
}

fn full() -> Vec<Weighted> {
    vec![
        [(Block::Core, 1.0), (Block::Phrase, VECTORS)].into(),
        [(Block::Core, 1.0), (Block::Aspects, 1.0), (Block::Phrase, VECTORS)].into(),
        [(Block::Core, 1.0), (Block::Aspects, 1.0), (Block::Feedback, VECTORS)].into(),
    ]
}

fn one_member(config: &NeedConfig, at: &Location) -> Result<Weighted, Error> {
    config
        .features
        .as_ref()
        .map_or_else(|| Ok(lexical().remove(1)), |features| weighted(features, at))
}

fn members(config: &NeedConfig, at: &Location) -> Result<Vec<Weighted>, Error> {
    match config.members.as_deref() {
        None => Ok(lexical()),
        Some([]) => Err(wrong(at, "at least one member", "none".to_owned())),
        Some(members) => members.iter().map(|member| weighted(member, at)).collect(),
    }
}

fn weighted(features: &BTreeMap<String, f64>, at: &Location) -> Result<Weighted, Error> {
    let names = Block::ALL.map(Block::name);
    if features.is_empty() {
        return Err(wrong(at, &format!("blocks of features: {}", list(&names)), "none".to_owned()));
    }
    let block = |(name, &weight): (&String, &f64)| {
        let Some(block) = Block::ALL.into_iter().find(|block| block.name() == name) else {
            return Err(wrong(
                at,
                &format!("a block of features: {}", list(&names)),
                format!("`{name}`"),
            ));
        };
        if weight > 0.0 && weight.is_finite() {
            Ok((block, weight))
        } else {
            Err(wrong(at, &format!("a weight of `{name}` above 0"), weight.to_string()))
        }
    };
    features.iter().map(block).collect()
}

fn list(names: &[&str]) -> String {
    names.iter().map(|name| format!("`{name}`")).collect::<Vec<_>>().join(", ")
}

fn wrong(at: &Location, expected: &str, found: String) -> Error {
    Problem::new(at.clone(), ProblemKind::Configuration, expected, found)
        .hint("configs/README.md lists the need models and their keys")
        .into()
}

fn single_class(name: &str, label: Need) -> Error {
    let at = Location::file(name);
    let found = format!("the label {label} on all of them");
    Problem::new(
        at,
        ProblemKind::Model,
        "training topics with at least two different labels",
        found,
    )
    .hint("label more topics, or use model = \"majority\", which needs one label only")
    .into()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn spec(toml: &str) -> Result<Spec, String> {
        let config: NeedConfig = toml::from_str(toml).unwrap();
        Spec::new(&config, &Location::line("my.toml", 7)).map_err(|error| error.to_string())
    }

    #[test]
    fn models_have_the_features_of_their_names() {
        assert!(spec("model = \"majority\"").unwrap().blocks().is_empty());
        assert_eq!(spec("model = \"lexical\"").unwrap().blocks(), [Block::Core, Block::Aspects]);
        let full = spec("model = \"full\"").unwrap();
        assert_eq!((full.blocks().len(), full.encoder.as_deref()), (4, Some(ENCODER)));
        let own = spec(
            "model = \"ensemble\"\nmembers = [{ core = 1.0 }, { p12 = 0.5 }]\nencoder = \"mine\"",
        )
        .unwrap();
        assert_eq!(
            (own.blocks(), own.encoder.as_deref()),
            (vec![Block::Core, Block::Phrase], Some("mine"))
        );
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_line() {
        for (toml, says) in [
            ("model = \"oracle\"", "found `oracle`"),
            ("model = \"majority\"\nc = 1.0", "found `c`"),
            ("model = \"lexical\"\nc = -1.0", "a `c` above 0"),
            ("model = \"lexical\"\nprior_power = nan", "from 0 to 1"),
            ("model = \"lexical\"\nencoder = \"x\"", "found `encoder`"),
            ("model = \"full\"\nrecipe = \"x\"", "found `recipe`"),
            ("model = \"bert\"\nc = 1.0", "found `c`"),
            ("model = \"logistic\"\nfeatures = { words = 1.0 }", "found `words`"),
            ("model = \"ordinal\"\nfeatures = { core = 0.0 }", "above 0"),
            ("model = \"ensemble\"\nmembers = []", "at least one member"),
        ] {
            let error = spec(toml).unwrap_err();
            assert!(error.starts_with("my.toml:7: ") && error.contains(says), "{error}");
        }
    }
}
