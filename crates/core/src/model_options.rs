//! Options for running a model: device, precision, threads.

use crate::bail;
use crate::problem::Result;
use crate::processor::instruction_set;
use crate::reading::ReadingOverrides;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The floating-point format of a network.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floats.
    #[default]
    F32,
    /// 16-bit floats with 8 bits of mantissa: faster on some processors, and off by up to 1 %.
    Bf16,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
        })
    }
}

/// The number of the GPU that `--device` names; `None` for the CPU.
pub fn gpu_number(device: &str) -> Result<Option<usize>> {
    let number = match device {
        "cpu" => return Ok(None),
        "cuda" => Some("0"),
        other => other.strip_prefix("cuda:"),
    };
    match number.and_then(|number| number.parse().ok()) {
        Some(number) => Ok(Some(number)),
        None => bail!("--device", "`cpu` or `cuda:0`", "`{device}`", "`cuda:1` is the second GPU"),
    }
}

/// Options for running a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOptions {
    /// `cpu`, or `cuda:0` and so on.
    pub device: String,
    /// The floating-point format of the network; another one changes results and checksums.
    pub precision: Precision,
    /// Threads on the CPU.
    pub threads: usize,
    /// Overrides of its folder.
    pub reading: ReadingOverrides,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            device: "cpu".to_owned(),
            precision: Precision::F32,
            threads: 1,
            reading: ReadingOverrides::default(),
        }
    }
}

impl ModelOptions {
    /// The instruction set that a model computes with under these options, or `cuda`.
    pub fn computes_with(&self) -> &'static str {
        if self.device == "cpu" { instruction_set() } else { "cuda" }
    }
}
