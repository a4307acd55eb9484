//! The questions of every run for every topic with their relevance, as the official scorer reads
//! them.

use super::ClariqPage;
use crate::request::PageRun;
use clariq_core::DocId;
use clariq_eval::{Score, Ties, exact_mean, ordered_lines, sort_by_topic};
use clariq_files::Run;
use clariq_track_clariq::evaluation::question_relevance;
use clariq_track_clariq::{Labelled, LabelledTopic};
use std::collections::{BTreeSet, HashSet};

/// The depth of the lists shown: the largest depth that the challenge measures.
pub(crate) const DEPTH: usize = 30;

/// A topic and its relevant questions.
pub(crate) struct JudgedTopic<'a> {
    pub(crate) topic: &'a LabelledTopic,
    pub(crate) relevant: BTreeSet<DocId>,
}

/// A run, read as the official scorer reads it.
pub(crate) struct OfficialRun<'a> {
    pub(crate) shown: &'a PageRun,
    /// The first questions of every topic, in the order of [`JudgedRuns::topics`].
    pub(crate) lists: Vec<Vec<&'a DocId>>,
    /// Its recall at the depths of the official scorer.
    pub(crate) scores: Vec<Score>,
    /// Mean recall at depth 1, 2, … [`DEPTH`].
    pub(crate) curve: Vec<f64>,
}

/// All topics and all runs.
pub(crate) struct JudgedRuns<'a> {
    /// In the official scorer's order.
    pub(crate) topics: Vec<JudgedTopic<'a>>,
    pub(crate) runs: Vec<OfficialRun<'a>>,
}

impl<'a> JudgedRuns<'a> {
    pub(crate) fn new(comparison: &ClariqPage<'a>) -> Self {
        let labels = comparison.labels;
        let topics = labels.topics.iter().zip(labels.relevant());
        let judged = |(topic, relevant): (&'a LabelledTopic, HashSet<DocId>)| JudgedTopic {
            topic,
            relevant: relevant.into_iter().collect(),
        };
        let mut topics: Vec<JudgedTopic> = topics.map(judged).collect();
        sort_by_topic(&mut topics, |judged| judged.topic.id.as_str());
        let runs = comparison.request.runs.iter().zip(comparison.runs);
        let runs = runs.map(|(shown, run)| score(shown, run, labels, &topics)).collect();
        Self { topics, runs }
    }
}

fn score<'a>(
    shown: &'a PageRun,
    run: &'a Run,
    labels: &Labelled,
    topics: &[JudgedTopic],
) -> OfficialRun<'a> {
    let scores = question_relevance(run, labels, Ties::Official);
    let mut lines = ordered_lines(run, Ties::Official);
    let mut first = |judged: &JudgedTopic| -> Vec<&'a DocId> {
        let lines = lines.remove(&judged.topic.id).unwrap_or_default();
        lines.into_iter().take(DEPTH).map(|line| &line.document).collect()
    };
    let lists: Vec<Vec<&DocId>> = topics.iter().map(&mut first).collect();
    let curves: Vec<Vec<f64>> = topics
        .iter()
        .zip(&lists)
        .map(|(judged, list)| recall_curve(list, &judged.relevant))
        .collect();
    let curve =
        (0..DEPTH).map(|depth| exact_mean(curves.iter().map(|curve| curve[depth]))).collect();
    OfficialRun { shown, lists, scores, curve }
}

/// Recall at depth 1, 2, … of one topic.
fn recall_curve(list: &[&DocId], relevant: &BTreeSet<DocId>) -> Vec<f64> {
    let mut found: HashSet<&DocId> = HashSet::new();
    (0..DEPTH)
        .map(|depth| {
            found.extend(list.get(depth).copied().filter(|question| relevant.contains(*question)));
            found.len() as f64 / relevant.len() as f64
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::tests::Small;
    use clariq_track_clariq::evaluation::CUTOFFS;

    #[test]
    fn the_curve_goes_through_the_official_figures() {
        let tied = [
            ("1", "Q9", 2.0),
            ("1", "Q1", 1.0),
            ("1", "Q2", 1.0),
            ("1", "Q3", 0.5),
            ("2", "Q5", 1.0),
        ];
        let small =
            Small::new(&[("tied", &tied), ("again", &[("1", "Q1", 3.0), ("1", "Q1", 2.0)])]);
        for run in JudgedRuns::new(&small.comparison()).runs {
            let recalls: Vec<f64> = run.scores.iter().map(Score::value).collect();
            let on_curve = CUTOFFS.map(|cutoff| run.curve[cutoff - 1]);
            assert_eq!(recalls, on_curve, "{}", run.shown.name);
        }
    }

    #[test]
    fn of_equal_scores_the_first_line_stays() {
        let lines = [
            ("1", "Q1", 1.0),
            ("1", "Q2", 2.0),
            ("1", "Q3", 1.0),
            ("1", "Q4", -0.0),
            ("1", "Q5", 0.0),
        ];
        let small = Small::new(&[("run", &lines)]);
        let lists = &JudgedRuns::new(&small.comparison()).runs[0].lists;
        let first: Vec<_> = lists[0].iter().map(|question| question.as_str()).collect();
        assert_eq!(first, ["Q2", "Q1", "Q4"]);
    }
}
