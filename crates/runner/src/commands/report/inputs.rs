//! Which runs and need files is a page made from, and do they fit its labels?

use crate::failure::Failure;
use crate::runs;
use crate::settings::Settings;
use clariq_collections::clariq::{Labelled, read_need_file};
use clariq_core::Problem;
use clariq_eval::Ties;
use clariq_experiment::record;
use clariq_files::{Source, read_run};
use clariq_report::{Entry, NeedEntry};
use serde_json::Value;
use std::path::{Path, PathBuf};

/// Reads the runs, in the order given.
pub(super) fn runs(
    settings: &Settings,
    paths: &[PathBuf],
    labels: &Labelled,
) -> Result<Vec<Entry>, Failure> {
    let names = names(paths, ".run", "RUN")?;
    paths.iter().zip(names).map(|(path, name)| entry(settings, path, name, labels)).collect()
}

fn entry(
    settings: &Settings,
    path: &Path,
    name: String,
    labels: &Labelled,
) -> Result<Entry, Failure> {
    let source = Source::new(path);
    let run = read_run(&source)?;
    runs::answers_something(&source, run.lines.iter().map(|line| &line.topic), labels)?;
    // The page says more; this cannot wait until somebody reads it.
    runs::warn(settings, &source, &run, Ties::Official, labels);
    let mut entry = Entry::new(name, run);
    if let Some(uses) = uses(path) {
        entry.uses = uses;
    } else if record::path_of(path).exists() {
        settings
            .note(&format!("warning: {}: the record beside it is of another run", path.display()));
    }
    Ok(entry)
}

/// Reads the need files, in the order given.
pub(super) fn needs(paths: &[PathBuf], labels: &Labelled) -> Result<Vec<NeedEntry>, Failure> {
    let names = names(paths, ".need", "--need")?;
    let read = |(path, name): (&PathBuf, String)| {
        let source = Source::new(path);
        let lines = read_need_file(&source)?;
        runs::answers_something(&source, lines.iter().map(|line| &line.topic), labels)?;
        Ok(NeedEntry { name, lines })
    };
    paths.iter().zip(names).map(read).collect()
}

/// What the files are called on the page.
fn names(paths: &[PathBuf], ending: &str, argument: &str) -> Result<Vec<String>, Problem> {
    runs::check_differ(paths, argument)?;
    Ok(runs::names(paths, ending))
}

/// What the record beside a run declares; `None` where there is none, or one of another run.
fn uses(run: &Path) -> Option<Vec<String>> {
    let record = record::read(run)?;
    let bytes = Source::new(run).read().ok()?.bytes;
    if record::contradicts(run, "run", &bytes) != Some(false) {
        return None;
    }
    Some(record["uses"].as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
