//! Where and how exactly is computed?

use crate::error::Error;
use clariq_core::{Location, Problem, ProblemKind};
use serde::{Deserialize, Serialize};
use std::fmt;
use tch::{Device, Kind};

/// The numbers that a network computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floats.
    #[default]
    F32,
    /// 16-bit floats with 8 bits of mantissa: faster on processors that multiply them, and off by up to 1 %.
    Bf16,
}

impl Precision {
    pub(crate) fn kind(self) -> Kind {
        match self {
            Self::F32 => Kind::Float,
            Self::Bf16 => Kind::BFloat16,
        }
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
pub struct Options {
    /// `cpu`, or `cuda:0` and so on.
    pub device: String,
    /// The numbers it computes with.
    pub precision: Precision,
    /// Threads on the CPU.
    pub threads: usize,
    /// Where longer texts are cut; without it they are refused if the model cannot read them.
    pub max_tokens: Option<usize>,
}

/// What libtorch can compute on here, in words.
pub fn devices() -> String {
    match tch::Cuda::device_count() {
        0 => "CPU".to_owned(),
        1 => "CPU and 1 GPU".to_owned(),
        count => format!("CPU and {count} GPUs"),
    }
}

impl Default for Options {
    fn default() -> Self {
        Self { device: "cpu".to_owned(), precision: Precision::F32, threads: 1, max_tokens: None }
    }
}

/// Counts the ways in which this crate has computed the same numbers: another order of sums, other last bits.
const ARITHMETIC: u32 = 2;

impl Options {
    /// The device, if libtorch has it.
    pub fn device(&self) -> Result<Device, Error> {
        let problem = |expected: String, hint: &str| -> Error {
            Problem::new(
                Location::file("--device"),
                ProblemKind::Argument,
                expected,
                format!("`{}`", self.device),
            )
            .hint(hint)
            .into()
        };
        if self.device == "cpu" {
            return Ok(Device::Cpu);
        }
        let number =
            if self.device == "cuda" { Some("0") } else { self.device.strip_prefix("cuda:") };
        let Some(number) = number.and_then(|number| number.parse::<usize>().ok()) else {
            return Err(problem("`cpu` or `cuda:0`".to_owned(), "`cuda:1` is the second GPU"));
        };
        let found = usize::try_from(tch::Cuda::device_count()).unwrap_or(0);
        if number >= found {
            let hint = "a CUDA build of libtorch 2.4 is needed: `LIBTORCH=DIR scripts/setup`, and build again";
            return Err(problem(format!("one of {found} GPUs that libtorch sees, or `cpu`"), hint));
        }
        Ok(Device::Cuda(number))
    }

    /// The checksum of a model together with what else its numbers depend on, to the last bit.
    pub(crate) fn sign(&self, checksum: &str) -> String {
        let cut = self.max_tokens.map_or_else(|| "whole".to_owned(), |limit| limit.to_string());
        let text = format!(
            "{ARITHMETIC} {checksum} {} {cut} {}",
            self.precision,
            if self.device == "cpu" { "cpu" } else { "cuda" }
        );
        clariq_core::sha256_hex(text.as_bytes())
    }
}
