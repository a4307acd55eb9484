//! The arguments of `clariq need`.

use clap::{Args, Subcommand};
use clariq_need::MOST_REPEATS;
use std::path::PathBuf;

#[derive(Subcommand)]
pub(crate) enum NeedCommand {
    /// Train a model, report by cross-validation and on dev, and save it
    Train(NeedTrainArgs),
    /// Write the need file of a split
    Predict(NeedPredictArgs),
    /// Show which features drove the label of a request
    Explain(NeedExplainArgs),
}

#[derive(Args)]
pub(crate) struct NeedTrainArgs {
    /// System with a need model: the name of a built-in one, or a configuration file
    #[arg(value_name = "CONFIG")]
    pub(crate) config: String,
    /// Split that the model will be used for; for test, the key `train_on` is applied
    #[arg(long, default_value = "dev", value_name = "SPLIT")]
    pub(crate) split: String,
    /// Model file to write, as JSON [default: none, only the report]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Folds of the cross-validation over topics
    #[arg(long, value_name = "N", default_value_t = 10, value_parser = parse_folds)]
    pub(crate) folds: usize,
    /// Number of repetitions of the cross-validation with other folds
    #[arg(long, value_name = "N", default_value_t = 20, value_parser = parse_repeats)]
    pub(crate) repeats: usize,
}

#[derive(Args)]
pub(crate) struct NeedPredictArgs {
    /// Saved model (.json), configuration file, or name of a built-in system
    #[arg(value_name = "MODEL")]
    pub(crate) model: String,
    /// Split to predict
    #[arg(long, default_value = "dev", value_name = "SPLIT")]
    pub(crate) split: String,
    /// Need file to write; `-` for standard output
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    pub(crate) output: PathBuf,
}

#[derive(Args)]
pub(crate) struct NeedExplainArgs {
    /// Request of the user
    pub(crate) request: String,
    /// Saved model (.json), configuration file, or name of a built-in system
    #[arg(long, value_name = "MODEL", default_value = "bm25-tuned")]
    pub(crate) model: String,
    /// Number of features to print, strongest first
    #[arg(long, value_name = "N", default_value_t = 8)]
    pub(crate) top: usize,
}

/// The data say how many folds there can be; fewer than two are none.
fn parse_folds(text: &str) -> Result<usize, String> {
    text.parse().ok().filter(|folds| *folds >= 2).ok_or("expected at least 2 folds".to_owned())
}

fn parse_repeats(text: &str) -> Result<usize, String> {
    let repeats = text.parse().ok().filter(|repeats| (1..=MOST_REPEATS).contains(repeats));
    repeats.ok_or(format!("expected from 1 to {MOST_REPEATS} repeats"))
}
