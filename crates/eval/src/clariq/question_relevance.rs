//! `ClariQ`'s question relevance: recall of a topic's relevant questions at 5, 10, 20 and 30.

use crate::comparison::Column;
use crate::mean::exact_mean;
use crate::ties::{Ties, ordered_lines};
use crate::topics::sort_by_topic;
use clariq_collections::clariq::Labelled;
use clariq_core::{QuestionId, TopicId};
use clariq_files::{Run, RunLine};
use std::collections::HashSet;

/// The depths at which the challenge measures recall.
pub const CUTOFFS: [usize; 4] = [5, 10, 20, 30];

/// Recall per topic. Topics are in the order of the official scorer's output file: by number, or
/// by text where an id is not a number.
#[derive(Debug, Clone, PartialEq)]
pub struct QuestionRelevance {
    /// Each topic of the labels with its recall at each of [`CUTOFFS`].
    pub topics: Vec<(TopicId, [f64; 4])>,
}

impl QuestionRelevance {
    /// The means over topics, rounded once as Python's `statistics.mean` does.
    pub fn means(&self) -> [f64; 4] {
        std::array::from_fn(|cutoff| {
            exact_mean(self.topics.iter().map(|(_, recalls)| recalls[cutoff]))
        })
    }

    /// The values at each of [`CUTOFFS`], `R@5` to `R@30`.
    pub fn columns(&self) -> Vec<Column> {
        let columns = CUTOFFS.iter().enumerate().map(|(index, cutoff)| {
            let values = self.topics.iter().map(|(topic, recalls)| (topic.clone(), recalls[index]));
            Column::new("", format!("R@{cutoff}"), values.collect())
        });
        columns.collect()
    }
}

/// Recall@k = |relevant ∩ first k lines| / |relevant|.
///
/// A topic that the run does not answer counts 0, a topic without labels is left out. A question
/// with two lines among the first k counts once and takes two ranks.
pub fn question_relevance(run: &Run, labels: &Labelled, ties: Ties) -> QuestionRelevance {
    let mut lines = ordered_lines(run, ties);
    score_topics(labels, |topic, _| lines.remove(topic).unwrap_or_default())
}

/// Scores the lines that `ranking` gives for a topic and its relevant questions, best first.
pub(super) fn score_topics<'r>(
    labels: &Labelled,
    mut ranking: impl FnMut(&TopicId, &HashSet<QuestionId>) -> Vec<&'r RunLine>,
) -> QuestionRelevance {
    let mut topics = Vec::with_capacity(labels.topics.len());
    for (topic, relevant) in labels.topics.iter().zip(labels.relevant()) {
        let lines = ranking(&topic.id, &relevant);
        topics.push((topic.id.clone(), recalls(&lines, &relevant)));
    }
    sort_by_topic(&mut topics, |(topic, _)| topic.as_str());
    QuestionRelevance { topics }
}

/// The recall at each of [`CUTOFFS`], which ascend.
fn recalls(lines: &[&RunLine], relevant: &HashSet<QuestionId>) -> [f64; 4] {
    let mut found: Vec<&QuestionId> = Vec::new();
    let mut start = 0;
    CUTOFFS.map(|cutoff| {
        let end = cutoff.min(lines.len());
        for line in &lines[start..end] {
            if relevant.contains(&line.question) && !found.contains(&&line.question) {
                found.push(&line.question);
            }
        }
        start = end;
        found.len() as f64 / relevant.len() as f64
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::testing::labels;
    use crate::testing::run;
    use crate::{Qrels, RankedRun, evaluate, parse_measures};

    #[test]
    fn equal_scores_are_dropped_as_the_official_scorer_drops_them() {
        let labels = labels(&[("1", &["Q1", "Q2", "Q3", "Q4"])]);
        let run = run(&[("1", "Q9", 2.0), ("1", "Q1", 1.0), ("1", "Q2", 1.0), ("1", "Q3", 0.5)]);
        assert_eq!(question_relevance(&run, &labels, Ties::Official).means()[0], 0.5, "Q1 and Q3");
        assert_eq!(question_relevance(&run, &labels, Ties::Id).means()[0], 0.75);
    }

    #[test]
    fn zero_and_minus_zero_are_the_same_score() {
        let labels = labels(&[("1", &["Q1"])]);
        let run = run(&[("1", "Q1", -0.0), ("1", "Q2", 0.0)]);
        assert_eq!(
            question_relevance(&run, &labels, Ties::Official).means()[0],
            1.0,
            "the first line counts"
        );
    }

    #[test]
    fn missing_topics_count_zero_and_unknown_ones_nothing() {
        let labels = labels(&[("10", &["Q1"]), ("9", &["Q1"])]);
        let run = run(&[("10", "Q1", 1.0), ("77", "Q1", 1.0)]);
        let scores = question_relevance(&run, &labels, Ties::Official);
        assert_eq!(
            scores.topics.iter().map(|(id, _)| id.as_str()).collect::<Vec<_>>(),
            ["9", "10"]
        );
        assert_eq!(scores.means(), [0.5; 4]);
    }

    #[test]
    fn a_duplicate_counts_once_and_takes_two_places() {
        let labels = labels(&[("1", &["Q1", "Q2"])]);
        let lines: Vec<_> =
            [("Q1", 6.0), ("Q1", 5.0), ("Q7", 4.0), ("Q8", 3.0), ("Q9", 2.0), ("Q2", 1.0)]
                .map(|(question, score)| ("1", question, score))
                .to_vec();
        assert_eq!(
            question_relevance(&run(&lines), &labels, Ties::Official).means(),
            [0.5, 1.0, 1.0, 1.0]
        );
    }

    #[test]
    fn recall_is_that_of_the_measure_where_nothing_ties() {
        let labels = labels(&[("1", &["Q1", "Q2", "Q3"]), ("2", &["Q4"])]);
        let names: Vec<String> = (0..12).map(|n| format!("Q{n}")).collect();
        let scores = (0..12).map(|n| f64::from(n * 7 % 12));
        let lines: Vec<_> =
            names.iter().zip(scores).map(|(name, score)| ("1", name.as_str(), score)).collect();
        let run = run(&lines);
        let measures = parse_measures("Recall5 Recall10 Recall20 Recall30").unwrap();
        let scores = evaluate(&measures, &RankedRun::new(&run).unwrap(), &Qrels::from(&labels));
        assert_eq!(scores.means, question_relevance(&run, &labels, Ties::Official).means());
    }
}
