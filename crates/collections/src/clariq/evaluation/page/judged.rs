//! The questions of every run for every topic with their relevance, as the official scorer reads
//! them.

use super::{Comparison, Entry};
use crate::clariq::Topic;
use crate::clariq::evaluation::{CUTOFFS, QuestionRelevance, question_relevance};
use clariq_core::QuestionId;
use clariq_eval::{Ties, exact_mean, ordered_lines};
use clariq_files::Run;
use std::collections::{BTreeSet, HashMap, HashSet};

/// The depth of the lists shown: the largest depth that the challenge measures.
pub(crate) const DEPTH: usize = 30;

/// A topic and its relevant questions.
pub(crate) struct JudgedTopic<'a> {
    pub(crate) topic: &'a Topic,
    pub(crate) relevant: BTreeSet<QuestionId>,
}

/// A run, read as the official scorer reads it.
pub(crate) struct Scored<'a> {
    pub(crate) entry: &'a Entry,
    /// The first questions of every topic, in the order of [`Judged::topics`].
    pub(crate) lists: Vec<Vec<&'a QuestionId>>,
    pub(crate) scores: QuestionRelevance,
    pub(crate) means: [f64; 4],
    /// Mean recall at depth 1, 2, … [`DEPTH`].
    pub(crate) curve: Vec<f64>,
}

/// All topics and all runs.
pub(crate) struct Judged<'a> {
    /// In the official scorer's order.
    pub(crate) topics: Vec<JudgedTopic<'a>>,
    pub(crate) runs: Vec<Scored<'a>>,
}

impl<'a> Judged<'a> {
    pub(crate) fn new(comparison: &Comparison<'a>) -> Self {
        let labels = comparison.labels;
        let scores: Vec<QuestionRelevance> = comparison
            .runs
            .iter()
            .map(|entry| question_relevance(&entry.run, labels, Ties::Official))
            .collect();
        let mut judged: HashMap<&str, JudgedTopic> = labels
            .topics
            .iter()
            .zip(labels.relevant())
            .map(|(topic, relevant)| {
                (topic.id.as_str(), JudgedTopic { topic, relevant: relevant.into_iter().collect() })
            })
            .collect();
        let order = scores.first().map_or(&[][..], |scores| &scores.topics);
        let topics: Vec<_> =
            order.iter().filter_map(|(topic, _)| judged.remove(topic.as_str())).collect();
        let runs = comparison
            .runs
            .iter()
            .zip(scores)
            .map(|(entry, scores)| score(entry, scores, &topics))
            .collect();
        Self { topics, runs }
    }
}

impl Scored<'_> {
    /// The recall of a topic at the last of [`CUTOFFS`].
    pub(crate) fn deepest(&self, topic: usize) -> f64 {
        self.scores.topics[topic].1[CUTOFFS.len() - 1]
    }
}

fn score<'a>(entry: &'a Entry, scores: QuestionRelevance, topics: &[JudgedTopic]) -> Scored<'a> {
    let mut lists = first_questions(&entry.run);
    let lists: Vec<Vec<&QuestionId>> = topics
        .iter()
        .map(|judged| lists.remove(judged.topic.id.as_str()).unwrap_or_default())
        .collect();
    let curves: Vec<Vec<f64>> = topics
        .iter()
        .zip(&lists)
        .map(|(judged, list)| recall_curve(list, &judged.relevant))
        .collect();
    let curve =
        (0..DEPTH).map(|depth| exact_mean(curves.iter().map(|curve| curve[depth]))).collect();
    Scored { entry, lists, means: scores.means(), scores, curve }
}

/// The first questions of each topic under the official tie rule.
fn first_questions(run: &Run) -> HashMap<&str, Vec<&QuestionId>> {
    let topics = ordered_lines(run, Ties::Official).into_iter();
    topics
        .map(|(topic, lines)| {
            (topic.as_str(), lines.into_iter().take(DEPTH).map(|line| &line.question).collect())
        })
        .collect()
}

/// Recall at depth 1, 2, … of one topic.
fn recall_curve(list: &[&QuestionId], relevant: &BTreeSet<QuestionId>) -> Vec<f64> {
    let mut found: HashSet<&QuestionId> = HashSet::new();
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
    use crate::clariq::evaluation::tests::{Small, run};

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
        for run in Judged::new(&small.comparison()).runs {
            assert_eq!(
                CUTOFFS.map(|cutoff| run.curve[cutoff - 1]),
                run.means,
                "{}",
                run.entry.name
            );
        }
    }

    #[test]
    fn of_equal_scores_the_first_line_stays() {
        let run = run(&[
            ("1", "Q1", 1.0),
            ("1", "Q2", 2.0),
            ("1", "Q3", 1.0),
            ("1", "Q4", -0.0),
            ("1", "Q5", 0.0),
        ]);
        let first: Vec<_> =
            first_questions(&run)["1"].iter().map(|question| question.as_str()).collect();
        assert_eq!(first, ["Q2", "Q1", "Q4"]);
    }
}
