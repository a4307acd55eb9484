//! Arguments that more than one subcommand takes, and parsers of their values.

use crate::failure::Failure;
use crate::output::Format;
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, ValueEnum};
use clariq_core::{Isa, Name, Precision};
use clariq_experiment::systems::parse_assignment;
use clariq_index::{Analyzer, Variant};
use clariq_rank::Override;
use std::path::PathBuf;

/// Flags that every subcommand has. Short help leaves them out.
#[derive(Args, Clone)]
#[command(next_help_heading = "Common options")]
pub(crate) struct Common {
    /// Folder with the files of a collection [default: data/clariq if present, else the built-in
    /// sample]
    #[arg(
        long,
        global = true, hide_short_help = true,
        value_name = "DIR",
        aliases = ["data_dir", "data-dir"]
    )]
    pub(crate) data: Option<PathBuf>,
    /// Threads to use; results are the same with any number [default: one per core]
    #[arg(long, global = true, hide_short_help = true, value_name = "N")]
    pub(crate) threads: Option<usize>,
    /// Seed of cross-validation, bootstraps and permutation tests; a training recipe has its own
    #[arg(long, global = true, hide_short_help = true, value_name = "N", default_value_t = 42)]
    pub(crate) seed: u64,
    /// Where learned models are run: cpu, or cuda:0 with a CUDA build of libtorch
    #[arg(
        long,
        global = true,
        hide_short_help = true,
        value_name = "DEVICE",
        default_value = "cpu"
    )]
    pub(crate) device: String,
    /// Numbers that learned models compute with; bf16 is faster on processors that multiply them,
    /// and less exact; auto is bf16 on such a processor without --isa, else f32
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value = "f32")]
    pub(crate) precision: PrecisionName,
    /// Instruction set that learned models compute with; processors of different sets and makers
    /// differ in the last digits of scores, and with `avx2` every x86 processor computes alike
    #[arg(long, global = true, hide_short_help = true, value_enum, default_value = "auto")]
    pub(crate) isa: IsaName,
    /// How results are printed [default: table]
    #[arg(long, global = true, hide_short_help = true, value_enum)]
    pub(crate) format: Option<Format>,
    /// Print more on standard error
    #[arg(short, long, global = true, hide_short_help = true, conflicts_with = "quiet")]
    pub(crate) verbose: bool,
    /// Print nothing but errors on standard error
    #[arg(short, long, global = true, hide_short_help = true)]
    pub(crate) quiet: bool,
    /// Show no progress
    #[arg(long, global = true, hide_short_help = true)]
    pub(crate) no_progress: bool,
}

/// What `--precision` accepts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionName {
    /// 32-bit floats
    F32,
    /// 16-bit floats with 8 bits of mantissa
    Bf16,
    /// The faster of both on this processor
    Auto,
}

impl PrecisionName {
    /// What it stands for on this processor. Recall on dev moves by .0017 at most between the two
    /// (docs/BENCHMARKS.md), which was measured of processors alone: other devices get f32.
    pub(crate) fn resolve(self, isa: IsaName, device: &str) -> Precision {
        let is_fast = || isa == IsaName::Auto && device == "cpu" && Isa::multiplies_bf16();
        match self {
            Self::Bf16 => Precision::Bf16,
            Self::Auto if is_fast() => Precision::Bf16,
            Self::F32 | Self::Auto => Precision::F32,
        }
    }
}

/// What `--isa` accepts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum IsaName {
    /// The best that this processor has
    Auto,
    /// SSE 4.1
    Sse41,
    /// AVX2
    Avx2,
    /// AVX-512
    Avx512,
}

impl IsaName {
    /// The instruction set that is asked for, if one is.
    pub(crate) fn asked(self) -> Option<Isa> {
        match self {
            Self::Auto => None,
            Self::Sse41 => Some(Isa::Sse41),
            Self::Avx2 => Some(Isa::Avx2),
            Self::Avx512 => Some(Isa::Avx512),
        }
    }
}

/// Where indexes are and how they are built.
#[derive(Args, Clone)]
pub(crate) struct IndexPlace {
    /// Folder of the index [default: in the user's cache, by bank checksum and analyser]
    #[arg(long, value_name = "DIR")]
    pub(crate) index: Option<PathBuf>,
    /// Memory for building the index, as 64M or 1G
    #[arg(long, value_name = "SIZE", default_value = "64M", value_parser = parse_size)]
    pub(crate) memory: usize,
}

impl Default for IndexPlace {
    fn default() -> Self {
        Self { index: None, memory: 64_000_000 }
    }
}

/// Parameters in place of those of a configuration.
#[derive(Args, Clone, Default)]
pub(crate) struct Parameters {
    /// Term saturation of the stage `bm25`, at least 0
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) k1: Option<f64>,
    /// Length normalisation of the stage `bm25`, from 0 to 1
    #[arg(long, value_name = "X", allow_negative_numbers = true)]
    pub(crate) b: Option<f64>,
    /// Formula of the stage `bm25`
    #[arg(long, value_parser = variants())]
    pub(crate) variant: Option<Variant>,
    /// Any parameter of any stage, as stage.key=value; may be given more than once
    #[arg(long = "set", value_name = "STAGE.KEY=VALUE")]
    pub(crate) set: Vec<String>,
}

impl Parameters {
    /// The same as overrides of stages.
    pub(crate) fn overrides(&self) -> Result<Vec<Override>, Failure> {
        let bm25 = |key: &str, value: String| Override {
            stage: "bm25".to_owned(),
            key: key.to_owned(),
            value,
        };
        let mut overrides = Vec::new();
        overrides.extend(self.k1.map(|k1| bm25("k1", as_toml(k1))));
        overrides.extend(self.b.map(|b| bm25("b", as_toml(b))));
        let name = self.variant.and_then(|variant| serde_json::to_string(&variant).ok());
        overrides.extend(name.map(|name| bm25("variant", name)));
        for text in &self.set {
            let (target, value) = parse_assignment(text, "--set")?;
            overrides.push(Override { value: value.to_owned(), ..target });
        }
        Ok(overrides)
    }
}

/// TOML writes `nan` in lower case.
fn as_toml(number: f64) -> String {
    format!("{number:?}").to_lowercase()
}

/// Accepts the names of some values, shows them in help and errors, and gives the value.
pub(crate) fn one_of<T>(names: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.iter().map(|(name, _)| *name)).try_map(|text| {
        names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or("no such name")
    })
}

pub(crate) fn analyzers() -> impl TypedValueParser<Value = Analyzer> {
    one_of(&[
        ("nltk", Analyzer::Nltk),
        ("english", Analyzer::English),
        ("lucene", Analyzer::Lucene),
    ])
}

fn variants() -> impl TypedValueParser<Value = Variant> {
    one_of(&[
        ("okapi", Variant::Okapi),
        ("lucene", Variant::Lucene),
        ("lucene-default", Variant::LuceneDefault),
        ("bm25plus", Variant::Plus),
        ("bm25l", Variant::L),
    ])
}

/// A name that may become part of a file name or a field of a run.
pub(crate) fn parse_name(text: &str) -> Result<Name, &'static str> {
    Name::new(text).map_err(|_| "expected a name of letters, digits, `-`, `_` and `.`")
}

/// `64M`, `1G`, `500000K` or plain bytes; decimal units.
fn parse_size(text: &str) -> Result<usize, String> {
    let (digits, unit) = match text.char_indices().next_back() {
        Some((end, 'K' | 'k')) => (&text[..end], 1_000),
        Some((end, 'M' | 'm')) => (&text[..end], 1_000_000),
        Some((end, 'G' | 'g')) => (&text[..end], 1_000_000_000),
        _ => (text, 1),
    };
    let size = digits.parse::<usize>().ok().and_then(|number| number.checked_mul(unit));
    size.filter(|&size| size > 0).ok_or_else(|| "expected a size such as 64M or 1G".to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64M"), Ok(64_000_000));
        assert_eq!(parse_size("123"), Ok(123));
        for bad in ["", "M", "0", "-1", "1T", "99999999999999999999G"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn sixteen_bits_are_for_processors_that_multiply_them() {
        let here = PrecisionName::Auto.resolve(IsaName::Auto, "cpu");
        assert_eq!(here == Precision::Bf16, Isa::multiplies_bf16());
        for (isa, device) in [(IsaName::Avx2, "cpu"), (IsaName::Auto, "cuda:0")] {
            assert_eq!(PrecisionName::Auto.resolve(isa, device), Precision::F32);
            assert_eq!(PrecisionName::Bf16.resolve(isa, device), Precision::Bf16);
        }
    }
}
