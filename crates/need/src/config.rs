//! The table `[need]` of a configuration: which model, with which parameters.

use clariq_core::{Error, Result, TrainOn, bail};
use clariq_rank::Section;
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};
use std::collections::BTreeMap;

/// The blocks of features of a regression, and what each is multiplied by after it is standardised.
pub type Weighted = BTreeMap<Block, f64>;

/// Features that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Block {
    /// Words, letters and form of the request's phrase.
    #[serde(rename = "core")]
    Core,
    /// Which kinds of questions BM25 finds for the phrase.
    #[serde(rename = "aspects")]
    Aspects,
    /// The phrase's vector along the principal axes of the bank.
    #[serde(rename = "p12")]
    Phrase,
    /// The mean of the questions nearest to the phrase along the same axes.
    #[serde(rename = "f12")]
    Feedback,
}

impl Block {
    /// All blocks.
    pub const ALL: [Self; 4] = [Self::Core, Self::Aspects, Self::Phrase, Self::Feedback];

    /// Whether it is made with an encoder.
    pub fn needs_encoder(self) -> bool {
        matches!(self, Self::Phrase | Self::Feedback)
    }
}

/// A need model that can be trained, as the table `[need]` declares it: the key `model` names the
/// variant, the other keys are its fields.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum NeedConfig {
    /// Always the most frequent label.
    Majority {
        /// The splits whose labels it is trained on.
        #[serde(default, skip_serializing_if = "TrainOn::is_default")]
        train_on: TrainOn,
    },
    /// Two regressions over words and the kinds of questions that BM25 finds.
    Lexical {
        /// The inverse of the penalty on weights.
        #[serde(default = "default_c", deserialize_with = "above_zero")]
        c: f64,
        /// The power of the labels' frequency that probabilities are divided by.
        #[serde(default = "default_prior_power", deserialize_with = "zero_to_one")]
        prior_power: f64,
        /// The splits whose labels it is trained on.
        #[serde(default, skip_serializing_if = "TrainOn::is_default")]
        train_on: TrainOn,
    },
    /// Three regressions over the same and the vectors of an encoder.
    Full {
        /// The inverse of the penalty on weights.
        #[serde(default = "default_c", deserialize_with = "above_zero")]
        c: f64,
        /// The power of the labels' frequency that probabilities are divided by.
        #[serde(default = "default_prior_power", deserialize_with = "zero_to_one")]
        prior_power: f64,
        /// The encoder of the vectors.
        #[serde(default = "default_encoder")]
        encoder: String,
        /// The splits whose labels it is trained on.
        #[serde(default, skip_serializing_if = "TrainOn::is_default")]
        train_on: TrainOn,
    },
    /// Any regressions, their probabilities averaged.
    Ensemble {
        /// The blocks of each regression, and their weights.
        #[serde(deserialize_with = "weighted_members")]
        members: Vec<Weighted>,
        /// The inverse of the penalty on weights.
        #[serde(default = "default_c", deserialize_with = "above_zero")]
        c: f64,
        /// The power of the labels' frequency that probabilities are divided by.
        #[serde(default = "default_prior_power", deserialize_with = "zero_to_one")]
        prior_power: f64,
        /// The encoder of the vectors, for members that look at them.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        encoder: Option<String>,
        /// The splits whose labels it is trained on.
        #[serde(default, skip_serializing_if = "TrainOn::is_default")]
        train_on: TrainOn,
    },
}

const HINT: &str = "configs/README.md lists the need models and their keys";

/// More regressions than that are a mistake, and would train for hours.
const MOST_MEMBERS: usize = 32;

/// The weight of vectors beside other blocks. Chosen by cross-validation on train, like the
/// defaults of `c` and `prior_power`; docs/experiments.md has the table.
const VECTORS: f64 = 0.7;

/// `c` and `prior_power`.
const DEFAULTS: (f64, f64) = (0.03, 0.25);

fn default_c() -> f64 {
    DEFAULTS.0
}

fn default_prior_power() -> f64 {
    DEFAULTS.1
}

fn default_encoder() -> String {
    "all-MiniLM-L6-v2".to_owned()
}

impl NeedConfig {
    /// The model `lexical` with its default parameters.
    pub fn lexical() -> Self {
        let (c, prior_power) = DEFAULTS;
        Self::Lexical { c, prior_power, train_on: TrainOn::Train }
    }

    /// Reads the table `[need]`. Errors name the line of the key.
    pub fn read(section: Section) -> Result<Self> {
        let at = section.at.clone();
        let config: Self = section.read_tagged("model").map_err(|error| match error {
            Error::Problem(problem) => problem.hint(HINT).into(),
            refused @ Error::Io { .. } => refused,
        })?;
        if let Self::Ensemble { encoder: Some(encoder), .. } = &config
            && config.encoder().is_none()
        {
            let expected = "members with the block `p12` or `f12`, where there is an encoder";
            bail!(at, expected, "the encoder `{encoder}`, which no member uses", HINT);
        }
        Ok(config)
    }

    /// The splits whose labels the model is trained on.
    pub fn train_on(&self) -> TrainOn {
        match self {
            Self::Majority { train_on }
            | Self::Lexical { train_on, .. }
            | Self::Full { train_on, .. }
            | Self::Ensemble { train_on, .. } => *train_on,
        }
    }

    /// The same model for requests of a split, or of none: dev is trained on to answer test alone.
    #[must_use]
    pub fn to_answer(mut self, split: Option<&str>) -> Self {
        match &mut self {
            Self::Majority { train_on }
            | Self::Lexical { train_on, .. }
            | Self::Full { train_on, .. }
            | Self::Ensemble { train_on, .. } => *train_on = train_on.to_answer(split),
        }
        self
    }

    /// The name in configurations.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Majority { .. } => "majority",
            Self::Lexical { .. } => "lexical",
            Self::Full { .. } => "full",
            Self::Ensemble { .. } => "ensemble",
        }
    }

    /// The blocks of each regression; none for a model without regressions.
    pub(crate) fn members(&self) -> Vec<Weighted> {
        let [core, aspects] = [Block::Core, Block::Aspects].map(|block| (block, 1.0));
        let [phrase, feedback] = [Block::Phrase, Block::Feedback].map(|block| (block, VECTORS));
        match self {
            Self::Majority { .. } => Vec::new(),
            Self::Lexical { .. } => vec![[core].into(), [core, aspects].into()],
            Self::Full { .. } => vec![
                [core, phrase].into(),
                [core, aspects, phrase].into(),
                [core, aspects, feedback].into(),
            ],
            Self::Ensemble { members, .. } => members.clone(),
        }
    }

    /// The inverse of the penalty on weights, and the power of the prior.
    pub(crate) fn parameters(&self) -> (f64, f64) {
        match self {
            Self::Majority { .. } => DEFAULTS,
            Self::Lexical { c, prior_power, .. }
            | Self::Full { c, prior_power, .. }
            | Self::Ensemble { c, prior_power, .. } => (*c, *prior_power),
        }
    }

    /// The blocks of features that the model looks at, each once.
    pub fn blocks(&self) -> Vec<Block> {
        let members = self.members();
        let is_used = |block: &Block| members.iter().any(|member| member.contains_key(block));
        Block::ALL.into_iter().filter(is_used).collect()
    }

    pub(crate) fn feature_names(&self) -> Vec<String> {
        self.blocks().into_iter().flat_map(Block::features).collect()
    }

    /// The encoder that features are made with, if any are.
    pub fn encoder(&self) -> Option<String> {
        let encoder = match self {
            Self::Full { encoder, .. } => Some(encoder),
            Self::Ensemble { encoder, .. } => encoder.as_ref(),
            Self::Majority { .. } | Self::Lexical { .. } => None,
        };
        let needs_one = self.blocks().iter().any(|block| block.needs_encoder());
        needs_one.then(|| encoder.cloned().unwrap_or_else(default_encoder))
    }
}

fn above_zero<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    number(from, |value| value > 0.0 && value.is_finite(), "a number above 0")
}

fn zero_to_one<'de, D: Deserializer<'de>>(from: D) -> Result<f64, D::Error> {
    number(from, |value| (0.0..=1.0).contains(&value), "a number from 0 to 1")
}

fn number<'de, D: Deserializer<'de>>(
    from: D,
    is_right: impl Fn(f64) -> bool,
    expected: &str,
) -> Result<f64, D::Error> {
    let value = f64::deserialize(from)?;
    let wrong = || D::Error::invalid_value(Unexpected::Float(value), &expected);
    is_right(value).then_some(value).ok_or_else(wrong)
}

fn weighted_members<'de, D: Deserializer<'de>>(from: D) -> Result<Vec<Weighted>, D::Error> {
    let members = Vec::<Weighted>::deserialize(from)?;
    if !(1..=MOST_MEMBERS).contains(&members.len()) {
        let expected = format!("1 to {MOST_MEMBERS} members");
        return Err(D::Error::invalid_length(members.len(), &expected.as_str()));
    }
    let weights = || members.iter().flat_map(BTreeMap::values);
    if let Some(wrong) = weights().find(|weight| !(**weight > 0.0 && weight.is_finite())) {
        return Err(D::Error::invalid_value(Unexpected::Float(*wrong), &"weights above 0"));
    }
    if members.iter().any(BTreeMap::is_empty) {
        let expected = &"a block of features in each member";
        return Err(D::Error::invalid_value(Unexpected::Map, expected));
    }
    Ok(members)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Location;
    use clariq_rank::System;

    fn config(keys: &str) -> Result<NeedConfig, Error> {
        let stages = "[[stages]]\nstage = \"no_question\"\nrank = 1\n";
        let text = format!("name = \"mine\"\n{stages}[need]\n{keys}\n");
        let mut need = None;
        System::parse_with("my.toml", &text, &[], |section| {
            need = Some(NeedConfig::read(section)?);
            Ok(())
        })?;
        Ok(need.unwrap())
    }

    #[test]
    fn models_have_the_features_of_their_names() {
        assert!(config("model = \"majority\"").unwrap().blocks().is_empty());
        let lexical = config("model = \"lexical\"").unwrap();
        assert_eq!(lexical, NeedConfig::lexical());
        assert_eq!(lexical.blocks(), [Block::Core, Block::Aspects]);
        let full = config("model = \"full\"\nc = 1").unwrap();
        assert_eq!((full.blocks().len(), full.encoder()), (4, Some(default_encoder())));
        assert_eq!(full.parameters(), (1.0, 0.25));
        let both = config("model = \"majority\"\ntrain_on = [\"train\", \"dev\"]").unwrap();
        assert_eq!(both.train_on(), TrainOn::TrainAndDev);
        assert_eq!(both.to_answer(Some("dev")), NeedConfig::Majority { train_on: TrainOn::Train });
        let own = "model = \"ensemble\"\nmembers = [{ core = 1 }, { p12 = 0.5 }]\nencoder = \"x\"";
        let own = config(own).unwrap();
        assert_eq!(own.blocks(), [Block::Core, Block::Phrase]);
        assert_eq!(own.encoder().as_deref(), Some("x"));
    }

    #[test]
    fn what_makes_no_sense_is_refused_with_its_line() {
        for (keys, line, says) in [
            ("model = \"oracle\"", 6, "`oracle`"),
            ("c = 1.0", 5, "a key `model`"),
            ("model = \"majority\"\nc = 1.0", 7, "`c`"),
            ("model = \"lexical\"\nc = -1.0", 7, "a number above 0"),
            ("model = \"lexical\"\n\nprior_power = nan", 8, "from 0 to 1"),
            ("model = \"lexical\"\nencoder = \"x\"", 7, "`encoder`"),
            ("model = \"lexical\"\ntrain_on = [\"test\"]", 7, "[\"train\", \"dev\"]"),
            ("model = \"ensemble\"", 5, "members"),
            ("model = \"ensemble\"\nmembers = []", 7, "1 to 32 members"),
            ("model = \"ensemble\"\nmembers = [{}]", 7, "a block of features"),
            ("model = \"ensemble\"\nmembers = [{ words = 1.0 }]", 7, "`words`"),
            ("model = \"ensemble\"\nmembers = [{ core = 0.0 }]", 7, "above 0"),
            (
                "encoder = \"x\"\nmodel = \"ensemble\"\nmembers = [{ core = 1.0 }]",
                5,
                "which no member uses",
            ),
        ] {
            let report = config(keys).unwrap_err().to_problem();
            assert_eq!(report.at, Location::line("my.toml", line), "{report:?}");
            assert!(format!("{} {}", report.expected, report.found).contains(says), "{report:?}");
            assert_eq!(report.hint, HINT);
        }
    }
}
