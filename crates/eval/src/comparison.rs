//! Scores of runs, case by case, in the order of results, and tests of several runs against one of them.

use crate::mean::exact_mean;
use crate::significance::{PairedTest, ROUNDS, holm, paired_test};
use clariq_core::RequestId;

/// The score of a file by one measure, case by case.
#[derive(Debug, Clone, PartialEq)]
pub struct Score {
    /// The measured part of a file and the labels, as in `statements (NIST)`; empty if there is only
    /// one.
    pub part: String,
    /// The name of the measure.
    pub measure: String,
    /// Another name in configurations and of `clariq eval`.
    pub known_as: Option<String>,
    /// The case that a value belongs to: `turn`, `topic` or `facet`.
    pub unit: &'static str,
    /// The cases with their values, in the order of [`sort_by_topic`].
    pub values: Vec<(RequestId, f64)>,
    /// How the values become one score.
    pub aggregate: Aggregate,
    /// True if runs are compared by it.
    pub is_compared: bool,
    /// The depth of the run, if the measure has a greater cut-off.
    pub short_of: Option<usize>,
}

/// How the values of cases become one score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Aggregate {
    /// Their mean, rounded once.
    Mean,
    /// A ratio of sums over all cases.
    Micro(f64),
    /// The mean of classes, weighted by their sizes.
    ByClass(f64),
    /// An end of the confidence interval of a mean.
    Bound(f64),
    /// The lowest and the highest mean over all orders of equal scores.
    Interval {
        /// The lowest value of any order.
        lowest: f64,
        /// The highest value of any order.
        highest: f64,
    },
}

impl Score {
    /// A mean of cases, in any order. A file with parts has turns, and another one topics.
    pub fn new(
        part: impl Into<String>,
        measure: impl Into<String>,
        mut values: Vec<(RequestId, f64)>,
    ) -> Self {
        sort_by_topic(&mut values, |(topic, _)| topic.as_str());
        let part = part.into();
        Self {
            unit: if part.is_empty() { "topic" } else { "turn" },
            part,
            measure: measure.into(),
            known_as: None,
            values,
            aggregate: Aggregate::Mean,
            is_compared: true,
            short_of: None,
        }
    }

    /// A score of all cases together.
    pub fn of_all(
        part: impl Into<String>,
        measure: impl Into<String>,
        aggregate: Aggregate,
    ) -> Self {
        Self { aggregate, is_compared: false, ..Self::new(part, measure, Vec::new()) }
    }

    /// The same score, marked if its cut-off is greater than `depth`, at which the run was cut.
    #[must_use]
    pub fn of_run_cut_at(self, depth: Option<usize>, cutoff: Option<usize>) -> Self {
        Self { short_of: depth.filter(|&depth| cutoff > Some(depth)), ..self }
    }

    /// The interval between scores by the same measure.
    pub fn between(lowest: &Self, highest: &Self) -> Self {
        let Self { part, measure, short_of, .. } = lowest.clone();
        let [lowest, highest] = [lowest.value(), highest.value()];
        let aggregate = Aggregate::Interval { lowest, highest };
        Self { short_of, ..Self::of_all(part, measure, aggregate) }
    }

    /// The name in configurations and of `clariq eval`.
    pub fn known_as(&self) -> String {
        self.known_as.clone().unwrap_or_else(|| self.name())
    }

    /// The part and the measure: `statements (NIST) nDCG@3`.
    pub fn name(&self) -> String {
        if self.part.is_empty() {
            return self.measure.clone();
        }
        format!("{} {}", self.part, self.measure)
    }

    /// The score of all cases; the lowest of an interval.
    pub fn value(&self) -> f64 {
        match self.aggregate {
            Aggregate::Mean => exact_mean(self.values.iter().map(|(_, value)| *value)),
            Aggregate::Micro(value) | Aggregate::ByClass(value) | Aggregate::Bound(value) => value,
            Aggregate::Interval { lowest, .. } => lowest,
        }
    }

    fn of_cases(&self) -> Vec<f64> {
        self.values.iter().map(|(_, value)| *value).collect()
    }
}

/// Keeps the scores that all files have, in the order of the first. Returns the names of the others.
pub fn keep_common(files: &mut [&mut Vec<Score>]) -> Vec<String> {
    let mut names: Vec<Vec<String>> = Vec::with_capacity(files.len());
    for scores in &*files {
        names.push(scores.iter().map(Score::name).collect());
    }
    let is_common = |name: &String| names.iter().all(|names| names.contains(name));
    for scores in files {
        scores.retain(|score| is_common(&score.name()));
        scores.sort_by_key(|score| names[0].iter().position(|name| *name == score.name()));
    }
    let mut left_out: Vec<String> = Vec::new();
    for name in names.iter().flatten().filter(|name| !is_common(name)) {
        if !left_out.contains(name) {
            left_out.push(name.clone());
        }
    }
    left_out
}

/// A run against the baseline by one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineTest {
    /// The position of the run.
    pub run: usize,
    /// The position of the score.
    pub column: usize,
    /// The tests, over the cases of the score.
    pub test: PairedTest,
    /// The p of the randomisation test after Holm's correction for all tests that are made
    /// together.
    pub corrected: f64,
}

/// Tests every other run against the baseline by every score, run after run.
///
/// # Panics
///
/// If runs differ in their scores or numbers of cases, or `baseline` is not the position of a
/// run.
pub fn test_against_baseline(runs: &[&[Score]], baseline: usize, seed: u64) -> Vec<BaselineTest> {
    let mut tested = Vec::new();
    for (run, columns) in runs.iter().enumerate().filter(|(run, _)| *run != baseline) {
        for (column, (values, base)) in columns.iter().zip(runs[baseline]).enumerate() {
            let test = paired_test(&values.of_cases(), &base.of_cases(), ROUNDS, seed);
            tested.push(BaselineTest { run, column, test, corrected: 1.0 });
        }
    }
    let raw: Vec<f64> = tested.iter().map(|tested| tested.test.randomisation_p).collect();
    for (tested, corrected) in tested.iter_mut().zip(holm(&raw)) {
        tested.corrected = corrected;
    }
    tested
}

/// Sorts rows by topic as pandas groups them, and so the official scorer: by number if all ids
/// are whole numbers, by text otherwise.
pub fn sort_by_topic<T>(rows: &mut [T], id: impl Fn(&T) -> &str) {
    if rows.iter().all(|row| id(row).parse::<i64>().is_ok()) {
        rows.sort_by_key(|row| id(row).parse::<i64>().unwrap_or_default());
    } else {
        rows.sort_by(|a, b| id(a).cmp(id(b)));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn score(values: &[f64]) -> Score {
        let values = values.iter().enumerate();
        let values = values.map(|(topic, value)| (topic.to_string().as_str().into(), *value));
        Score::new("sets (NIST)", "F1", values.collect())
    }

    #[test]
    fn topics_are_in_order_and_the_mean_is_over_them() {
        let ap = Score::new("", "AP", vec![("10".into(), 0.5), ("9".into(), 0.0)]);
        assert_eq!(ap.values, [("9".into(), 0.0), ("10".into(), 0.5)]);
        assert_eq!((ap.value(), ap.name()), (0.25, "AP".to_owned()));
        assert_eq!(score(&[]).name(), "sets (NIST) F1");
    }

    #[test]
    fn scores_that_a_file_lacks_are_left_out_of_all() {
        let named = |names: &[&str]| -> Vec<Score> {
            names.iter().map(|name| Score::new("", *name, Vec::new())).collect()
        };
        let mut one = named(&["AP", "RR", "P@5"]);
        let mut other = named(&["P@5", "nDCG@3", "AP"]);
        assert_eq!(keep_common(&mut [&mut one, &mut other]), ["RR", "nDCG@3"]);
        assert_eq!(one, named(&["AP", "P@5"]));
        assert_eq!(other, one);
    }

    #[test]
    fn each_run_is_tested_by_each_score_and_all_are_corrected_together() {
        let low = [score(&[0.0; 6]), score(&[0.0; 6])];
        let high = [score(&[1.0; 6]), score(&[0.0; 6])];
        let tested = test_against_baseline(&[&high, &low, &low], 1, 42);
        let places: Vec<_> = tested.iter().map(|tested| (tested.run, tested.column)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (2, 0), (2, 1)]);
        assert_eq!((tested[0].test.wins, tested[0].test.randomisation_p), (6, 2.0 / 64.0));
        assert_eq!(tested[0].corrected, 4.0 * 2.0 / 64.0, "the smallest of four");
        assert_eq!(tested[1].corrected, 1.0);
    }
}
