//! Scores of a need model per class, its confusion matrix, and the distance of its predictions from
//! the labels.
//!
//! Need labels are ordinal: taking a 4 for a 3 is a smaller mistake than taking it for a 1. The
//! official figures ignore that; the mean absolute error and the quadratically weighted kappa do not.
//! Kappa is defined by Cohen, *Weighted kappa: nominal scale agreement with provision for scaled
//! disagreement or partial credit*, Psychological Bulletin 70(4), 1968.

use crate::{Labelled, NeedLine};
use clariq_core::RequestId;
use clariq_eval::{Decision, exact_mean, ratio};
use serde::Serialize;
use std::collections::HashMap;

/// The classes of predictions: no valid one, and the needs 1 to 4.
const CLASSES: usize = 5;

/// The figures of one need.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct NeedClass {
    /// The need, 1 to 4.
    pub need: u8,
    /// TP / predicted; 0 without predictions.
    pub precision: f64,
    /// TP / support; 0 without support.
    pub recall: f64,
    /// 2·TP / (predicted + support); 0 without either.
    pub f1: f64,
    /// Topics with this label.
    pub support: usize,
    /// The number of these topics by prediction: without a valid one, then as 1, 2, 3 and 4.
    pub predicted_as: [usize; CLASSES],
}

/// The figures of a need file. A missing prediction, or one outside 1 to 4, is class 0, as in the
/// official scorer. For the ordinal figures, class 0 is one step from 1 and four steps from 4.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct NeedReport {
    /// The needs 1 to 4.
    pub classes: [NeedClass; 4],
    /// Precision, recall and F1, as means over the needs that have support.
    pub macro_average: [f64; 3],
    /// The share of topics with the right need, 0 to 1.
    pub accuracy: f64,
    /// Σ |predicted − label| / n, in steps of the scale from 1 to 4.
    pub mean_absolute_error: f64,
    /// κ = 1 − Σ wᵢⱼ Oᵢⱼ / Σ wᵢⱼ Eᵢⱼ with wᵢⱼ = (i − j)², O the observed counts and E those
    /// expected if labels and predictions were independent: 1 is agreement, 0 is chance. `None`
    /// if all labels and predictions are of one class.
    pub quadratic_kappa: Option<f64>,
}

/// The figures of predictions for the topics of `labels`.
pub fn need_report(predictions: &[NeedLine], labels: &Labelled) -> NeedReport {
    let confusion = confusion(predictions, labels);
    let classes = [1, 2, 3, 4].map(|need| class(&confusion, need));
    let pairs =
        || (0..CLASSES).flat_map(|label| (0..CLASSES).map(move |predicted| (label, predicted)));
    let topics: usize = confusion.iter().flatten().sum();
    let steps_off: usize = pairs()
        .map(|(label, predicted)| label.abs_diff(predicted) * confusion[label][predicted])
        .sum();
    NeedReport {
        macro_average: macro_average(&classes),
        accuracy: ratio((0..CLASSES).map(|need| confusion[need][need]).sum(), topics),
        mean_absolute_error: ratio(steps_off, topics),
        quadratic_kappa: quadratic_kappa(&confusion),
        classes,
    }
}

impl NeedReport {
    /// The needs as decisions whether a request is ambiguous, 1 against 2 to 4.
    pub fn ambiguity(&self) -> Vec<Decision> {
        let mut decisions = Vec::new();
        for class in &self.classes {
            for (predicted, count) in class.predicted_as.into_iter().enumerate() {
                let score = predicted as f64;
                let decision = Decision { label: class.need > 1, decided: predicted > 1, score };
                decisions.extend(std::iter::repeat_n(decision, count));
            }
        }
        decisions
    }
}

/// Counts topics by label (row) and prediction (column). The last line of a topic counts, as in the
/// official scorer.
fn confusion(predictions: &[NeedLine], labels: &Labelled) -> [[usize; CLASSES]; CLASSES] {
    let predicted: HashMap<&RequestId, i64> =
        predictions.iter().map(|line| (&line.topic, line.label)).collect();
    let mut counts = [[0; CLASSES]; CLASSES];
    for topic in &labels.topics {
        let label = topic.need.map_or(0, |need| usize::from(need.get()));
        let prediction = predicted.get(&topic.id).and_then(|&label| usize::try_from(label).ok());
        counts[label][prediction.filter(|&need| need < CLASSES).unwrap_or(0)] += 1;
    }
    counts
}

fn class(confusion: &[[usize; CLASSES]; CLASSES], need: usize) -> NeedClass {
    let predicted: usize = confusion.iter().map(|row| row[need]).sum();
    let support: usize = confusion[need].iter().sum();
    let hits = confusion[need][need];
    NeedClass {
        need: need as u8,
        precision: ratio(hits, predicted),
        recall: ratio(hits, support),
        f1: ratio(2 * hits, predicted + support),
        support,
        predicted_as: confusion[need],
    }
}

fn macro_average(classes: &[NeedClass]) -> [f64; 3] {
    let supported = || classes.iter().filter(|class| class.support > 0);
    [
        exact_mean(supported().map(|class| class.precision)),
        exact_mean(supported().map(|class| class.recall)),
        exact_mean(supported().map(|class| class.f1)),
    ]
}

fn quadratic_kappa(confusion: &[[usize; CLASSES]; CLASSES]) -> Option<f64> {
    let mut observed = 0_usize;
    let mut expected = 0_usize;
    for label in 0..CLASSES {
        for predicted in 0..CLASSES {
            let weight = label.abs_diff(predicted).pow(2);
            let of_label: usize = confusion[label].iter().sum();
            let of_prediction: usize = confusion.iter().map(|row| row[predicted]).sum();
            observed += weight * confusion[label][predicted];
            expected += weight * of_label * of_prediction;
        }
    }
    let topics: usize = confusion.iter().flatten().sum();
    (expected > 0).then(|| 1.0 - (observed * topics) as f64 / expected as f64)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::evaluation::tests::needs;
    use clariq_eval::DecisionReport;

    const LABELS: [u8; 15] = [1, 1, 2, 2, 2, 2, 3, 3, 3, 4, 4, 2, 3, 1, 4];

    fn report(labels: &[u8], predictions: &[i64]) -> NeedReport {
        let ids: Vec<String> = (0..labels.len()).map(|id| id.to_string()).collect();
        let topics: Vec<(&str, u8)> =
            ids.iter().map(String::as_str).zip(labels.iter().copied()).collect();
        let lines = ids.iter().zip(predictions).map(|(id, &label)| NeedLine {
            topic: id.as_str().into(),
            label,
            line: 1,
        });
        need_report(&lines.collect::<Vec<_>>(), &needs(&topics))
    }

    fn near(found: f64, expected: f64) {
        assert!((found - expected).abs() < 1e-15, "{found} is not {expected}");
    }

    fn all_near(found: [f64; 3], expected: [f64; 3]) {
        found.into_iter().zip(expected).for_each(|(found, expected)| near(found, expected));
    }

    // The expected values are those of scikit-learn 1.9.1: `classification_report`,
    // `confusion_matrix`, `mean_absolute_error` and `cohen_kappa_score(weights="quadratic")`.

    #[test]
    fn complete_predictions_as_in_scikit_learn() {
        let report = report(&LABELS, &[1, 2, 2, 2, 3, 1, 3, 4, 2, 4, 2, 2, 3, 1, 3]);
        near(report.accuracy, 0.533_333_333_333_333_3);
        near(report.mean_absolute_error, 0.533_333_333_333_333_3);
        near(report.quadratic_kappa.unwrap(), 0.659_090_909_090_909_1);
        all_near(report.macro_average, [0.541_666_666_666_666_6, 0.525, 0.528_030_303_030_303]);
    }

    #[test]
    fn missing_predictions_as_class_0_in_scikit_learn() {
        // The thirteenth is outside 1 to 4, the last is missing.
        let report = report(&LABELS, &[1, 2, 2, 2, 3, 1, 3, 4, 2, 4, 2, 2, 9, 1]);
        near(report.accuracy, 0.466_666_666_666_666_7);
        near(report.mean_absolute_error, 0.933_333_333_333_333_3);
        near(report.quadratic_kappa.unwrap(), 0.169_381_107_491_856_75);
        let counts = report.classes.map(|class| class.predicted_as);
        assert_eq!(counts, [[0, 2, 1, 0, 0], [0, 1, 3, 1, 0], [1, 0, 1, 1, 1], [1, 0, 1, 0, 1]]);
        let third = &report.classes[2];
        assert_eq!(
            (third.precision, third.recall, third.f1, third.support),
            (0.5, 0.25, 1.0 / 3.0, 4)
        );
        all_near(report.macro_average, [0.541_666_666_666_666_6, 0.4625, 0.486_363_636_363_636_4]);
    }

    #[test]
    fn one_against_two_to_four_is_a_decision() {
        // classification_report, balanced_accuracy_score and roc_auc_score, scikit-learn 1.9.1.
        let report = report(&LABELS, &[1, 2, 2, 2, 3, 1, 3, 4, 2, 4, 2, 2, 3, 1, 3]);
        let found = DecisionReport::of(&report.ambiguity());
        assert_eq!((found.count, found.positives, found.decided), (15, 12, 12));
        near(found.f1, 11.0 / 12.0);
        near(found.weighted_f1, 13.0 / 15.0);
        near(found.balanced_accuracy, 0.791_666_666_666_666_6);
        near(found.area_under_curve.unwrap(), 0.875);
        for (decided, expected) in [(true, 32.0 / 45.0), (false, 1.0 / 15.0)] {
            let labels = report.ambiguity().into_iter().map(|decision| decision.label);
            near(DecisionReport::of_constant(labels, decided).weighted_f1, expected);
        }
    }

    #[test]
    fn weighted_kappa_punishes_distant_errors_more() {
        let (near, far) = (report(&[1, 2, 4], &[1, 2, 3]), report(&[1, 2, 4], &[1, 2, 1]));
        assert_eq!(near.accuracy, far.accuracy);
        assert!(near.mean_absolute_error < far.mean_absolute_error);
        assert!(near.quadratic_kappa > far.quadratic_kappa);
    }

    #[test]
    fn one_class_is_no_agreement_beyond_chance() {
        assert_eq!(report(&[2, 2], &[2, 2]).quadratic_kappa, None);
        assert_eq!(report(&[], &[]).accuracy, 0.0);
        assert_eq!(report(&[1, 2], &[1, 2]).quadratic_kappa, Some(1.0));
    }
}
