//! The verdict on runs beside a baseline: which measures fell, and what the number of topics can show.
//!
//! Sources: the interval is the percentile bootstrap of Efron & Tibshirani, *An introduction to the
//! bootstrap*, 1993, chapter 13; the smallest effect is that of Cohen, *Statistical power analysis for the
//! behavioral sciences*, 1988, for a paired t-test.

#![expect(clippy::implicit_hasher, reason = "groups come from one reader")]

use crate::comparison::Score;
use crate::need_interval::mean_interval;
use crate::significance::{PairedTest, ROUNDS, holm, paired_test};
use clariq_core::RequestId;
use statrs::distribution::{ContinuousCDF, StudentsT};
use std::collections::{BTreeMap, HashMap, HashSet};

/// The usual power: the share of comparisons in which an effect of this size is found.
const POWER: f64 = 0.8;

/// The demands of a gate.
#[derive(Debug, Clone, Copy)]
pub struct GateRule {
    /// The fall of a mean that is still admitted, from 0.
    pub admitted_fall: f64,
    /// The highest corrected p of a fall that counts.
    pub alpha: f64,
    /// The seed of the tests and of the intervals.
    pub seed: u64,
}

/// A run beside the baseline by one measure, over all topics or over those of a group.
#[derive(Debug, Clone, PartialEq)]
pub struct GateRow {
    /// The position of the run.
    pub run: usize,
    /// The position of the column.
    pub column: usize,
    /// The group of topics; `None` for all of them.
    pub group: Option<String>,
    /// The number of topics.
    pub topics: usize,
    /// The mean of the baseline over the topics.
    pub baseline: f64,
    /// The mean of the run over the topics.
    pub mean: f64,
    /// The tests over the topics.
    pub test: PairedTest,
    /// The p of the randomisation test after Holm's correction for all rows.
    pub corrected: f64,
    /// The 95 % interval of the mean difference: percentiles of 10,000 bootstrap samples of the topics.
    pub interval: (f64, f64),
    /// The smallest difference that so many topics, with differences that vary so much, show in 80 of 100
    /// comparisons, at the level that Holm's correction demands of the first row; `None` if nothing
    /// varies.
    pub detectable: Option<f64>,
    /// True if the mean fell by more than is admitted, and significantly.
    pub is_worse: bool,
}

/// Compares every other run with the first: over all topics, and then over those of each group, in the
/// order of their names. All rows are corrected together.
///
/// # Panics
///
/// If runs differ in their columns or in their topics.
pub fn gate(
    runs: &[&[Score]],
    groups: &HashMap<RequestId, String>,
    rule: &GateRule,
) -> Vec<GateRow> {
    let mut rows = Vec::new();
    for (run, columns) in runs.iter().enumerate().skip(1) {
        for (column, (values, baseline)) in columns.iter().zip(runs[0]).enumerate() {
            for (group, topics) in parts(values, groups) {
                let pick = |column: &Score| -> Vec<f64> {
                    topics.iter().map(|&topic| column.values[topic].1).collect()
                };
                let row = compared(&pick(values), &pick(baseline), rule.seed);
                rows.push(GateRow { run, column, group, ..row });
            }
        }
    }
    let raw: Vec<f64> = rows.iter().map(|row| row.test.randomisation_p).collect();
    let level = rule.alpha / raw.len().max(1) as f64;
    for (row, corrected) in rows.iter_mut().zip(holm(&raw)) {
        row.corrected = corrected;
        row.is_worse = -row.test.mean_difference > rule.admitted_fall && corrected <= rule.alpha;
        row.detectable = detectable(&row.test, row.topics, level);
    }
    rows
}

/// The positions of all topics, and of those of each group.
fn parts(column: &Score, groups: &HashMap<RequestId, String>) -> Vec<(Option<String>, Vec<usize>)> {
    let mut named: BTreeMap<&String, Vec<usize>> = BTreeMap::new();
    for (place, (topic, _)) in column.values.iter().enumerate() {
        if let Some(group) = groups.get(topic) {
            named.entry(group).or_default().push(place);
        }
    }
    let all = (None, (0..column.values.len()).collect());
    let named = named.into_iter().map(|(group, topics)| (Some(group.clone()), topics));
    std::iter::once(all).chain(named).collect()
}

/// A row without what depends on the others.
fn compared(run: &[f64], baseline: &[f64], seed: u64) -> GateRow {
    let mean = |values: &[f64]| crate::exact_mean(values.iter().copied());
    let differences: Vec<f64> = run.iter().zip(baseline).map(|(run, base)| run - base).collect();
    GateRow {
        run: 0,
        column: 0,
        group: None,
        topics: run.len(),
        baseline: mean(baseline),
        mean: mean(run),
        test: paired_test(run, baseline, ROUNDS, seed),
        corrected: 1.0,
        interval: mean_interval(&differences, seed),
        detectable: None,
        is_worse: false,
    }
}

/// The effect that a two-sided paired t-test of this level finds with the usual power, (t₁ + t₂) s / √n
/// with t₁ and t₂ the quantiles of 1 − level / 2 and of the power.
fn detectable(test: &PairedTest, topics: usize, level: f64) -> Option<f64> {
    let error = test.mean_difference / test.t;
    let distribution = StudentsT::new(0.0, 1.0, topics.checked_sub(1)? as f64).ok()?;
    let quantiles = distribution.inverse_cdf(1.0 - level / 2.0) + distribution.inverse_cdf(POWER);
    Some(quantiles * error).filter(|effect| effect.is_finite() && *effect > 0.0)
}

/// Takes out of each column the topics that the same column of another run lacks. Returns them, in the
/// order of the first column that has them.
pub fn keep_common_topics(runs: &mut [&mut Vec<Score>]) -> Vec<RequestId> {
    let mut left_out: Vec<RequestId> = Vec::new();
    let columns = runs.first().map_or(0, |columns| columns.len());
    for column in 0..columns {
        let topics = |columns: &Vec<Score>| -> HashSet<RequestId> {
            columns[column].values.iter().map(|(topic, _)| topic.clone()).collect()
        };
        let all: Vec<HashSet<RequestId>> = runs.iter().map(|columns| topics(columns)).collect();
        for columns in runs.iter_mut() {
            columns[column].values.retain(|(topic, _)| {
                let is_common = all.iter().all(|topics| topics.contains(topic));
                if !is_common && !left_out.contains(topic) {
                    left_out.push(topic.clone());
                }
                is_common
            });
        }
    }
    left_out
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 20 pairs.
    const BASELINE: [f64; 20] = [
        0.42, 0.17, 0.93, 0.55, 0.08, 0.61, 0.77, 0.30, 0.49, 0.66, 0.12, 0.85, 0.39, 0.58, 0.24,
        0.71, 0.03, 0.95, 0.46, 0.52,
    ];
    const RUN: [f64; 20] = [
        0.40, 0.22, 0.88, 0.41, 0.08, 0.50, 0.79, 0.21, 0.35, 0.66, 0.15, 0.70, 0.33, 0.60, 0.11,
        0.64, 0.02, 0.90, 0.30, 0.47,
    ];

    fn column(values: &[f64]) -> Score {
        let values = values.iter().enumerate();
        Score::new("", "AP", values.map(|(n, v)| (n.to_string().as_str().into(), *v)).collect())
    }

    fn rows(run: &[f64], baseline: &[f64], groups: &HashMap<RequestId, String>) -> Vec<GateRow> {
        let rule = GateRule { admitted_fall: 0.0, alpha: 0.05, seed: 42 };
        gate(&[&[column(baseline)], &[column(run)]], groups, &rule)
    }

    #[test]
    fn an_equal_run_a_noisy_one_and_a_worse_one() {
        let none = HashMap::new();
        let equal = &rows(&BASELINE, &BASELINE, &none)[0];
        assert_eq!((equal.is_worse, equal.interval, equal.detectable), (false, (0.0, 0.0), None));
        let noisy: Vec<f64> = BASELINE
            .iter()
            .zip(0..)
            .map(|(v, n)| v + if n % 2 == 0 { 0.05 } else { -0.06 })
            .collect();
        let noisy = &rows(&noisy, &BASELINE, &none)[0];
        assert!(!noisy.is_worse && noisy.test.mean_difference < 0.0);
        let worse: Vec<f64> = BASELINE.iter().map(|value| value - 0.1 * value).collect();
        assert!(rows(&worse, &BASELINE, &none)[0].is_worse);
    }

    #[test]
    fn a_fall_that_is_admitted_is_not_worse() {
        let runs = [&[column(&BASELINE)][..], &[column(&RUN)]];
        let is_worse = |admitted_fall| {
            let rule = GateRule { admitted_fall, alpha: 0.05, seed: 42 };
            gate(&runs, &HashMap::new(), &rule)[0].is_worse
        };
        assert!(is_worse(0.055) && !is_worse(0.056), "the mean fell by .0555");
    }

    #[test]
    fn interval_and_smallest_effect_are_those_of_scipy_and_statsmodels() {
        let row = &rows(&RUN, &BASELINE, &HashMap::new())[0];
        // `scipy.stats.bootstrap(method="percentile")` with 300,000 samples; with 10,000, its own ends
        // move by .0015 from seed to seed.
        let (low, high) = row.interval;
        assert!((low + 0.0840).abs() < 0.0015 && (high + 0.0275).abs() < 0.0015, "{low} {high}");
        // `statsmodels.stats.power.TTestPower().solve_power(nobs=20, alpha=.05, power=.8)` times s has
        // .043781, by the noncentral t distribution.
        assert!((row.detectable.unwrap() - 0.043_781).abs() < 1e-4);
    }

    #[test]
    fn groups_are_rows_and_all_are_corrected_together() {
        let groups: HashMap<RequestId, String> = (0..16)
            .map(|n| (n.to_string().as_str().into(), if n < 8 { "low" } else { "high" }.to_owned()))
            .collect();
        let mut run = BASELINE;
        run[..8].iter_mut().for_each(|value| *value -= 0.05);
        let rows = rows(&run, &BASELINE, &groups);
        let found: Vec<_> =
            rows.iter().map(|row| (row.group.as_deref(), row.topics, row.is_worse)).collect();
        assert_eq!(found, [(None, 20, true), (Some("high"), 8, false), (Some("low"), 8, true)]);
        assert_eq!(rows[2].test.randomisation_p, 2.0 / 256.0);
        assert_eq!(rows[2].corrected, 3.0 * 2.0 / 256.0);
    }

    #[test]
    fn topics_that_a_run_lacks_are_left_out_of_both() {
        let mut baseline = vec![column(&[1.0, 0.5, 0.25])];
        let mut run = vec![column(&[1.0, 0.5])];
        assert_eq!(keep_common_topics(&mut [&mut baseline, &mut run]), ["2".into()]);
        assert_eq!(baseline, run);
    }
}
