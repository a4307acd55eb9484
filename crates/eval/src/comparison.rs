//! Values of runs topic by topic, in the order of results, and tests of several runs against one of them.

use crate::mean::exact_mean;
use crate::significance::{PairedTest, ROUNDS, holm, paired_test};
use clariq_core::RequestId;

/// The values of a run by one measure, topic by topic.
#[derive(Debug, Clone, PartialEq)]
pub struct Column {
    /// The measured part of a run and the labels, as in `statements (NIST)`; empty if there is only
    /// one.
    pub part: String,
    /// The name of the measure.
    pub measure: String,
    /// The case that a value belongs to: `turn`, `topic` or `facet`.
    pub unit: &'static str,
    /// The topics with their values, in the order of [`sort_by_topic`].
    pub values: Vec<(RequestId, f64)>,
    /// The depth of the run, if the measure has a greater cut-off.
    pub short_of: Option<usize>,
}

impl Column {
    /// A column of topics in any order.
    pub fn new(
        part: impl Into<String>,
        measure: impl Into<String>,
        mut values: Vec<(RequestId, f64)>,
    ) -> Self {
        sort_by_topic(&mut values, |(topic, _)| topic.as_str());
        Self { part: part.into(), measure: measure.into(), unit: "turn", values, short_of: None }
    }

    /// The part and the measure: `statements (NIST) nDCG@3`.
    pub fn name(&self) -> String {
        if self.part.is_empty() {
            return self.measure.clone();
        }
        format!("{} {}", self.part, self.measure)
    }

    /// The mean over its topics, rounded once.
    pub fn mean(&self) -> f64 {
        exact_mean(self.values.iter().map(|(_, value)| *value))
    }

    fn figures(&self) -> Vec<f64> {
        self.values.iter().map(|(_, value)| *value).collect()
    }
}

/// A run against the baseline by one measure.
#[derive(Debug, Clone, PartialEq)]
pub struct BaselineTest {
    /// The position of the run.
    pub run: usize,
    /// The position of the column.
    pub column: usize,
    /// The tests, over the topics of the column.
    pub test: PairedTest,
    /// The p of the randomisation test after Holm's correction for all tests that are made
    /// together.
    pub corrected: f64,
}

/// Tests every other run against the baseline by every column, run after run.
///
/// # Panics
///
/// If runs differ in their columns or numbers of topics, or `baseline` is not the position of a
/// run.
pub fn test_against_baseline(runs: &[&[Column]], baseline: usize, seed: u64) -> Vec<BaselineTest> {
    let mut tested = Vec::new();
    for (run, columns) in runs.iter().enumerate().filter(|(run, _)| *run != baseline) {
        for (column, (values, base)) in columns.iter().zip(runs[baseline]).enumerate() {
            let test = paired_test(&values.figures(), &base.figures(), ROUNDS, seed);
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

    fn column(values: &[f64]) -> Column {
        let values = values.iter().enumerate();
        let values = values.map(|(topic, value)| (topic.to_string().as_str().into(), *value));
        Column::new("sets (NIST)", "F1", values.collect())
    }

    #[test]
    fn topics_are_in_order_and_the_mean_is_over_them() {
        let column = Column::new("", "AP", vec![("10".into(), 0.5), ("9".into(), 0.0)]);
        assert_eq!(column.values, [("9".into(), 0.0), ("10".into(), 0.5)]);
        assert_eq!((column.mean(), column.name()), (0.25, "AP".to_owned()));
        assert_eq!(super::tests::column(&[]).name(), "sets (NIST) F1");
    }

    #[test]
    fn each_run_is_tested_by_each_column_and_all_are_corrected_together() {
        let low = [column(&[0.0; 6]), column(&[0.0; 6])];
        let high = [column(&[1.0; 6]), column(&[0.0; 6])];
        let tested = test_against_baseline(&[&high, &low, &low], 1, 42);
        let places: Vec<_> = tested.iter().map(|tested| (tested.run, tested.column)).collect();
        assert_eq!(places, [(0, 0), (0, 1), (2, 0), (2, 1)]);
        assert_eq!((tested[0].test.wins, tested[0].test.randomisation_p), (6, 2.0 / 64.0));
        assert_eq!(tested[0].corrected, 4.0 * 2.0 / 64.0, "the smallest of four");
        assert_eq!(tested[1].corrected, 1.0);
    }
}
