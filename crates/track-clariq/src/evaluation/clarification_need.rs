//! Precision, recall and F1 of predicted clarification need, weighted by class support.
//!
//! The official scorer calls scikit-learn with `average='weighted'`; the operations here are in its
//! order (that of releases since 1.3, in which F1 is 2·TP / (support + predicted)), so that all
//! digits agree.

use crate::{Labelled, NeedLine};
use clariq_core::RequestId;
use clariq_eval::ratio;
use std::collections::{BTreeMap, HashMap};

/// The official scores, with counts for warnings.
#[derive(Debug, Clone, PartialEq)]
pub struct NeedScores {
    /// Σ support · TP / predicted over all classes, by the sum of supports.
    pub precision: f64,
    /// Σ support · TP / support, by the sum of supports: accuracy.
    pub recall: f64,
    /// Σ support · F1, by the sum of supports.
    pub f1: f64,
    /// Topics of the labels without a prediction; each counts as class 0.
    pub missing: usize,
    /// Predictions outside 1 to 4; each counts as wrong.
    pub out_of_range: usize,
    /// Topics that are predicted more than once; the last line counts.
    pub duplicates: usize,
    /// Predicted topics that the labels do not have; they are left out.
    pub unknown: usize,
}

impl NeedScores {
    /// The official scores under their names.
    pub fn named(&self) -> [(&'static str, f64); 3] {
        [("Precision", self.precision), ("Recall", self.recall), ("F1", self.f1)]
    }
}

#[derive(Default)]
struct ClassCounts {
    hits: usize,
    predicted: usize,
    support: usize,
}

/// Scores a need file against the labels of a split.
pub fn clarification_need(predictions: &[NeedLine], labels: &Labelled) -> NeedScores {
    let by_topic: HashMap<&RequestId, i64> =
        predictions.iter().map(|line| (&line.topic, line.label)).collect();
    let mut classes: BTreeMap<i64, ClassCounts> = BTreeMap::new();
    let mut missing = 0;
    for topic in &labels.topics {
        let truth = topic.need.map_or(0, |need| i64::from(need.get()));
        let predicted = by_topic.get(&topic.id).copied().unwrap_or_else(|| {
            missing += 1;
            0
        });
        classes.entry(truth).or_default().support += 1;
        let class = classes.entry(predicted).or_default();
        class.predicted += 1;
        class.hits += usize::from(predicted == truth);
    }
    let known = labels.topics.iter().filter(|topic| by_topic.contains_key(&topic.id)).count();
    let weighted = |ratio: fn(&ClassCounts) -> f64| {
        let products: Vec<f64> =
            classes.values().map(|class| ratio(class) * class.support as f64).collect();
        let support: usize = classes.values().map(|class| class.support).sum();
        numpy_sum(&products) / support as f64
    };
    NeedScores {
        precision: weighted(|class| ratio(class.hits, class.predicted)),
        recall: weighted(|class| ratio(class.hits, class.support)),
        f1: weighted(|class| ratio(2 * class.hits, class.support + class.predicted)),
        missing,
        out_of_range: predictions.iter().filter(|line| !(1..=4).contains(&line.label)).count(),
        duplicates: predictions.len() - by_topic.len(),
        unknown: by_topic.len() - known,
    }
}

/// The sum of up to 128 numbers as numpy adds them: one after the other below eight, in eight
/// strands from there on.
fn numpy_sum(values: &[f64]) -> f64 {
    if values.len() < 8 {
        return values.iter().sum();
    }
    let mut strands = [0.0; 8];
    strands.copy_from_slice(&values[..8]);
    let mut rest = values[8..].chunks_exact(8);
    for eight in &mut rest {
        strands.iter_mut().zip(eight).for_each(|(strand, value)| *strand += value);
    }
    let pairs: [f64; 4] = std::array::from_fn(|pair| strands[2 * pair] + strands[2 * pair + 1]);
    let sum = (pairs[0] + pairs[1]) + (pairs[2] + pairs[3]);
    rest.remainder().iter().fold(sum, |sum, value| sum + value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::tests::needs;

    fn lines(labels: &[(&str, i64)]) -> Vec<NeedLine> {
        (1..)
            .zip(labels)
            .map(|(line, &(topic, label))| NeedLine { topic: topic.into(), label, line })
            .collect()
    }

    #[test]
    fn figures_are_those_of_scikit_learn() {
        // precision_score, recall_score and f1_score with average='weighted', scikit-learn 1.7.
        let labels = needs(&[("1", 1), ("2", 2), ("3", 2), ("4", 3), ("5", 4), ("6", 4), ("7", 4)]);
        let predicted = lines(&[("1", 1), ("2", 2), ("3", 3), ("4", 3), ("5", 2), ("6", 4)]);
        let scores = clarification_need(&predicted, &labels);
        assert_eq!(scores.precision, 0.785_714_285_714_285_7);
        assert_eq!(scores.recall, 0.571_428_571_428_571_4);
        assert_eq!(scores.f1, 0.595_238_095_238_095_1);
        assert_eq!(scores.missing, 1);
    }

    #[test]
    fn odd_predictions_are_counted() {
        let labels = needs(&[("1", 1), ("2", 2)]);
        let scores = clarification_need(&lines(&[("1", 7), ("2", 1), ("2", 2), ("9", 3)]), &labels);
        assert_eq!(
            (scores.out_of_range, scores.duplicates, scores.unknown, scores.missing),
            (1, 1, 1, 0)
        );
        assert_eq!(scores.recall, 0.5, "the last line of a topic counts");
    }
}
