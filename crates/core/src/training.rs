//! Options of running a model, and of training one.

use crate::checksum::sha256_hex;
use crate::examples::Examples;
use crate::isa::Isa;
use crate::model::Encoder;
use crate::recipe::Recipe;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::path::{Path, PathBuf};

/// The numbers that a network computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floats.
    #[default]
    F32,
    /// 16-bit floats with 8 bits of mantissa: faster on processors that multiply them, and off by
    /// up to 1 %.
    Bf16,
}

impl Precision {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(crate) fn is_f32(&self) -> bool {
        *self == Self::F32
    }
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
        })
    }
}

/// How a model is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOptions {
    /// `cpu`, or `cuda:0` and so on.
    pub device: String,
    /// The numbers it computes with.
    pub precision: Precision,
    /// Threads on the CPU.
    pub threads: usize,
    /// Where longer texts are cut, in tokens; without it they are refused if the model cannot read
    /// them.
    pub max_tokens: Option<usize>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { device: "cpu".to_owned(), precision: Precision::F32, threads: 1, max_tokens: None }
    }
}

impl ModelOptions {
    /// The instruction set that a model computes with under these options, or `cuda`.
    pub fn computes_with(&self) -> String {
        if self.device == "cpu" { Isa::effective() } else { "cuda".to_owned() }
    }
}

/// Everything that a training is made of.
pub struct Training<'a> {
    /// The recipe.
    pub recipe: &'a Recipe,
    /// The folder of the model that it begins with.
    pub base: &'a Path,
    /// The data.
    pub examples: &'a Examples,
    /// A sentence on where the data comes from, for the model card.
    pub data: String,
    /// The base as an encoder of texts, for recipes that learn from its vectors.
    pub teacher: Option<&'a dyn Encoder>,
    /// Device and threads; the precision is the recipe's.
    pub options: &'a ModelOptions,
    /// Whether a checkpoint of the same training is continued.
    pub resume: bool,
}

/// What an engine reports while it trains.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum TrainingEvent {
    /// A checkpoint was found: training continues after this step.
    Resumed(usize),
    /// A step was done.
    Step {
        /// The step, counted from 1.
        step: usize,
        /// All steps of the training.
        steps: usize,
        /// The loss before the step.
        loss: f64,
    },
    /// No better evaluation for as long as the recipe waits.
    StoppedEarly(usize),
}

/// A model that was trained.
#[derive(Debug, Clone, PartialEq)]
pub struct Trained {
    /// Its folder.
    pub folder: PathBuf,
    /// The steps that were done.
    pub steps: usize,
    /// Mean loss of the first ten steps.
    pub first_loss: f64,
    /// Mean loss of the last ten steps.
    pub last_loss: f64,
    /// The last recall at 5, 10, 20 and 30 on held-out topics, where some were held out.
    pub recall: Option<[f64; 4]>,
}

/// The SHA-256 of all that a training is made of: the same key, the same bytes. `computes_with` is
/// [`ModelOptions::computes_with`].
pub fn training_key(
    recipe: &Recipe,
    base_checksum: &str,
    examples: &Examples,
    computes_with: &str,
) -> String {
    let recipe = serde_json::to_string(recipe).unwrap_or_default();
    let data = format!(
        "{:?}",
        (
            &examples.topics,
            &examples.requests,
            &examples.questions,
            &examples.relevant,
            &examples.candidates
        )
    );
    let data = match &examples.conversations[..] {
        [] => sha256_hex(data.as_bytes()),
        conversations => sha256_hex(format!("{data}{conversations:?}").as_bytes()),
    };
    let made_of = sha256_hex(format!("1\n{recipe}\n{base_checksum}\n{data}").as_bytes());
    sha256_hex(format!("{made_of}\n{computes_with}").as_bytes())
}
