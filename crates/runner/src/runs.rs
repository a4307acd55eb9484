//! What `compare`, `eval` and `report` ask of runs and measures alike.

use crate::failure::Failure;
use crate::settings::Settings;
use clariq_collections::clariq::Labelled;
use clariq_core::{Error, Location, Problem, ProblemKind, TopicId};
use clariq_eval::{Measure, MeasureError, Ties, diagnose, parse_measures};
use clariq_files::{Run, Source};
use std::collections::HashSet;
use std::path::PathBuf;

/// File names without `ending` and `.gz`; whole paths where these are not unique.
pub(crate) fn names(paths: &[PathBuf], ending: &str) -> Vec<String> {
    let short = |path: &PathBuf| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        stem.strip_suffix(ending).unwrap_or(stem).to_owned()
    };
    let names: Vec<String> = paths.iter().map(short).collect();
    if repeated(&names).is_none() {
        return names;
    }
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// Refuses a file that is given twice, under whatever name: it would be compared with itself.
pub(crate) fn check_differ(paths: &[PathBuf], argument: &str) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    let file = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let Some(again) = paths.iter().find(|path| !seen.insert(file(path))) else { return Ok(()) };
    let (expected, found) = ("every file once", format!("`{}` twice", again.display()));
    Err(Problem::new(Location::file(argument), ProblemKind::Argument, expected, found)
        .hint("name each file once; --baseline says which run the others are compared with"))
}

/// The measures of a flag that is given once or more, each measure once.
pub(crate) fn measures(names: &[String]) -> Result<Vec<Box<dyn Measure>>, Failure> {
    let mut all = Vec::new();
    for text in names {
        let measures = parse_measures(text)?;
        if measures.is_empty() {
            return Err(MeasureError::Form { text: text.clone() }.into());
        }
        for measure in measures {
            if !all.contains(&measure) {
                all.push(measure);
            }
        }
    }
    Ok(all)
}

/// The first name that occurs twice.
fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

/// A file of another split says nothing about these labels: it would be 0 everywhere, and
/// everything else significantly better.
pub(crate) fn answers_something<'a>(
    source: &Source,
    mut topics: impl Iterator<Item = &'a TopicId>,
    labels: &Labelled,
) -> Result<(), Problem> {
    let known: HashSet<&TopicId> = labels.topics.iter().map(|topic| &topic.id).collect();
    let found = match topics.next() {
        Some(topic) if known.contains(topic) || topics.any(|topic| known.contains(topic)) => {
            return Ok(());
        }
        Some(topic) => format!("other topics alone, such as `{topic}`"),
        None => "no line".to_owned(),
    };
    let expected = format!("answers to topics of {}", labels.name);
    Err(Problem::new(Location::file(source.name()), ProblemKind::Argument, expected, found).hint(
        "--split names the labels, --data their folder: take those that the file was made for",
    ))
}

/// Says what the figures of a run pass over. Lines are dropped under the official scorer's tie rule
/// alone.
pub(crate) fn warn(settings: &Settings, source: &Source, run: &Run, ties: Ties, labels: &Labelled) {
    let diagnosis = diagnose(run, labels.topics.iter().map(|topic| &topic.id), None);
    let dropped = if ties == Ties::Official { diagnosis.dropped_lines } else { 0 };
    let counts = [
        (
            dropped,
            "lines repeat a score of their topic and are dropped, as the official scorer does",
        ),
        (diagnosis.missing_topics, "topics are not answered and count 0"),
        (diagnosis.unknown_topics, "topics are not in the labels and are not looked at"),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        settings.note(&format!("warning: {}: {count} {what}", source.name()));
    }
}

/// A document that occurs twice in a topic has two ranks for `trec_eval`, and one for the official
/// scorer. Where a command can read a run either way, the other one is mentioned.
pub(crate) fn or_official_ties(error: Error) -> Error {
    match error {
        Error::Problem(mut problem) if problem.kind == ProblemKind::DuplicateId => {
            problem.hint.push_str("; with --ties official the first line of each score counts");
            Error::Problem(problem)
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_after_their_files_where_that_tells_them_apart() {
        let paths = |names: [&str; 2]| names.map(PathBuf::from);
        assert_eq!(
            names(&paths(["runs/bm25.dev.run", "old/dense.dev.run.gz"]), ".run"),
            ["bm25.dev", "dense.dev"]
        );
        assert_eq!(
            names(&paths(["a/bm25.run", "b/bm25.run"]), ".run"),
            ["a/bm25.run", "b/bm25.run"]
        );
    }
}
