//! Which runs and need files is a page made from, and do they fit its labels?

use crate::failure::Failure;
use crate::record;
use crate::settings::Settings;
use clariq_corpus::{Labelled, Location, Problem, ProblemKind, Run, Source, TopicId, read_need_file, read_run};
use clariq_eval::diagnose;
use clariq_report::{Entry, NeedEntry};
use serde_json::Value;
use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

/// Reads the runs, in the order given.
pub(super) fn runs(settings: &Settings, paths: &[PathBuf], labels: &Labelled) -> Result<Vec<Entry>, Failure> {
    let names = names(paths, ".run", "RUN")?;
    paths.iter().zip(names).map(|(path, name)| entry(settings, path, name, labels)).collect()
}

fn entry(settings: &Settings, path: &Path, name: String, labels: &Labelled) -> Result<Entry, Failure> {
    let source = Source::new(path);
    let run = read_run(&source)?;
    answers_something(&source, run.lines.iter().map(|line| &line.topic), labels)?;
    warn(settings, &source, &run, labels);
    let mut entry = Entry::new(name, run);
    if let Some(uses) = uses(path) {
        entry.uses = uses;
    } else if record::path_of(path).exists() {
        settings.note(&format!("warning: {}: the record beside it is of another run", path.display()));
    }
    Ok(entry)
}

/// The page says more; this cannot wait until somebody reads it.
fn warn(settings: &Settings, source: &Source, run: &Run, labels: &Labelled) {
    let diagnosis = diagnose(run, labels.topics.iter().map(|topic| &topic.id), None);
    let counts = [
        (diagnosis.dropped_lines, "lines repeat a score of their topic and are dropped, as the official scorer does"),
        (diagnosis.missing_topics, "topics are not answered and count 0"),
        (diagnosis.unknown_topics, "topics are not in the labels and are not looked at"),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        settings.note(&format!("warning: {}: {count} {what}", source.name()));
    }
}

/// Reads the need files, in the order given.
pub(super) fn needs(paths: &[PathBuf], labels: &Labelled) -> Result<Vec<NeedEntry>, Failure> {
    let names = names(paths, ".need", "--need")?;
    let read = |(path, name): (&PathBuf, String)| {
        let source = Source::new(path);
        let lines = read_need_file(&source)?;
        answers_something(&source, lines.iter().map(|line| &line.topic), labels)?;
        Ok(NeedEntry { name, lines })
    };
    paths.iter().zip(names).map(read).collect()
}

/// File names without their ending; whole paths where these are not unique.
fn names(paths: &[PathBuf], ending: &str, argument: &str) -> Result<Vec<String>, Problem> {
    let short = |path: &PathBuf| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        stem.strip_suffix(ending).unwrap_or(stem).to_owned()
    };
    let names: Vec<String> = paths.iter().map(short).collect();
    if repeated(&names).is_none() {
        return Ok(names);
    }
    let names: Vec<String> = paths.iter().map(|path| path.display().to_string()).collect();
    match repeated(&names) {
        Some(name) => {
            let at = Location::file(argument);
            let problem = Problem::new(at, ProblemKind::Argument, "every file once", format!("`{name}` twice"));
            Err(problem.hint("name each file once; --baseline says which run the others are compared with"))
        }
        None => Ok(names),
    }
}

fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

/// A file of another split says nothing about these labels.
fn answers_something<'a>(
    source: &Source,
    mut topics: impl Iterator<Item = &'a TopicId>,
    labels: &Labelled,
) -> Result<(), Problem> {
    let known: HashSet<&TopicId> = labels.topics.iter().map(|topic| &topic.id).collect();
    let found = match topics.next() {
        Some(topic) if known.contains(topic) || topics.any(|topic| known.contains(topic)) => return Ok(()),
        Some(topic) => format!("other topics alone, such as `{topic}`"),
        None => "no line".to_owned(),
    };
    let expected = format!("answers to topics of {}", labels.name);
    Err(Problem::new(Location::file(source.name()), ProblemKind::Argument, expected, found)
        .hint("--split names the labels, --data their folder: take those that the file was made for"))
}

/// What the record beside a run declares; `None` where there is none, or one of another run.
fn uses(run: &Path) -> Option<Vec<String>> {
    let text = fs::read_to_string(record::path_of(run)).ok()?;
    let bytes = Source::new(run).read().ok()?.bytes;
    if record::contradicts(run, "run", &bytes) != Some(false) {
        return None;
    }
    let record: Value = serde_json::from_str(&text).ok()?;
    Some(record["uses"].as_array()?.iter().filter_map(Value::as_str).map(str::to_owned).collect())
}
