//! Figures of decisions between yes and no, such as whether to ask a clarifying question.

/// A decision, and the label that it is compared with.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Decision {
    /// True if the label is yes.
    pub label: bool,
    /// True if the decision is yes.
    pub decided: bool,
    /// A number that is higher the more speaks for yes.
    pub score: f64,
}

/// The figures of decisions. Undefined ratios are 0.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct DecisionReport {
    /// The number of decisions.
    pub count: usize,
    /// The number of labels that are yes.
    pub positives: usize,
    /// The number of decisions that are yes.
    pub decided: usize,
    /// TP / decided.
    pub precision: f64,
    /// TP / positives.
    pub recall: f64,
    /// 2·TP / (decided + positives).
    pub f1: f64,
    /// The F1 of yes and that of no, weighted by the number of their labels.
    pub weighted_f1: f64,
    /// The mean of the recall of yes and that of no; ½ for always and for never.
    pub balanced_accuracy: f64,
    /// The area under the receiver operating characteristic: the probability that a yes has a higher
    /// score than a no, where equal scores count half (Hanley and others, Radiology 143(1), 1982).
    /// `None` if all labels are the same.
    pub area_under_curve: Option<f64>,
}

impl DecisionReport {
    /// The figures of decisions.
    pub fn of(decisions: &[Decision]) -> Self {
        let count_of = |is: fn(&Decision) -> bool| decisions.iter().filter(|it| is(it)).count();
        let count = decisions.len();
        let positives = count_of(|it| it.label);
        let decided = count_of(|it| it.decided);
        let hits = count_of(|it| it.label && it.decided);
        let right_no = count_of(|it| !it.label && !it.decided);
        let negatives = count - positives;
        let f1 = ratio(2 * hits, decided + positives);
        let f1_of_no = ratio(2 * right_no, (count - decided) + negatives);
        Self {
            count,
            positives,
            decided,
            precision: ratio(hits, decided),
            recall: ratio(hits, positives),
            f1,
            weighted_f1: (f1 * positives as f64 + f1_of_no * negatives as f64)
                / count.max(1) as f64,
            balanced_accuracy: f64::midpoint(ratio(hits, positives), ratio(right_no, negatives)),
            area_under_curve: area_under_curve(decisions),
        }
    }

    /// The figures of always deciding the same.
    pub fn of_constant(labels: impl IntoIterator<Item = bool>, decided: bool) -> Self {
        let decisions = labels.into_iter().map(|label| Decision { label, decided, score: 0.0 });
        Self::of(&decisions.collect::<Vec<_>>())
    }
}

/// The ratio of two counts; 0 if it is undefined.
pub fn ratio(part: usize, whole: usize) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

fn area_under_curve(decisions: &[Decision]) -> Option<f64> {
    let mut sorted: Vec<&Decision> = decisions.iter().collect();
    sorted.sort_by(|a, b| a.score.total_cmp(&b.score));
    let mut negatives = 0_usize;
    // Twice the number of pairs that are in order.
    let mut ordered = 0_usize;
    for equal in sorted.chunk_by(|a, b| a.score == b.score) {
        let yes = equal.iter().filter(|it| it.label).count();
        let no = equal.len() - yes;
        ordered += yes * (2 * negatives + no);
        negatives += no;
    }
    let pairs = negatives * (decisions.len() - negatives);
    (pairs > 0).then(|| ordered as f64 / (2 * pairs) as f64)
}

/// The threshold from which on scores are decided as yes, so that the balanced accuracy of labels with
/// scores is highest: the middle between two scores, or infinity for never. Of equal ones, the
/// highest.
pub fn best_threshold(scored: &[(bool, f64)]) -> f64 {
    let mut sorted: Vec<(bool, f64)> = scored.to_vec();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    let positives = scored.iter().filter(|(label, _)| *label).count();
    let negatives = scored.len() - positives;
    let mut best = (0.5, f64::INFINITY);
    let mut yes = 0;
    let mut no = 0;
    for (index, &(label, score)) in sorted.iter().enumerate() {
        if label {
            yes += 1;
        } else {
            no += 1;
        }
        let next = sorted.get(index + 1).map(|next| next.1);
        if next == Some(score) {
            continue;
        }
        let accuracy = f64::midpoint(ratio(yes, positives), 1.0 - ratio(no, negatives));
        if accuracy > best.0 {
            best = (accuracy, next.map_or(score, |next| f64::midpoint(score, next)));
        }
    }
    best.1
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decisions(labels: &[bool], scores: &[f64], threshold: f64) -> Vec<Decision> {
        let pairs = labels.iter().zip(scores);
        let decide = |(&label, &score)| Decision { label, decided: score >= threshold, score };
        pairs.map(decide).collect()
    }

    #[test]
    fn figures_are_those_of_scikit_learn() {
        // precision_score, recall_score, f1_score (binary and weighted), balanced_accuracy_score and
        // roc_auc_score, scikit-learn 1.7.
        let labels = [true, true, true, false, false, false, false, false];
        let scores = [0.9, 0.6, 0.2, 0.7, 0.6, 0.3, 0.1, 0.1];
        let report = DecisionReport::of(&decisions(&labels, &scores, 0.5));
        assert_eq!((report.count, report.positives, report.decided), (8, 3, 4));
        assert_eq!((report.precision, report.recall), (0.5, 2.0 / 3.0));
        assert_eq!(report.f1, 4.0 / 7.0);
        assert!((report.weighted_f1 - 0.630_952_380_952_381).abs() < 1e-15);
        assert!((report.balanced_accuracy - 0.633_333_333_333_333_3).abs() < 1e-15);
        assert_eq!(report.area_under_curve, Some(0.7));
    }

    #[test]
    fn always_and_never_are_half_right() {
        let labels = [true, false, false];
        let always = DecisionReport::of_constant(labels, true);
        assert_eq!((always.recall, always.balanced_accuracy), (1.0, 0.5));
        assert_eq!((always.precision, always.area_under_curve), (1.0 / 3.0, Some(0.5)));
        let never = DecisionReport::of_constant(labels, false);
        assert_eq!((never.f1, never.balanced_accuracy), (0.0, 0.5));
        assert_eq!(DecisionReport::of_constant([true], true).area_under_curve, None);
    }

    #[test]
    fn the_best_threshold_is_between_two_scores() {
        assert_eq!(best_threshold(&[(true, 0.9), (true, 0.7), (false, 0.5), (false, 0.1)]), 0.6);
        assert_eq!(best_threshold(&[(false, 0.9), (true, 0.1)]), f64::INFINITY, "never");
        assert_eq!(best_threshold(&[(true, 0.5), (false, 0.5), (false, 0.5)]), f64::INFINITY);
        assert_eq!(best_threshold(&[]), f64::INFINITY);
    }
}
