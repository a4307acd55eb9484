//! The tasks of `ClariQ`, scored as its official scorer does, digit for digit.

mod contexts;
mod documents;
mod full;
mod needs;
mod place;
mod questions;

pub(super) use contexts::contexts;
pub(super) use documents::documents;
pub(super) use needs::needs;
pub(super) use questions::questions;

use super::arguments::EvalArgs;
use super::origin;
use crate::failure::Failure;
use crate::output::{Cell, Sheet, print_all};
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_collections::clariq::{ClariQ, Split};
use clariq_core::Documents;
use clariq_experiment::record;
use clariq_files::Source;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// Opens the collection that a file is scored against. The records of `runs` may say that the file
/// is of another.
fn open(
    settings: &Settings,
    arguments: &EvalArgs,
    file: &Path,
    runs: &[PathBuf],
) -> Result<(ClariQ, Split), Failure> {
    let clariq = settings.clariq()?;
    let collection: &dyn Collection = &clariq;
    let name = collection.find_split(arguments.split_or_usual(file))?;
    origin::check(settings, collection, &clariq.bank as &dyn Documents, file, runs)?;
    let split = Split::named(name).unwrap_or(Split::Dev);
    Ok((clariq, split))
}

/// Whether a run has so many bytes that a second thread is worth its start.
fn is_large(run: &Path) -> bool {
    fs::metadata(run).is_ok_and(|metadata| metadata.len() > 1 << 20)
}

/// Does both, at the same time if there is much to do.
fn both<A: Send, B: Send>(
    much: bool,
    one: impl FnOnce() -> A + Send,
    other: impl FnOnce() -> B + Send,
) -> (A, B) {
    if much { rayon::join(one, other) } else { (one(), other()) }
}

fn leaderboard_row(figures: &[f64]) -> String {
    let figures: Vec<String> = figures.iter().map(|figure| format!("{figure:.4}")).collect();
    format!("| RANK | CREATOR | MODELNAME | {} |", figures.join(" | "))
}

/// The official scorer's lines, or a table if a format is asked for; after them the leaderboard.
fn print(
    settings: &Settings,
    figures: &[(String, f64)],
    placed: Option<Sheet>,
    line: impl Fn(&str, f64) -> String,
) -> Result<(), Failure> {
    if settings.format.is_none() {
        let mut out = io::stdout().lock();
        for (name, figure) in figures {
            writeln!(out, "{}", line(name, *figure))?;
        }
        drop(out);
        return match placed {
            Some(placed) => place::print_below(&placed),
            None => Ok(()),
        };
    }
    let mut sheet = Sheet::new(&["measure", "value"]);
    for (name, figure) in figures {
        sheet.row(vec![Cell::text(name), Cell::Figure(*figure, 6)]);
    }
    match placed {
        Some(placed) => {
            Ok(print_all(&[("scores", sheet), ("placement", placed)], settings.format)?)
        }
        None => Ok(sheet.print(settings.format)?),
    }
}

/// A file that its record does not know was left by a command that was interrupted.
fn warn_of_record(
    settings: &Settings,
    kind: &str,
    runs: &[PathBuf],
    file: &Source,
) -> Result<(), Failure> {
    let Source::Path(_) = file else { return Ok(()) };
    if !runs.iter().any(|run| record::path_of(run).exists()) {
        return Ok(());
    }
    let bytes = file.read()?.bytes;
    if runs.iter().find_map(|run| record::contradicts(run, kind, &bytes)) == Some(true) {
        settings.note(&format!(
            "warning: the record beside the {kind} is of another {kind}; was the command that wrote it interrupted?"
        ));
    }
    Ok(())
}
