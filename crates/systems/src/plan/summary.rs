//! The table `summary` of `[answer]`: a T5 that summarises passages.

use super::HINT;
use clariq_core::{
    Decoding, Location, ModelKind, ModelName, ReadingOverrides, Result, bail, number, positive,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// A T5 that summarises passages. Its defaults are those of the organisers' baseline of TREC iKAT 2023
/// (irlabamsterdam/iKAT, `2023/scripts/baselines/code/baseline_runs.py`).
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct SummaryRule {
    /// The folder of a T5.
    model: String,
    /// The text before the passages, which are joined by blanks.
    #[serde(default = "default_prefix")]
    pub prefix: String,
    /// The number of first tokens of prefix and passages that are read; longer texts are cut at their end.
    #[serde(default = "number::<512, _>")]
    max_tokens: usize,
    /// The number of beams of the search; 1 is greedy search.
    #[serde(default = "positive::<4>")]
    beams: NonZeroUsize,
    /// The power of a text's length by which its log-probability is divided.
    #[serde(default = "number::<2, _>")]
    length_penalty: f64,
    /// The fewest tokens of a summary, including the start token.
    #[serde(default = "number::<50, _>")]
    min_length: usize,
    /// The most tokens of a summary, including the start token.
    #[serde(default = "number::<250, _>")]
    max_length: usize,
}

fn default_prefix() -> String {
    "summarize: ".to_owned()
}

impl SummaryRule {
    /// The model, with the texts that it reads.
    pub fn model_name(&self) -> ModelName {
        let reading =
            ReadingOverrides { cut_at_end: true, ..ReadingOverrides::cut_at(self.max_tokens) };
        ModelName { reading, ..ModelName::new(&*self.model, ModelKind::TextGenerator) }
    }

    /// The search for a summary.
    pub fn decoding(&self) -> Decoding {
        Decoding {
            beams: self.beams,
            length_penalty: self.length_penalty,
            max_length: self.max_length,
            early_stopping: true,
            min_length: self.min_length,
        }
    }

    pub(super) fn check(&self, at: &Location) -> Result<()> {
        for (key, value, range) in [
            ("beams", self.beams.get(), 1..=Decoding::MOST_BEAMS),
            ("max_tokens", self.max_tokens, 2..=4 * Decoding::MOST_TOKENS),
            ("max_length", self.max_length, 2..=Decoding::MOST_TOKENS),
            ("min_length", self.min_length, 0..=self.max_length),
        ] {
            if !range.contains(&value) {
                let (from, to) = range.into_inner();
                bail!(at, "summary.{key} from {from} to {to}", "{value}", HINT);
            }
        }
        if !self.length_penalty.is_finite() {
            bail!(
                at,
                "a number as summary.length_penalty",
                (self.length_penalty.to_string()),
                HINT
            );
        }
        Ok(())
    }
}
