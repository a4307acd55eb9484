//! The table `[need]` of a configuration: a model and its parameters.

use clariq_core::{Result, SplitRole, TrainOn};
use clariq_rank::{ConfigSection, hint_of_table};
use serde::de::{Error as _, Unexpected};
use serde::{Deserialize, Deserializer, Serialize};

/// Features that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Block {
    /// Words, letters and form of the request's phrase.
    Core,
    /// The kinds of questions that BM25 finds for the phrase.
    Aspects,
}

impl Block {
    /// All blocks.
    pub const ALL: [Self; 2] = [Self::Core, Self::Aspects];
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
    /// Two regressions over words and the kinds of questions that BM25 finds, their probabilities
    /// averaged.
    Lexical {
        /// The inverse of the penalty on weights.
        #[serde(default = "default_c", deserialize_with = "above_zero")]
        c: f64,
        /// The power of a label's frequency by which its probability is divided.
        #[serde(default = "default_prior_power", deserialize_with = "zero_to_one")]
        prior_power: f64,
        /// The splits whose labels it is trained on.
        #[serde(default, skip_serializing_if = "TrainOn::is_default")]
        train_on: TrainOn,
    },
}

const HINT: &str = "the documentation lists the need models and their keys (reference, Models)";

/// The default of `c`, chosen by cross-validation on train; configs/EXPERIMENTS.md has the table.
fn default_c() -> f64 {
    0.03
}

/// The default of `prior_power`, chosen in the same way.
fn default_prior_power() -> f64 {
    0.25
}

impl NeedConfig {
    /// The model `lexical` with its default parameters.
    pub fn lexical() -> Self {
        Self::Lexical {
            c: default_c(),
            prior_power: default_prior_power(),
            train_on: TrainOn::Train,
        }
    }

    /// Reads the table `[need]`. Errors name the line of the key.
    pub fn read(section: ConfigSection) -> Result<Self> {
        section.read_tagged("model").map_err(|error| hint_of_table(&error, HINT).into())
    }

    /// The splits whose labels the model is trained on.
    pub fn train_on(&self) -> TrainOn {
        match self {
            Self::Majority { train_on } | Self::Lexical { train_on, .. } => *train_on,
        }
    }

    /// The model that may label requests of a split with this role, or of none: labels of dev are used for test
    /// only.
    #[must_use]
    pub fn to_answer(mut self, role: Option<SplitRole>) -> Self {
        match &mut self {
            Self::Majority { train_on } | Self::Lexical { train_on, .. } => {
                *train_on = train_on.to_answer(role);
            }
        }
        self
    }

    /// The name in configurations.
    pub fn name(&self) -> &'static str {
        match self {
            Self::Majority { .. } => "majority",
            Self::Lexical { .. } => "lexical",
        }
    }

    /// The blocks of features that the model uses.
    pub fn blocks(&self) -> &'static [Block] {
        match self {
            Self::Majority { .. } => &[],
            Self::Lexical { .. } => &Block::ALL,
        }
    }

    pub(crate) fn feature_names(&self) -> Vec<String> {
        self.blocks().iter().flat_map(|block| block.features()).collect()
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
    if !is_right(value) {
        return Err(D::Error::invalid_value(Unexpected::Float(value), &expected));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Error;
    use clariq_core::Location;
    use clariq_rank::SystemFile;

    fn config(keys: &str) -> Result<NeedConfig, Error> {
        let stages = "[[stages]]\nstage = \"no_question\"\nrank = 1\n";
        let text = format!("name = \"mine\"\n{stages}[need]\n{keys}\n");
        let (_, sections) = SystemFile::parse_with_sections("my.toml", &text, &[])?;
        NeedConfig::read(sections.need.unwrap())
    }

    #[test]
    fn models_have_the_features_of_their_names() {
        assert!(config("model = \"majority\"").unwrap().blocks().is_empty());
        let lexical = config("model = \"lexical\"").unwrap();
        assert_eq!(lexical, NeedConfig::lexical());
        assert_eq!(lexical.blocks(), Block::ALL);
        let both = config("model = \"majority\"\ntrain_on = [\"train\", \"dev\"]").unwrap();
        assert_eq!(both.train_on(), TrainOn::TrainAndDev);
        assert_eq!(
            both.to_answer(Some(SplitRole::Tune)),
            NeedConfig::Majority { train_on: TrainOn::Train }
        );
    }

    #[test]
    fn bad_keys_are_refused_with_their_line() {
        for (keys, line, says) in [
            ("model = \"oracle\"", 6, "`oracle`"),
            ("c = 1.0", 5, "a key `model`"),
            ("model = \"majority\"\nc = 1.0", 7, "`c`"),
            ("model = \"lexical\"\nc = -1.0", 7, "a number above 0"),
            ("model = \"lexical\"\n\nprior_power = nan", 8, "from 0 to 1"),
            ("model = \"full\"", 6, "`full`"),
            ("model = \"lexical\"\nencoder = \"x\"", 7, "`encoder`"),
            ("model = \"lexical\"\ntrain_on = [\"test\"]", 7, "[\"train\", \"dev\"]"),
        ] {
            let report = config(keys).unwrap_err().to_problem();
            assert_eq!(report.at, Location::line("my.toml", line), "{report:?}");
            assert!(format!("{} {}", report.expected, report.found).contains(says), "{report:?}");
            assert_eq!(report.hint, HINT);
        }
    }
}
