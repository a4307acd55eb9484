//! What can be asked of the command? Raw arguments, as clap reads them.

use crate::commands::{
    AskArgs, CompareArgs, EvalArgs, NeedCommand, OracleArgs, ReportArgs, SynthesizeArgs,
};
use clap::builder::{PossibleValuesParser, TypedValueParser};
use clap::{Args, Parser, Subcommand, ValueEnum};
use clariq_collections::clariq::Split;
use clariq_index::{Analyzer, Variant};
use std::path::PathBuf;

/// Baselines, rankings and scores for the ClariQ clarifying-question benchmark.
///
/// Without --data, commands work on data/clariq if that folder exists, and else on a small sample
/// collection that is part of the program. Results go to standard output, everything else to standard
/// error. Exit status: 0 success, 1 a check failed, 2 bad input or usage.
#[derive(Parser)]
#[command(name = "clariq", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    pub(crate) common: Common,
    #[command(subcommand)]
    pub(crate) command: Command,
}

/// Flags that every subcommand has.
#[derive(Args, Clone)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct Common {
    /// Folder with the ClariQ files [default: data/clariq if present, else the built-in sample]
    #[arg(
        long,
        global = true,
        value_name = "DIR",
        alias = "data_dir",
        help_heading = "Common options"
    )]
    pub(crate) data: Option<PathBuf>,
    /// Threads to use; results are the same with any number [default: one per core]
    #[arg(long, global = true, value_name = "N", help_heading = "Common options")]
    pub(crate) threads: Option<usize>,
    /// Seed of everything random but fine-tuning, whose recipe has its own
    #[arg(
        long,
        global = true,
        value_name = "N",
        default_value_t = 42,
        help_heading = "Common options"
    )]
    pub(crate) seed: u64,
    /// Where learned models are run: cpu, or cuda:0 with a CUDA build of libtorch
    #[arg(
        long,
        global = true,
        value_name = "DEVICE",
        default_value = "cpu",
        help_heading = "Common options"
    )]
    pub(crate) device: String,
    /// Numbers that learned models compute with; bf16 is faster on processors that multiply them, and less exact
    #[arg(long, global = true, value_enum, default_value = "f32", help_heading = "Common options")]
    pub(crate) precision: PrecisionName,
    /// How results are printed [default: table]
    #[arg(long, global = true, value_enum, help_heading = "Common options")]
    pub(crate) format: Option<Format>,
    /// Say more on standard error
    #[arg(short, long, global = true, conflicts_with = "quiet", help_heading = "Common options")]
    pub(crate) verbose: bool,
    /// Say nothing but errors on standard error
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) quiet: bool,
    /// The same as --quiet; with `eval -m`, the figures of every topic
    #[arg(short = 'q', global = true, conflicts_with = "verbose", help_heading = "Common options")]
    pub(crate) short_q: bool,
    /// Show no progress
    #[arg(long, global = true, help_heading = "Common options")]
    pub(crate) no_progress: bool,
}

/// What `--precision` accepts.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum PrecisionName {
    /// 32-bit floats
    F32,
    /// 16-bit floats with 8 bits of mantissa
    Bf16,
}

/// The forms in which a table can be printed.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Format {
    /// Aligned columns for a terminal
    Table,
    /// Tab-separated values with a header
    Tsv,
    /// A JSON array with an object per row
    Json,
    /// A Markdown table
    Md,
    /// A LaTeX table, for the package booktabs
    Latex,
}

#[derive(Subcommand)]
pub(crate) enum Command {
    /// Look at, check or download a data folder
    #[command(subcommand)]
    Data(DataCommand),
    /// Build or look at the index over the question bank
    #[command(subcommand)]
    Index(IndexCommand),
    /// Make the run file (and need file) of systems
    Run(RunArgs),
    /// Fine-tune the models that a system needs on train.tsv
    Train(TrainArgs),
    /// Train, apply and explain models of clarification need
    #[command(subcommand)]
    Need(NeedCommand),
    /// Try parameters of a system on a labelled split
    Tune(TuneArgs),
    /// Score a run or need file as the official scorer does
    Eval(EvalArgs),
    /// Compare runs: means, differences and which of them are significant
    Compare(CompareArgs),
    /// Write a page that shows runs side by side
    Report(ReportArgs),
    /// Make, score and check systems against their expected figures
    Reproduce(ReproduceArgs),
    /// Hold a conversation: should it ask back, and what?
    Ask(AskArgs),
    /// Make the run of an oracle that knows the evaluation table
    Oracle(OracleArgs),
    /// Show where the score of a question comes from
    Explain(ExplainArgs),
    /// Show what was found, what is wanted, and how to mend it
    Doctor,
}

#[derive(Subcommand)]
pub(crate) enum DataCommand {
    /// Name everything that is wrong with a data folder, all at once
    Check,
    /// Count topics, facets, questions, labels and words
    Stats,
    /// Download the released ClariQ files and verify them
    Fetch(FetchArgs),
    /// Write an evaluation table in another form: pickle or JSON lines
    Convert(ConvertArgs),
    /// Make multi-turn conversations of the rows of a labelled split
    Synthesize(SynthesizeArgs),
}

#[derive(Args)]
pub(crate) struct ConvertArgs {
    /// Table to read: .pkl, .pkl.gz, .pkl.tar.gz, the first piece .aa of a split archive, or .jsonl
    pub(crate) from: PathBuf,
    /// File to write: .jsonl or .pkl, or either with .gz
    pub(crate) to: PathBuf,
}

#[derive(Args)]
pub(crate) struct FetchArgs {
    /// Another place to get the files from: a URL, or a folder to copy from
    #[arg(long, value_name = "URL|DIR")]
    pub(crate) from: Option<String>,
    /// Also the archives with conversations and multi-turn evaluation tables (large)
    #[arg(long)]
    pub(crate) all: bool,
    /// Replace files that differ from the released ones
    #[arg(long)]
    pub(crate) force: bool,
}

#[derive(Subcommand)]
pub(crate) enum IndexCommand {
    /// Build the index, or say that it is there already
    Build(IndexArgs),
    /// Count questions, tokens and bytes
    Stats(IndexArgs),
}

#[derive(Args)]
pub(crate) struct IndexArgs {
    /// How texts become tokens
    #[arg(long, default_value = "nltk", value_parser = analyzers())]
    pub(crate) analyzer: Analyzer,
    /// Build even if the right index is there
    #[arg(long)]
    pub(crate) force: bool,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
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

impl IndexPlace {
    /// The place that is meant where nothing is named.
    #[cfg(feature = "bert")]
    pub(crate) fn usual() -> Self {
        Self { index: None, memory: 64_000_000 }
    }
}

#[derive(Args)]
pub(crate) struct TrainArgs {
    /// Systems or recipes: files, or names of built-in ones
    #[arg(required = true, value_name = "CONFIG")]
    pub(crate) configs: Vec<String>,
    /// Folder for the model, which must not exist [default: in the user's cache, by recipe and data]
    #[arg(long, short, value_name = "DIR")]
    pub(crate) output: Option<PathBuf>,
    /// Go on from the last checkpoint of the same training
    #[arg(long)]
    pub(crate) resume: bool,
    /// Train even if the same model is there already
    #[arg(long, conflicts_with = "resume")]
    pub(crate) force: bool,
}

#[derive(Args)]
pub(crate) struct RunArgs {
    /// Systems: configuration files, or names of built-in ones
    #[arg(required = true, value_name = "CONFIG")]
    pub(crate) configs: Vec<String>,
    /// Which requests are answered
    #[arg(long, default_value = "dev", value_parser = splits())]
    pub(crate) split: Split,
    /// Run file to write, with the need file and the record beside it; `-` for standard output
    /// [default: runs/<system>.<split>.run]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Conversations to answer in place of a split: a pickle, JSON lines or the human-generated table; `-` for standard
    /// input [default output: runs/<system>.<file>.run]
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    pub(crate) conversations: Option<PathBuf>,
    /// Go on where a run over conversations was interrupted
    #[arg(long)]
    pub(crate) resume: bool,
    /// Leave bad conversations out and count them
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Last field of every line [default: the system's name]
    #[arg(long, value_name = "NAME")]
    pub(crate) run_tag: Option<String>,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
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

#[derive(Args)]
pub(crate) struct TuneArgs {
    /// System: a configuration file, or the name of a built-in one
    #[arg(value_name = "CONFIG")]
    pub(crate) config: String,
    /// Labelled split to tune on
    #[arg(long, default_value = "train", value_parser = splits())]
    pub(crate) split: Split,
    /// A parameter and its values, as stage.key=value,value,…; may be given more than once
    #[arg(long = "grid", value_name = "STAGE.KEY=VALUES", required = true)]
    pub(crate) grid: Vec<String>,
    /// Recall depth to tune for
    #[arg(long, value_name = "K", default_value = "30", value_parser = ["5", "10", "20", "30"])]
    pub(crate) recall: String,
    /// Folds of the cross-validation over topics
    #[arg(long, value_name = "N", default_value_t = 5)]
    pub(crate) folds: usize,
    /// Rows to print, best first
    #[arg(long, value_name = "N", default_value_t = 10)]
    pub(crate) top: usize,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

#[derive(Args)]
pub(crate) struct ReproduceArgs {
    /// Systems: configuration files, or names of built-in ones [default: all built-in ones]
    #[arg(value_name = "NAME")]
    pub(crate) names: Vec<String>,
    /// Folder for the run files
    #[arg(long, value_name = "DIR", default_value = "runs")]
    pub(crate) runs: PathBuf,
    /// Only this split [default: every split with labels]
    #[arg(long, value_parser = splits())]
    pub(crate) split: Option<Split>,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

#[derive(Args)]
pub(crate) struct ExplainArgs {
    /// What the user asked
    pub(crate) request: String,
    /// The question whose score is explained
    #[arg(value_name = "QUESTION_ID")]
    pub(crate) question: String,
    /// System: a configuration file, or the name of a built-in one
    #[arg(long, value_name = "CONFIG", default_value = "bm25")]
    pub(crate) system: String,
    /// Split that the request is taken to be of: stages that look at other requests or at earlier labels need one
    #[arg(long, default_value = "dev", value_parser = splits())]
    pub(crate) split: Split,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

/// Accepts the names of some values, shows them in help and errors, and gives the value.
fn one_of<T>(names: &'static [(&'static str, T)]) -> impl TypedValueParser<Value = T>
where
    T: Copy + Send + Sync + 'static,
{
    PossibleValuesParser::new(names.iter().map(|(name, _)| *name)).try_map(|text| {
        names.iter().find(|(name, _)| *name == text).map(|(_, value)| *value).ok_or("no such name")
    })
}

pub(crate) fn splits() -> impl TypedValueParser<Value = Split> {
    one_of(&[("train", Split::Train), ("dev", Split::Dev), ("test", Split::Test)])
}

fn analyzers() -> impl TypedValueParser<Value = Analyzer> {
    one_of(&[("nltk", Analyzer::Nltk), ("english", Analyzer::English)])
}

fn variants() -> impl TypedValueParser<Value = Variant> {
    one_of(&[
        ("okapi", Variant::Okapi),
        ("lucene", Variant::Lucene),
        ("bm25plus", Variant::Plus),
        ("bm25l", Variant::L),
    ])
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
    use clap::CommandFactory;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }

    #[test]
    fn sizes() {
        assert_eq!(parse_size("64M"), Ok(64_000_000));
        assert_eq!(parse_size("123"), Ok(123));
        for bad in ["", "M", "0", "-1", "1T", "99999999999999999999G"] {
            assert!(parse_size(bad).is_err(), "{bad}");
        }
    }
}
