//! What does each run reach, topic by topic?

use crate::failure::Failure;
use crate::settings::Settings;
use clariq_corpus::{Labelled, Location, Problem, ProblemKind, Run, Source, TopicId, read_run};
use clariq_eval::{
    CUTOFFS, Measure, Qrels, RankedRun, Ties, diagnose, evaluate, exact_mean, parse_measures, question_relevance,
};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// A run and its figures.
pub(super) struct Scored {
    /// As it is shown.
    pub(super) name: String,
    /// As it was given.
    pub(super) path: String,
    /// All topics of the labels, in one order for all runs.
    pub(super) topics: Vec<TopicId>,
    /// For each measure, the figures of these topics.
    pub(super) columns: Vec<Vec<f64>>,
}

impl Scored {
    pub(super) fn mean(&self, measure: usize) -> f64 {
        exact_mean(self.columns[measure].iter().copied())
    }
}

/// The measures that runs are compared by.
pub(super) enum Measures {
    /// Recall at the depths of the challenge.
    Challenge(Ties),
    /// Any measures, as `trec_eval` computes them.
    Named(Vec<Box<dyn Measure>>, Ties),
}

impl Measures {
    pub(super) fn parse(names: &[String], ties: Option<&str>) -> Result<Self, Failure> {
        let by_id = ties.map_or(!names.is_empty(), |rule| rule == "id");
        let ties = if by_id { Ties::Id } else { Ties::Official };
        if names.is_empty() {
            return Ok(Self::Challenge(ties));
        }
        Ok(Self::Named(parse_measures(&names.join(" "))?, ties))
    }

    fn ties(&self) -> Ties {
        match self {
            Self::Challenge(ties) | Self::Named(_, ties) => *ties,
        }
    }

    /// All topics of the labels with the values of a run.
    fn scores(&self, run: &Run, labels: &Labelled) -> Result<Vec<(TopicId, Vec<f64>)>, Failure> {
        let (measures, ranked) = match self {
            Self::Challenge(ties) => {
                let scores = question_relevance(run, labels, *ties);
                return Ok(scores.topics.into_iter().map(|(topic, recalls)| (topic, recalls.to_vec())).collect());
            }
            Self::Named(measures, Ties::Official) => (measures, RankedRun::official(run)),
            Self::Named(measures, Ties::Id) => (measures, RankedRun::new(run)?),
        };
        Ok(evaluate(measures, &ranked, &Qrels::from(labels)).topics)
    }

    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Challenge(_) => CUTOFFS.iter().map(|cutoff| format!("R@{cutoff}")).collect(),
            Self::Named(measures, _) => measures.iter().map(|measure| measure.name()).collect(),
        }
    }

    /// The measure that topics are looked for by: the challenge ranked by recall at 30, everybody else says first what
    /// matters most.
    pub(super) fn focus(&self) -> usize {
        match self {
            Self::Challenge(_) => CUTOFFS.len() - 1,
            Self::Named(..) => 0,
        }
    }
}

/// File names without `.run` and `.gz`; whole paths where these are not unique.
pub(super) fn names(paths: &[PathBuf]) -> Vec<String> {
    let short = |path: &PathBuf| {
        let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
        let stem = name.strip_suffix(".gz").unwrap_or(&name);
        stem.strip_suffix(".run").unwrap_or(stem).to_owned()
    };
    let names: Vec<String> = paths.iter().map(short).collect();
    if names.iter().collect::<HashSet<_>>().len() == names.len() {
        return names;
    }
    paths.iter().map(|path| path.display().to_string()).collect()
}

pub(super) fn read(
    settings: &Settings,
    path: &Path,
    name: String,
    measures: &Measures,
    labels: &Labelled,
) -> Result<Scored, Failure> {
    let source = Source::new(path);
    let run = read_run(&source)?;
    answers_something(&source, &run, labels)?;
    warn(settings, &source, &run, measures.ties(), labels);
    let scores = measures.scores(&run, labels)?;
    let columns = (0..measures.names().len()).map(|place| scores.iter().map(|(_, values)| values[place]).collect());
    Ok(Scored {
        name,
        path: source.name(),
        columns: columns.collect(),
        topics: scores.into_iter().map(|(topic, _)| topic).collect(),
    })
}

/// A run of another split would be 0 everywhere, and everything else significantly better.
fn answers_something(source: &Source, run: &Run, labels: &Labelled) -> Result<(), Failure> {
    let known: HashSet<&TopicId> = labels.topics.iter().map(|topic| &topic.id).collect();
    if run.lines.iter().any(|line| known.contains(&line.topic)) {
        return Ok(());
    }
    let expected = format!("answers to topics of {}", labels.name);
    let found = match run.lines.first() {
        Some(line) => format!("other topics alone, such as `{}`", line.topic),
        None => "no line".to_owned(),
    };
    Err(Problem::new(Location::file(source.name()), ProblemKind::Argument, expected, found)
        .hint("--split names the labels, --data their folder: take those that the run was made for")
        .into())
}

fn warn(settings: &Settings, source: &Source, run: &Run, ties: Ties, labels: &Labelled) {
    let diagnosis = diagnose(run, labels.topics.iter().map(|topic| &topic.id), None);
    let dropped = if ties == Ties::Official { diagnosis.dropped_lines } else { 0 };
    let counts = [
        (dropped, "lines repeat a score of their topic and are dropped, as the official scorer does"),
        (diagnosis.missing_topics, "topics are not answered and count 0"),
        (diagnosis.unknown_topics, "topics are not in the labels and are not looked at"),
    ];
    for (count, what) in counts.iter().filter(|(count, _)| *count > 0) {
        settings.note(&format!("warning: {}: {count} {what}", source.name()));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_after_their_files_where_that_tells_them_apart() {
        let paths = |names: [&str; 2]| names.map(PathBuf::from);
        assert_eq!(names(&paths(["runs/bm25.dev.run", "old/dense.dev.run.gz"])), ["bm25.dev", "dense.dev"]);
        assert_eq!(names(&paths(["a/bm25.run", "b/bm25.run"])), ["a/bm25.run", "b/bm25.run"]);
    }
}
