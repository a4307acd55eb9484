//! `clariq data convert`: an evaluation table in another form.

use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::clariq::EvalTable;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::{Source, Target};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct ConvertArgs {
    /// Table to read: .pkl, .pkl.gz, .pkl.tar.gz, the first piece .aa of a split archive, or .jsonl
    pub(crate) from: PathBuf,
    /// File to write: .jsonl or .pkl, or either with .gz
    pub(crate) to: PathBuf,
}

pub(crate) fn convert(settings: &Settings, arguments: &ConvertArgs) -> Result<Outcome, Failure> {
    let table = read(&arguments.from)?;
    let target = Target::new(&arguments.to);
    if is(&arguments.to, "jsonl") {
        table.write_jsonl(&target)?;
    } else if is(&arguments.to, "pkl") {
        table.write_pickle(&target)?;
    } else {
        let at = Location::file(arguments.to.display().to_string());
        let expected = "a name that ends in .jsonl or .pkl, or either with .gz";
        let problem = Problem::new(at, ProblemKind::Argument, expected, "another ending");
        return Err(problem.hint("the ending says which form is written").into());
    }
    let mut sheet = Sheet::new(&["metric", "contexts"]);
    for metric in table.metrics().filter_map(|name| table.metric(name)) {
        sheet.row(vec![Cell::text(metric.name()), Cell::count(metric.len())]);
    }
    if target != Target::Stdout {
        sheet.print(settings.format)?;
    }
    Ok(Outcome::Done)
}

fn read(path: &Path) -> Result<EvalTable, Failure> {
    if is(path, "jsonl") {
        return Ok(EvalTable::read_jsonl(&Source::new(path))?);
    }
    Ok(EvalTable::read(&pieces(path).into_iter().map(Source::new).collect::<Vec<_>>())?)
}

/// Whether a name ends in `.ending` or `.ending.gz`.
pub(super) fn is(path: &Path, ending: &str) -> bool {
    let name = path.to_string_lossy();
    name.strip_suffix(".gz").unwrap_or(&name).ends_with(&format!(".{ending}"))
}

/// `….aa` means all pieces, named as by `split`; any other file is whole.
fn pieces(path: &Path) -> Vec<PathBuf> {
    let name = path.to_string_lossy();
    let Some(stem) = name.strip_suffix(".aa") else { return vec![path.to_owned()] };
    let letters = || ('a'..='z').map(String::from);
    let suffixes =
        letters().flat_map(|first| letters().map(move |second| format!("{first}{second}")));
    let paths = suffixes.map(|suffix| PathBuf::from(format!("{stem}.{suffix}")));
    let mut pieces: Vec<PathBuf> = paths.take_while(|path| path.exists()).collect();
    if pieces.is_empty() {
        // Let the reader say that it is missing.
        pieces.push(path.to_owned());
    }
    pieces
}
