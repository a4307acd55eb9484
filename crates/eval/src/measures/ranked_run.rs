//! A run in the order in which measures read it.

use super::{Measure, Qrels};
use crate::ties::{Favour, Ties, lines_by_topic, ordered_lines, single, sort_with_favour};
use clariq_core::{DocId, RequestId};
use clariq_files::{Run, RunLine};
use std::collections::{HashMap, HashSet};

/// A run as `trec_eval` reads it: the documents of each topic by score and id, both descending.
///
/// The ranks of the file and the order of its lines are ignored. Scores are compared in single
/// precision, as by `trec_eval` 9, unless [`Ties::IdDouble`] is given. Runs that `clariq` writes
/// have the same order in both, see [`strictly_decreasing`](clariq_files::strictly_decreasing).
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct RankedRun {
    topics: HashMap<RequestId, Vec<DocId>>,
    /// The number of documents for a topic that its system might have ranked, if a record says it.
    depth: Option<usize>,
}

impl RankedRun {
    /// Orders a run. If a document has several lines in a topic, the best one counts; `trec_eval`
    /// refuses such a run.
    pub fn new(run: &Run) -> Self {
        Self::ordered(run, Ties::Id)
    }

    /// Orders a run; equal scores are ordered by the rule `ties`.
    pub fn ordered(run: &Run, ties: Ties) -> Self {
        Self::of_lines(ordered_lines(run, ties))
    }

    /// Orders a run, with equal scores in the order that is best or worst for it by a measure.
    pub fn with_ties(run: &Run, qrels: &Qrels, measure: &Measure, favour: Favour) -> Self {
        let mut topics = lines_by_topic(run);
        for (topic, lines) in &mut topics {
            let judgements = qrels.topic(topic);
            let worth = |document: &DocId| {
                measure.worth(judgements.and_then(|judgements| judgements.grade(document)))
            };
            sort_with_favour(lines, single, worth, favour);
        }
        Self::of_lines(topics)
    }

    fn of_lines(topics: HashMap<&RequestId, Vec<&RunLine>>) -> Self {
        let mut ranked = HashMap::with_capacity(topics.len());
        for (topic, lines) in topics {
            let mut seen = HashSet::with_capacity(lines.len());
            let documents = lines.into_iter().map(|line| &line.document);
            let documents = documents.filter(|document| seen.insert(*document)).cloned();
            ranked.insert(topic.clone(), documents.collect());
        }
        Self { topics: ranked, depth: None }
    }

    /// The same run of a system that might have ranked up to `depth` documents for a topic.
    #[must_use]
    pub fn with_depth(self, depth: Option<usize>) -> Self {
        Self { depth, ..self }
    }

    /// The depth that the run was cut at: the number of documents of most topics, if none has more, and if
    /// the run and the judgements have others that it could rank. A run that does not reach the depth of
    /// its record was not cut.
    pub fn cut_at<'d>(&'d self, judged: impl IntoIterator<Item = &'d DocId>) -> Option<usize> {
        let depth = self.topics.values().map(Vec::len).max()?;
        if self.depth.is_some_and(|most| depth < most) {
            return None;
        }
        let deepest = self.topics.values().filter(|ranking| ranking.len() == depth).count();
        let mut known: HashSet<&DocId> = HashSet::new();
        let mut all = self.topics.values().flatten().chain(judged);
        let has_others = all.any(|document| {
            known.insert(document);
            known.len() > depth
        });
        (has_others && 2 * deepest > self.topics.len()).then_some(depth)
    }

    /// The topics that the run answers.
    pub fn topics(&self) -> impl Iterator<Item = &RequestId> {
        self.topics.keys()
    }

    /// The documents of a topic, best first; none if the run does not answer it.
    pub fn ranking(&self, topic: &RequestId) -> &[DocId] {
        self.topics.get(topic).map_or(&[], Vec::as_slice)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::measures::{evaluate, parse_measures};
    use crate::tests::run;
    use clariq_files::Judgement;
    use proptest::prelude::*;

    fn order(lines: &[(&str, &str, f64)]) -> Vec<String> {
        let ranked = RankedRun::new(&run(lines));
        ranked.ranking(&"1".into()).iter().map(ToString::to_string).collect()
    }

    #[test]
    fn equal_scores_stand_by_descending_id() {
        assert_eq!(
            order(&[("1", "Q1", 0.5), ("1", "Q2", 1.0), ("1", "Q3", 0.5)]),
            ["Q2", "Q3", "Q1"]
        );
        assert_eq!(order(&[("1", "Q2", -0.0), ("1", "Q1", 0.0)]), ["Q2", "Q1"]);
        assert_eq!(
            order(&[("1", "a", 1.0), ("1", "B", 1.0), ("1", "é", 1.0)]),
            ["é", "a", "B"],
            "bytes, as strcmp"
        );
    }

    #[test]
    fn scores_are_compared_in_single_precision() {
        assert_eq!(order(&[("1", "Q1", 1.000_000_001), ("1", "Q2", 1.0)]), ["Q2", "Q1"]);
        assert_eq!(order(&[("1", "Q1", 1.000_000_1), ("1", "Q2", 1.0)]), ["Q1", "Q2"]);
        assert_eq!(order(&[("1", "Q1", 1e300), ("1", "Q2", 1e200)]), ["Q2", "Q1"], "both infinite");
    }

    #[test]
    fn trec_eval_10_compares_scores_in_double_precision() {
        let run = run(&[("1", "Q1", 1.000_000_001), ("1", "Q2", 1.0), ("1", "Q3", 1.0)]);
        let ranked = RankedRun::ordered(&run, Ties::IdDouble);
        let order: Vec<&str> = ranked.ranking(&"1".into()).iter().map(DocId::as_str).collect();
        assert_eq!(order, ["Q1", "Q3", "Q2"]);
    }

    #[test]
    fn a_run_that_does_not_reach_the_depth_of_its_record_was_not_cut() {
        let run = run(&[("1", "Q1", 2.0), ("1", "Q2", 1.0), ("2", "Q1", 2.0), ("2", "Q3", 1.0)]);
        let cut = |depth| RankedRun::new(&run).with_depth(depth).cut_at([]);
        assert_eq!([cut(None), cut(Some(2)), cut(Some(3))], [Some(2), Some(2), None]);
    }

    #[test]
    fn the_best_line_of_a_document_counts() {
        let lines = [("1", "Q1", 1.0), ("1", "Q2", 2.0), ("1", "Q1", 3.0), ("1", "Q3", 0.5)];
        assert_eq!(order(&lines), ["Q1", "Q2", "Q3"]);
    }

    proptest! {
        /// Any order of equal scores, made strict, must lie between the two.
        #[test]
        fn no_order_of_equal_scores_leaves_the_interval(
            lines in prop::collection::vec((0..3_i32, -1..5_i32), 1..16).prop_flat_map(|lines| Just(lines).prop_shuffle()),
        ) {
            let names: Vec<String> = (0..lines.len()).map(|n| format!("d{n}")).collect();
            let judged = |(name, (_, grade)): (&String, &(i32, i32))| Judgement {
                topic: "1".into(), document: name.as_str().into(), relevance: *grade,
            };
            // Grade 4 stands for a document that is not judged.
            let judged: Vec<Judgement> = names.iter().zip(&lines).filter(|(_, line)| line.1 < 4).map(judged).collect();
            let qrels = Qrels::from_judgements("q", &judged).unwrap();
            let scored = |nudge: f64| -> Vec<(&str, &str, f64)> {
                let scores = lines.iter().enumerate().map(|(index, line)| f64::from(line.0) - index as f64 * nudge);
                names.iter().zip(scores).map(|(name, score)| ("1", name.as_str(), score)).collect()
            };
            let names = "R@3 P@5 nDCG@4 nDCG AP RR Success@2 RBP P(rel=2)@3 AP(rel=2) Judged@3 ERR@4 Bpref Bpref(rel=2) \
                         P(judged_only=True)@3 nDCG(gains={1:3,2:0})@4 nDCG(gains={0:2,1:-1},judged_only=True)@3";
            let (strict, tied) = (run(&scored(1e-3)), run(&scored(0.0)));
            for measure in parse_measures(names).unwrap() {
                let mean = |ranked: &RankedRun| evaluate(std::slice::from_ref(&measure), ranked, &qrels).unwrap()[0].value();
                let strict = mean(&RankedRun::new(&strict));
                let [low, high] = [Favour::Against, Favour::For]
                    .map(|favour| mean(&RankedRun::with_ties(&tied, &qrels, &measure, favour)));
                prop_assert!(low <= strict + 1e-12 && strict <= high + 1e-12, "{}: {low} {strict} {high}", measure.name());
            }
        }
    }
}
