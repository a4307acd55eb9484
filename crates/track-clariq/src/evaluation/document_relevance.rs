//! `ClariQ`'s document relevance: the quality of the documents retrieved after the first question and
//! its answer.
//!
//! The scores of every candidate question were computed once, by retrieving documents with the
//! question and its answer, and released as a table. The official scorer looks up the question
//! that a run puts first.

use crate::splits;
use crate::{BEST, ContextId, EvalTable, Labelled, WORST};
use clariq_collections::Split;
use clariq_core::{DocId, RequestId};
use clariq_eval::Score;
use clariq_files::Run;
use std::collections::{HashMap, HashSet};

/// The document relevance of a run, with counts for warnings.
#[derive(Debug, Clone, PartialEq)]
pub struct DocumentRelevance {
    /// All metrics of the table, in its order, with the contexts in its order.
    pub metrics: Vec<Score>,
    /// Topics or contexts whose highest score occurs on more than one line. The last of these lines
    /// counts here; the official scorer's unstable sort leaves it open.
    pub tied: usize,
    /// Contexts that the run does not answer; each counts 0.
    pub missing: usize,
    /// Contexts whose question is not a candidate; each counts as the worst one.
    pub not_candidates: usize,
}

/// The name of the table with the scores of a split. As in the official scorer, the table called
/// train has the dev facets, too.
pub fn table_stem(split: Split, multi_turn: bool) -> String {
    if multi_turn {
        return format!("multi_turn_{split}_eval");
    }
    let of_test = split == splits::TEST;
    if of_test { "single_turn_test_eval" } else { "single_turn_train_eval" }.to_owned()
}

/// Scores a single-turn run: contexts are the facets of `labels`, answered by their topic's first
/// question.
pub fn document_relevance(run: &Run, table: &EvalTable, labels: &Labelled) -> DocumentRelevance {
    let topics: HashMap<&str, &RequestId> = labels
        .facets
        .iter()
        .map(|facet| (facet.id.as_str(), &labels.topics[facet.topic].id))
        .collect();
    score(run, table, |context| match context {
        ContextId::Facet(facet) => topics.get(facet.as_str()).map(|topic| (*topic).clone()),
        ContextId::Number(_) => None,
    })
}

/// Scores a multi-turn run: contexts are numbers, and the run's first field names them.
pub fn multi_turn_document_relevance(run: &Run, table: &EvalTable) -> DocumentRelevance {
    score(run, table, |context| Some(context.to_string().as_str().into()))
}

/// `answered_by` returns the topic of the run that answers a context; `None` leaves the context out.
fn score(
    run: &Run,
    table: &EvalTable,
    answered_by: impl Fn(&ContextId) -> Option<RequestId>,
) -> DocumentRelevance {
    let first = first_questions(run);
    let mut missing = HashSet::new();
    let mut not_candidates = HashSet::new();
    let mut metrics = Vec::new();
    for metric in table.metrics() {
        let mut values = Vec::with_capacity(metric.contexts().len());
        for (id, context) in metric.contexts() {
            let Some(topic) = answered_by(id) else { continue };
            let id = RequestId::from(id.to_string().as_str());
            let question = first.get(topic.as_str()).map(|first| first.question.as_str());
            // A run cannot get the best score by writing `MAX`.
            let candidate = question.filter(|question| *question != BEST).unwrap_or(WORST);
            let value = question.and_then(|_| context.score(candidate)).unwrap_or_else(|| {
                let counted = if question.is_some() { &mut not_candidates } else { &mut missing };
                counted.insert(id.clone());
                question.and_then(|_| context.score(WORST)).unwrap_or(0.0)
            });
            values.push((id, value));
        }
        let score = Score::new("", metric.name, Vec::new());
        metrics.push(Score { values, unit: "facet", ..score });
    }
    DocumentRelevance {
        metrics,
        tied: first.values().filter(|first| first.tied).count(),
        missing: missing.len(),
        not_candidates: not_candidates.len(),
    }
}

/// The first question of a topic.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct FirstQuestion<'r> {
    pub(super) question: &'r DocId,
    score: f64,
    /// True if other lines have the same score.
    pub(super) tied: bool,
}

/// The question with the highest score of each topic, and among equals the last in the file, as if
/// the official scorer's sort were stable.
pub(super) fn first_questions(run: &Run) -> HashMap<&str, FirstQuestion<'_>> {
    let mut first: HashMap<&str, FirstQuestion> = HashMap::new();
    for line in &run.lines {
        let own = FirstQuestion { question: &line.document, score: line.score, tied: false };
        first
            .entry(line.topic.as_str())
            .and_modify(|best| {
                if own.score >= best.score {
                    *best = FirstQuestion { tied: own.score <= best.score, ..own };
                }
            })
            .or_insert(own);
    }
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::tests::{labels, run, table};

    fn evaluated(lines: &[(&str, &str, f64)]) -> (Vec<f64>, DocumentRelevance) {
        let labels = labels(&[("1", &["Q1"]), ("2", &["Q2"])]);
        let table = table(&[
            ("F0".into(), &[("Q1", 0.5), ("MIN", 0.1), ("MAX", 0.9)]),
            ("F1".into(), &[("Q2", 0.4), ("MIN", 0.2), ("MAX", 0.8)]),
        ]);
        let scores = document_relevance(&run(lines), &table, &labels);
        (scores.metrics[0].values.iter().map(|(_, value)| *value).collect(), scores)
    }

    #[test]
    fn the_question_with_the_highest_score_counts_and_the_last_of_equals() {
        let (found, scores) =
            evaluated(&[("1", "Q9", 1.0), ("1", "Q1", 1.0), ("2", "Q2", 2.0), ("2", "Q9", 1.0)]);
        assert_eq!(found, [0.5, 0.4]);
        assert_eq!((scores.tied, scores.missing, scores.not_candidates), (1, 0, 0));
    }

    #[test]
    fn an_unknown_question_scores_the_worst_and_a_missing_topic_0() {
        let (found, scores) = evaluated(&[("1", "Q77", 1.0)]);
        assert_eq!(found, [0.1, 0.0]);
        assert_eq!((scores.missing, scores.not_candidates), (1, 1));
    }

    #[test]
    fn a_run_that_writes_min_or_max_gets_the_minimum() {
        assert_eq!(evaluated(&[("1", "MAX", 1.0), ("2", "MIN", 1.0)]).0, [0.1, 0.2]);
    }
}
