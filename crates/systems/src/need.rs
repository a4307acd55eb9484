//! The table `[need]`: the model that predicts the need for clarification.

use clariq_core::{Result, number};
use clariq_need::NeedConfig;
use clariq_rank::{About, Chat, ChatDefaults, ConfigSection};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

const DEFAULTS: ChatDefaults = ChatDefaults {
    prompt: "need",
    variables: &["request", "examples", "form"],
    max_tokens: NonZeroU32::new(32).unwrap(),
};

/// The table `[need]`.
#[derive(Debug, Clone, Serialize)]
#[serde(untagged)]
pub enum NeedTable {
    /// A model that is trained (key `model`).
    Trained(NeedConfig),
    /// A language model with examples in its prompt (key `chat`).
    FewShot(FewShotConfig),
}

/// A language model that predicts needs from examples in its prompt.
#[derive(Debug, Clone, Serialize)]
pub struct FewShotConfig {
    /// The model with its prompt.
    #[serde(flatten)]
    pub model: Chat,
    #[serde(flatten)]
    keys: FewShotKeys,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct FewShotKeys {
    /// Requests of each need in the prompt, from train.
    #[serde(default = "number::<2, _>")]
    examples: usize,
}

impl NeedTable {
    pub(crate) fn read(mut section: ConfigSection) -> Result<Self> {
        Ok(match Chat::take_from(&mut section, DEFAULTS)? {
            Some(model) => Self::FewShot(FewShotConfig { model, keys: section.read()? }),
            None => Self::Trained(NeedConfig::read(section)?),
        })
    }

    /// The language model, if there is one.
    pub(crate) fn about(&self) -> Option<About> {
        match self {
            Self::Trained(_) => None,
            Self::FewShot(config) => Some(config.model.about("need", config)),
        }
    }
}

impl FewShotConfig {
    /// The number of examples of each need in the prompt.
    pub fn examples(&self) -> usize {
        self.keys.examples
    }
}
