//! How much of a recall figure is the order of equal scores: the lowest and highest recall that any
//! such order could give.

use super::question_relevance::score_topics;
use crate::ties::{Favour, double, lines_by_topic, sort_with_favour};
use clariq_collections::clariq::Labelled;
use clariq_files::Run;

/// The range of mean recall at each of [`CUTOFFS`](super::CUTOFFS) over all orders of equal
/// scores, no line dropped.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RecallInterval {
    /// With every tie broken against the run.
    pub lowest: [f64; 4],
    /// With every tie broken in its favour.
    pub highest: [f64; 4],
}

/// The interval of a run. Topics are independent, so the bounds of the mean are the means of the
/// bounds, and a run without ties reaches them.
pub fn recall_interval(run: &Run, labels: &Labelled) -> RecallInterval {
    let topics = lines_by_topic(run);
    let means = |favour| {
        let scores = score_topics(labels, |topic, relevant| {
            let mut lines = topics.get(topic).cloned().unwrap_or_default();
            let grade = |question: &_| i32::from(relevant.contains(question));
            sort_with_favour(&mut lines, double, grade, favour);
            lines
        });
        scores.means()
    };
    RecallInterval { lowest: means(Favour::Against), highest: means(Favour::For) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::question_relevance;
    use crate::clariq::testing::labels;
    use crate::testing::run;
    use crate::ties::Ties;
    use proptest::prelude::*;

    #[test]
    fn without_ties_the_interval_is_a_point() {
        let labels = labels(&[("1", &["Q1", "Q2"])]);
        let run = run(&[("1", "Q1", 3.0), ("1", "Q5", 2.0)]);
        let interval = recall_interval(&run, &labels);
        assert_eq!(interval.lowest, interval.highest);
        assert_eq!(interval.lowest, question_relevance(&run, &labels, Ties::Official).means());
    }

    #[test]
    fn the_group_at_the_cut_off_is_open() {
        let labels = labels(&[("1", &["Q1", "Q2"])]);
        let mut lines = vec![("1", "Q1", 2.0)];
        lines.extend(["Q2", "Q3", "Q4", "Q5", "Q6"].map(|question| ("1", question, 1.0)));
        let interval = recall_interval(&run(&lines), &labels);
        assert_eq!((interval.lowest[0], interval.highest[0]), (0.5, 1.0));
        assert_eq!((interval.lowest[1], interval.highest[1]), (1.0, 1.0));
    }

    proptest! {
        /// Any order of the equal scores is a run without ties; its official recall must lie in the
        /// interval.
        #[test]
        fn contains_every_order(
            lines in prop::collection::vec((0..9_u32, 0..3_i32), 1..24).prop_flat_map(|lines| Just(lines).prop_shuffle()),
        ) {
            let names: Vec<String> = (0..9).map(|question| format!("Q{question}")).collect();
            let labels = labels(&[("1", &["Q0", "Q3", "Q4", "Q8"])]);
            let tied: Vec<_> = lines.iter().map(|&(q, score)| ("1", names[q as usize].as_str(), f64::from(score))).collect();
            // The shuffled order, made strict.
            let strict: Vec<_> = (0..).zip(&tied).map(|(index, &(topic, question, score))| {
                (topic, question, score - f64::from(index) * 1e-6)
            }).collect();
            let interval = recall_interval(&run(&tied), &labels);
            let recalls = question_relevance(&run(&strict), &labels, Ties::Official).means();
            for ((lowest, recall), highest) in interval.lowest.iter().zip(&recalls).zip(&interval.highest) {
                prop_assert!(lowest <= recall && recall <= highest);
            }
        }

        /// Both ends are reached: all orders of a small list, by brute force.
        #[test]
        fn both_ends_are_reached(lines in prop::collection::vec((0..4_u32, 0..2_i32), 6)) {
            let names = ["Q0", "Q1", "Q2", "Q3"];
            let labels = labels(&[("1", &["Q0", "Q1", "Q2"])]);
            let tied: Vec<_> = lines.iter().map(|&(q, score)| ("1", names[q as usize], f64::from(score))).collect();
            let recalls = permutations(tied.len()).into_iter().map(|order| {
                let strict: Vec<_> = order.iter().enumerate().map(|(index, &line)| {
                    let (topic, question, score) = tied[line];
                    (topic, question, score - index as f64 * 1e-6)
                }).collect();
                question_relevance(&run(&strict), &labels, Ties::Official).means()[0]
            });
            let (lowest, highest) = recalls.fold((1.0_f64, 0.0_f64), |(low, high), recall| (low.min(recall), high.max(recall)));
            let interval = recall_interval(&run(&tied), &labels);
            prop_assert_eq!((interval.lowest[0], interval.highest[0]), (lowest, highest));
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
