//! The figures of each run, topic by topic.

use crate::failure::Failure;
use crate::runs;
use crate::settings::Settings;
use clariq_collections::clariq::Labelled;
use clariq_core::TopicId;
use clariq_eval::{
    CUTOFFS, Measure, Qrels, RankedRun, Ties, evaluate, exact_mean, question_relevance,
};
use clariq_files::{Run, Source, read_run};
use std::path::Path;

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
        Ok(Self::Named(runs::measures(names)?, ties))
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
                return Ok(scores
                    .topics
                    .into_iter()
                    .map(|(topic, recalls)| (topic, recalls.to_vec()))
                    .collect());
            }
            Self::Named(measures, Ties::Official) => (measures, RankedRun::official(run)),
            Self::Named(measures, Ties::Id) => {
                (measures, RankedRun::new(run).map_err(runs::or_official_ties)?)
            }
        };
        Ok(evaluate(measures, &ranked, &Qrels::from(labels)).topics)
    }

    pub(super) fn names(&self) -> Vec<String> {
        match self {
            Self::Challenge(_) => CUTOFFS.iter().map(|cutoff| format!("R@{cutoff}")).collect(),
            Self::Named(measures, _) => measures.iter().map(|measure| measure.name()).collect(),
        }
    }

    /// The measure that topics are looked for by: the challenge ranked by recall at 30, everybody
    /// else says first what matters most.
    pub(super) fn focus(&self) -> usize {
        match self {
            Self::Challenge(_) => CUTOFFS.len() - 1,
            Self::Named(..) => 0,
        }
    }
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
    runs::answers_something(&source, run.lines.iter().map(|line| &line.topic), labels)?;
    runs::warn(settings, &source, &run, measures.ties(), labels);
    let scores = measures.scores(&run, labels)?;
    let columns = (0..measures.names().len())
        .map(|place| scores.iter().map(|(_, values)| values[place]).collect());
    Ok(Scored {
        name,
        path: source.name(),
        columns: columns.collect(),
        topics: scores.into_iter().map(|(topic, _)| topic).collect(),
    })
}
