//! What `compare`, `eval` and `report` ask of runs and measures alike.

mod ikat;

pub(crate) use ikat::IkatTurns;

use crate::failure::Failure;
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_core::{Error, Location, Problem, ProblemKind, Speaker, TopicId};
use clariq_eval::{Measure, MeasureError, Qrels, Ties, diagnose, parse_measures};
use clariq_files::{Run, Source};
use std::collections::{HashMap, HashSet};
use std::path::{Path, PathBuf};

/// The endings of runs: TREC runs, and what is handed in to iKAT.
const RUNS: [&str; 3] = [".run", ".json", ".jsonl"];

/// The name of a file without `.gz` and the ending of a run or need file.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let whole = name.strip_suffix(".gz").unwrap_or(&name);
    let mut endings = RUNS.iter().chain(&[".need"]);
    let stem = endings.find_map(|ending| whole.strip_suffix(ending));
    stem.unwrap_or(whole).to_owned()
}

/// The split that runs are scored against: the one that is named, or the usual one of their form.
/// Of iKAT, the labels of 2023 alone were released.
pub(crate) fn split_or_usual<'a>(named: Option<&'a str>, run: &Path) -> &'a str {
    let name = run.to_string_lossy();
    let name = name.strip_suffix(".gz").unwrap_or(&name);
    let is_submission = RUNS[1..].iter().any(|ending| name.ends_with(ending));
    named.unwrap_or(if is_submission { "2023-test" } else { "dev" })
}

/// What the user said last in every request of a split, by topic.
pub(crate) fn requests(
    collection: &dyn Collection,
    split: &str,
) -> Result<HashMap<TopicId, String>, Error> {
    let mut requests = HashMap::new();
    for request in collection.requests(split, collection.tasks()[0])? {
        let request = request?;
        let said = request.said.iter().rev().find(|said| said.speaker == Speaker::User);
        let text = said.map_or(String::new(), |said| said.text.clone());
        requests.insert(request.id.as_str().into(), text);
    }
    Ok(requests)
}

/// File names without their endings; whole paths where these are not unique.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| stem(path)).collect();
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

/// The same; without a name, those that users of `trec_eval` look at first.
pub(crate) fn measures_or_usual(names: &[String]) -> Result<Vec<Box<dyn Measure>>, Failure> {
    match names {
        [] => Ok(parse_measures("nDCG@10 AP RR P@10 R@30")?),
        names => measures(names),
    }
}

/// The judgements of a split, or the problem that there are none.
pub(crate) fn qrels(collection: &dyn Collection, split: &str, task: &str) -> Result<Qrels, Error> {
    collection.qrels(split, task)?.ok_or_else(|| {
        let at = Location::file(collection.location());
        let expected = format!("labels of {split}");
        Problem::new(at, ProblemKind::MissingFile, expected, "requests without labels")
            .hint("name a split with labels, or give judgements to `clariq eval --qrels`")
            .into()
    })
}

/// The first name that occurs twice.
fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

/// The topics that runs are scored on, and the file that they are of.
pub(crate) struct Topics {
    ids: HashSet<TopicId>,
    file: String,
}

impl Topics {
    pub(crate) fn new<'a>(file: impl Into<String>, ids: impl Iterator<Item = &'a TopicId>) -> Self {
        Self { ids: ids.cloned().collect(), file: file.into() }
    }

    /// A file of another split says nothing about these topics: it would be 0 everywhere, and
    /// everything else significantly better.
    pub(crate) fn check_answered<'a>(
        &self,
        source: &Source,
        mut answered: impl Iterator<Item = &'a TopicId>,
    ) -> Result<(), Problem> {
        let is_known = |topic: &TopicId| self.ids.contains(topic);
        let found = match answered.next() {
            Some(topic) if is_known(topic) || answered.any(is_known) => return Ok(()),
            Some(topic) => format!("other topics alone, such as `{topic}`"),
            None => "no line".to_owned(),
        };
        let expected = format!("answers to topics of {}", self.file);
        Err(Problem::new(Location::file(source.name()), ProblemKind::Argument, expected, found)
            .hint("--split names the labels, --data their folder: take those that the file was made for"))
    }

    /// Reports what the figures of a run pass over. Lines are dropped under the official scorer's
    /// tie rule alone.
    pub(crate) fn warn(&self, settings: &Settings, source: &Source, run: &Run, ties: Ties) {
        let diagnosis = diagnose(run, self.ids.iter(), None);
        let dropped = if ties == Ties::Official { diagnosis.dropped_lines } else { 0 };
        let counts = [
            (
                dropped,
                "lines repeat a score of their topic and are dropped, as the official scorer does",
            ),
            (diagnosis.missing_topics, "topics are not answered and count 0"),
            (diagnosis.unknown_topics, "topics are not in the labels and are not looked at"),
        ];
        warn(settings, source, &counts);
    }
}

fn warn(settings: &Settings, source: &Source, counts: &[(usize, &str)]) {
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
            names(&paths(["runs/bm25.dev.run", "old/dense.dev.run.gz"])),
            ["bm25.dev", "dense.dev"]
        );
        assert_eq!(names(&paths(["a/bm25.run", "b/bm25.run"])), ["a/bm25.run", "b/bm25.run"]);
        assert_eq!(names(&paths(["a.2023-test.json", "b.need"])), ["a.2023-test", "b"]);
    }

    #[test]
    fn the_usual_split_is_that_of_the_form_of_the_run() {
        let usual = |run: &str| split_or_usual(None, Path::new(run));
        assert_eq!(
            ["a.run", "a.json", "a.jsonl.gz", "-"].map(usual),
            ["dev", "2023-test", "2023-test", "dev"]
        );
        assert_eq!(split_or_usual(Some("2024"), Path::new("a.json")), "2024");
    }
}
