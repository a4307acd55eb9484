//! `clariq convert`: an iKAT run in the form that evaluation tools read.

use crate::failure::{Failure, Outcome};
use clap::{Args, ValueEnum};
use clariq_collections::convert::convert_to_trec;
use clariq_files::{Source, Target};
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct ConvertRunArgs {
    /// iKAT submission (JSON; for 2025 JSON lines), plain or gzip; `-` for standard input
    #[arg(value_name = "RUN")]
    run: PathBuf,
    /// Output format
    #[arg(long, value_enum)]
    to: RunForm,
    /// File to write, compressed if its name ends in .gz
    #[arg(long, short, value_name = "FILE", default_value = "-")]
    output: PathBuf,
}

/// What `--to` accepts.
#[derive(Clone, Copy, ValueEnum)]
enum RunForm {
    /// The passages as a TREC run, as the track's official program writes them
    Trec,
}

pub(crate) fn convert_run(arguments: &ConvertRunArgs) -> Result<Outcome, Failure> {
    let source = Source::new(&arguments.run);
    match arguments.to {
        RunForm::Trec => convert_to_trec(&source, &Target::new(&arguments.output))?,
    }
    Ok(Outcome::Done)
}
