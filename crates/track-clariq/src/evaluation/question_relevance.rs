//! `ClariQ`'s question relevance: recall of a topic's relevant questions at 5, 10, 20 and 30, and
//! its interval over all orders of equal scores.

use crate::Labelled;
use clariq_core::{DocId, RequestId};
use clariq_eval::{
    Favour, RankedRun, Score, Ties, double, lines_by_topic, ordered_lines, sort_with_favour,
};
use clariq_files::{Run, RunLine};
use std::collections::HashSet;

/// The depths at which the challenge measures recall.
pub const CUTOFFS: [usize; 4] = [5, 10, 20, 30];

/// [`recall`] at each of [`CUTOFFS`], which the challenge publishes.
pub fn question_relevance(run: &Run, labels: &Labelled, ties: Ties) -> Vec<Score> {
    recall(run, labels, ties, &CUTOFFS)
}

/// Recall@k = |relevant ∩ first k lines| / |relevant| at each cut-off, `R@k`.
///
/// A topic that the run does not answer counts 0, a topic without labels is left out. A question
/// with two lines among the first k counts once and takes two ranks, and of equal scores only the first line
/// in the file is kept ([`Ties::Official`]): in both, `trec_eval` differs.
pub fn recall(run: &Run, labels: &Labelled, ties: Ties, cutoffs: &[usize]) -> Vec<Score> {
    let mut lines = ordered_lines(run, ties);
    let relevant = labels.relevant();
    let ranked = RankedRun::ordered(run, ties);
    let cut_at = ranked.cut_at(relevant.iter().flatten());
    let scores = score_topics(labels, cutoffs, |topic, _| lines.remove(topic).unwrap_or_default());
    let scores = scores.into_iter().zip(cutoffs);
    scores.map(|(score, cutoff)| score.of_run_cut_at(cut_at, Some(*cutoff))).collect()
}

/// Scores the lines that `ranking` gives for a topic and its relevant questions, best first.
fn score_topics<'r>(
    labels: &Labelled,
    cutoffs: &[usize],
    mut ranking: impl FnMut(&RequestId, &HashSet<DocId>) -> Vec<&'r RunLine>,
) -> Vec<Score> {
    let mut values = vec![Vec::with_capacity(labels.topics.len()); cutoffs.len()];
    for (topic, relevant) in labels.topics.iter().zip(labels.relevant()) {
        let lines = ranking(&topic.id, &relevant);
        for (values, cutoff) in values.iter_mut().zip(cutoffs) {
            values.push((topic.id.clone(), recall_at(*cutoff, &lines, &relevant)));
        }
    }
    let named = cutoffs.iter().zip(values);
    named.map(|(cutoff, values)| Score::new("", format!("R@{cutoff}"), values)).collect()
}

fn recall_at(cutoff: usize, lines: &[&RunLine], relevant: &HashSet<DocId>) -> f64 {
    let first = lines.iter().take(cutoff).map(|line| &line.document);
    let found: HashSet<&DocId> = first.filter(|document| relevant.contains(*document)).collect();
    found.len() as f64 / relevant.len() as f64
}

/// The lowest and the highest recall at each cut-off over all orders of equal scores, no line dropped. Topics
/// are independent, so the bounds of the mean are the means of the bounds, and a run without ties reaches them.
pub fn recall_interval(run: &Run, labels: &Labelled, cutoffs: &[usize]) -> [Vec<Score>; 2] {
    let topics = lines_by_topic(run);
    let bound = |favour| {
        score_topics(labels, cutoffs, |topic, relevant| {
            let mut lines = topics.get(topic).cloned().unwrap_or_default();
            let grade = |question: &_| i32::from(relevant.contains(question));
            sort_with_favour(&mut lines, double, grade, favour);
            lines
        })
    };
    [Favour::Against, Favour::For].map(bound)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::tests::{labels, run};
    use clariq_collections::documents::{Bank, BankRow};
    use clariq_eval::{Diagnosis, Qrels, diagnose, evaluate, parse_measures};
    use proptest::prelude::*;

    fn interval(run: &Run, labels: &Labelled) -> [Vec<f64>; 2] {
        recall_interval(run, labels, &CUTOFFS).map(|scores| values(&scores))
    }

    fn recalls(run: &Run, labels: &Labelled, ties: Ties) -> Vec<f64> {
        values(&question_relevance(run, labels, ties))
    }

    fn values(scores: &[Score]) -> Vec<f64> {
        scores.iter().map(Score::value).collect()
    }

    #[test]
    fn equal_scores_are_dropped_as_the_official_scorer_drops_them() {
        let labels = labels(&[("1", &["Q1", "Q2", "Q3", "Q4"])]);
        let run = run(&[("1", "Q9", 2.0), ("1", "Q1", 1.0), ("1", "Q2", 1.0), ("1", "Q3", 0.5)]);
        assert_eq!(recalls(&run, &labels, Ties::Official)[0], 0.5, "Q1 and Q3");
        assert_eq!(recalls(&run, &labels, Ties::Id)[0], 0.75);
    }

    #[test]
    fn zero_and_minus_zero_are_the_same_score() {
        let labels = labels(&[("1", &["Q1"])]);
        let run = run(&[("1", "Q1", -0.0), ("1", "Q2", 0.0)]);
        assert_eq!(recalls(&run, &labels, Ties::Official)[0], 1.0, "the first line counts");
    }

    #[test]
    fn missing_topics_count_zero_and_unknown_ones_nothing() {
        let labels = labels(&[("10", &["Q1"]), ("9", &["Q1"])]);
        let run = run(&[("10", "Q1", 1.0), ("77", "Q1", 1.0)]);
        let scores = question_relevance(&run, &labels, Ties::Official);
        assert_eq!(scores.len(), CUTOFFS.len());
        for score in scores {
            assert_eq!(score.values, [("9".into(), 0.0), ("10".into(), 1.0)]);
            assert_eq!(score.value(), 0.5);
        }
    }

    #[test]
    fn a_duplicate_counts_once_and_takes_two_ranks() {
        let labels = labels(&[("1", &["Q1", "Q2"])]);
        let lines: Vec<_> =
            [("Q1", 6.0), ("Q1", 5.0), ("Q7", 4.0), ("Q8", 3.0), ("Q9", 2.0), ("Q2", 1.0)]
                .map(|(question, score)| ("1", question, score))
                .to_vec();
        assert_eq!(recalls(&run(&lines), &labels, Ties::Official), [0.5, 1.0, 1.0, 1.0]);
    }

    #[test]
    fn without_ties_recall_is_that_of_the_measure() {
        let labels = labels(&[("1", &["Q1", "Q2", "Q3"]), ("2", &["Q4"])]);
        let names: Vec<String> = (0..12).map(|number| format!("Q{number}")).collect();
        let scores = (0..12).map(|number| f64::from(number * 7 % 12));
        let lines: Vec<_> =
            names.iter().zip(scores).map(|(name, score)| ("1", name.as_str(), score)).collect();
        let run = run(&lines);
        let measures = parse_measures("Recall5 Recall10 Recall20 Recall30").unwrap();
        let scores = evaluate(&measures, &RankedRun::new(&run), &Qrels::from(&labels)).unwrap();
        assert_eq!(values(&scores), recalls(&run, &labels, Ties::Official));
    }

    #[test]
    fn ignored_lines_of_each_kind_are_counted() {
        let labels = labels(&[("1", &["Q1"]), ("2", &["Q1"])]);
        let row = |id: &str| BankRow { id: id.into(), text: id.to_owned() };
        let bank = Bank::new(vec![row("Q1"), row("Q2")], crate::NO_QUESTION);
        let run = run(&[
            ("1", "Q1", 1.0),
            ("1", "Q2", 1.0),
            ("1", "Q2", 0.5),
            ("1", "Q9", 0.1),
            ("3", "Q9", 1.0),
        ]);
        let expected = Diagnosis {
            dropped_lines: 1,
            dropped_topics: 1,
            duplicates: 1,
            missing_topics: 1,
            unknown_topics: 1,
            unknown_documents: 1,
            one_score: false,
        };
        assert_eq!(
            diagnose(&run, labels.topics.iter().map(|topic| &topic.id), Some(&bank)),
            expected
        );
    }

    #[test]
    fn without_ties_the_interval_is_a_point() {
        let labels = labels(&[("1", &["Q1", "Q2"])]);
        let run = run(&[("1", "Q1", 3.0), ("1", "Q5", 2.0)]);
        let [lowest, highest] = interval(&run, &labels);
        assert_eq!(lowest, highest);
        assert_eq!(lowest, recalls(&run, &labels, Ties::Official));
    }

    #[test]
    fn equal_scores_at_the_cutoff_make_an_interval() {
        let labels = labels(&[("1", &["Q1", "Q2"])]);
        let mut lines = vec![("1", "Q1", 2.0)];
        lines.extend(["Q2", "Q3", "Q4", "Q5", "Q6"].map(|question| ("1", question, 1.0)));
        let [lowest, highest] = interval(&run(&lines), &labels);
        assert_eq!((lowest[0], highest[0]), (0.5, 1.0));
        assert_eq!((lowest[1], highest[1]), (1.0, 1.0));
    }

    proptest! {
        /// Any order of the equal scores is a run without ties; its official recall must lie in the
        /// interval.
        #[test]
        fn interval_contains_every_order(
            lines in prop::collection::vec((0..9_u32, 0..3_i32), 1..24).prop_flat_map(|lines| Just(lines).prop_shuffle()),
        ) {
            let names: Vec<String> = (0..9).map(|question| format!("Q{question}")).collect();
            let labels = labels(&[("1", &["Q0", "Q3", "Q4", "Q8"])]);
            let tied: Vec<_> = lines.iter().map(|&(question, score)| ("1", names[question as usize].as_str(), f64::from(score))).collect();
            // The shuffled order, without ties.
            let strict: Vec<_> = (0..).zip(&tied).map(|(index, &(topic, question, score))| {
                (topic, question, score - f64::from(index) * 1e-6)
            }).collect();
            let [lowest, highest] = interval(&run(&tied), &labels);
            let strict = recalls(&run(&strict), &labels, Ties::Official);
            for ((lowest, recall), highest) in lowest.iter().zip(&strict).zip(&highest) {
                prop_assert!(lowest <= recall && recall <= highest);
            }
        }

        /// All orders of a small list, by brute force, reach both ends of the interval.
        #[test]
        fn both_ends_are_reached(lines in prop::collection::vec((0..4_u32, 0..2_i32), 5)) {
            let names = ["Q0", "Q1", "Q2", "Q3"];
            let labels = labels(&[("1", &["Q0", "Q1", "Q2"])]);
            let tied: Vec<_> = lines.iter().map(|&(question, score)| ("1", names[question as usize], f64::from(score))).collect();
            let of_orders = permutations(tied.len()).into_iter().map(|order| {
                let strict: Vec<_> = order.iter().enumerate().map(|(index, &line)| {
                    let (topic, question, score) = tied[line];
                    (topic, question, score - index as f64 * 1e-6)
                }).collect();
                recalls(&run(&strict), &labels, Ties::Official)[0]
            });
            let (lowest, highest) = of_orders.fold((1.0_f64, 0.0_f64), |(low, high), recall| (low.min(recall), high.max(recall)));
            let interval = interval(&run(&tied), &labels);
            prop_assert_eq!(interval.map(|recalls| recalls[0]), [lowest, highest]);
        }
    }

    fn permutations(length: usize) -> Vec<Vec<usize>> {
        if length == 0 {
            return vec![Vec::new()];
        }
        let shorter = permutations(length - 1);
        shorter
            .iter()
            .flat_map(|order| {
                (0..length).map(|index| {
                    let mut order = order.clone();
                    order.insert(index, length - 1);
                    order
                })
            })
            .collect()
    }
}
