//! `compare --fail-if-worse`: whether the runs hold the level of their baseline.

mod junit;
mod rows;

use super::ComparisonResult;
use crate::kept_scores::{USUAL_JUDGED, judged, unanswered};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::evaluation::{Evaluation, ScoreOptions};
use clariq_core::{ProblemKind, RequestId, Result, bail, count_of};
use clariq_eval::{GateRow, GateRule, Score, gate, parse_measure};
use clariq_files::fields::{LineForm, for_each_line};
use clariq_files::{FileContent, MOST_OF_A_TABLE, Source, strictly};
use std::collections::HashMap;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct GateArgs {
    /// Ends with status 1 if a measure fell by more than X and significantly [default of X: 0]
    #[arg(long, value_name = "X", num_args = 0..=1, default_missing_value = "0", value_parser = fall)]
    fail_if_worse: Option<f64>,
    /// Ends with status 1 if the mean of a measure is below a value; repeatable
    #[arg(long, value_name = "MEASURE=VALUE", value_parser = floor)]
    fail_below: Vec<(String, f64)>,
    /// File of topics and their groups, `topic group` on a line: a row for each group
    #[arg(long, value_name = "FILE")]
    groups: Option<PathBuf>,
    /// A fall in a group fails as well
    #[arg(long, requires = "groups", requires = "fail_if_worse")]
    any_group: bool,
    /// Refuses runs that lack topics, and topics without a group
    #[arg(long)]
    strict: bool,
    /// File for the verdict as `JUnit` XML, a test case for each row
    #[arg(long, value_name = "FILE")]
    pub(super) junit: Option<PathBuf>,
}

impl GateArgs {
    /// The flags that are given.
    pub(super) fn given(&self) -> [(&'static str, bool); 6] {
        [
            ("--fail-if-worse", self.fail_if_worse.is_some()),
            ("--fail-below", !self.fail_below.is_empty()),
            ("--groups", self.groups.is_some()),
            ("--any-group", self.any_group),
            ("--strict", self.strict),
            ("--junit", self.junit.is_some()),
        ]
    }

    /// True if a verdict is asked for.
    ///
    /// # Errors
    ///
    /// Options of a verdict without one, and a bound of a measure that is not compared.
    pub(super) fn is_asked(&self, scores: &[Score]) -> Result<bool> {
        for (name, _) in &self.fail_below {
            if !scores.iter().any(|score| score.measure == *name) {
                let names: Vec<&str> = scores.iter().map(|score| &*score.measure).collect();
                let expected = format!("one of {}", names.join(", "));
                bail!("--fail-below", expected, "`{name}`", "-m names the measures to compare");
            }
        }
        if self.fail_if_worse.is_some() || !self.fail_below.is_empty() {
            return Ok(true);
        }
        if let Some((flag, _)) = self.given().iter().find(|(_, is_given)| *is_given) {
            bail!(*flag, "--fail-if-worse or --fail-below beside it", "neither");
        }
        Ok(false)
    }

    /// The groups of topics.
    fn read_groups(&self) -> Result<HashMap<RequestId, String>> {
        let Some(file) = &self.groups else { return Ok(HashMap::new()) };
        parse_groups(&Source::new(file).read_at_most(MOST_OF_A_TABLE)?)
    }
}

const GROUP_LINE: LineForm = LineForm {
    names: "<topic> <group>",
    optional: 0,
    unlike_comment: Some(|fields| fields[0] != "#"),
    trailing_words: false,
    kind: ProblemKind::Other,
};

fn parse_groups(input: &FileContent) -> Result<HashMap<RequestId, String>> {
    let mut groups: HashMap<RequestId, String> = HashMap::new();
    strictly(|sink| {
        for_each_line(input, GROUP_LINE, sink, |line, sink| {
            let [topic, group] = [line.fields[0], line.fields[1]];
            let known = groups.insert(topic.into(), group.to_owned());
            if known.is_some_and(|known| known != group) {
                sink(
                    line.problem(
                        "one group for every topic",
                        "leave the line out that is not meant",
                    ),
                );
            }
        })
    })?;
    Ok(groups)
}

/// The verdict of the gate on a comparison.
pub(super) struct GateVerdict<'a> {
    compared: &'a ComparisonResult,
    rows: Vec<GateRow>,
    /// For each run and column, the mean share of judged documents among those that the measure counts.
    judged: Vec<Vec<Option<f64>>>,
    /// The reasons why the comparison is narrower than it looks.
    remarks: Vec<String>,
    arguments: &'a GateArgs,
}

impl<'a> GateVerdict<'a> {
    /// The verdict on runs of which `left_out` topics are not compared.
    ///
    /// # Errors
    ///
    /// A bad file of groups, one without any topic of the runs, and with `--strict` any remark.
    pub(super) fn of(
        arguments: &'a GateArgs,
        compared: &'a ComparisonResult,
        evaluation: &dyn Evaluation,
        by: &ScoreOptions,
        left_out: usize,
    ) -> Result<Self> {
        let groups = arguments.read_groups()?;
        let mut remarks = Vec::new();
        if left_out > 0 {
            remarks.push(format!(
                "{} left out, because not all runs have a value",
                count_of(left_out, "topic")
            ));
        }
        for run in &compared.runs {
            let unanswered = match &run.kept {
                Some(kept) => kept.unanswered,
                None => unanswered(&run.scores, run.rankings.as_ref(), evaluation),
            };
            if unanswered > 0 {
                remarks.push(format!(
                    "{} lacks {}, counted 0",
                    run.name,
                    count_of(unanswered, "topic")
                ));
            }
        }
        if let Some(file) = &arguments.groups {
            let topics = &compared.runs[0].scores[0].values;
            let grouped = topics.iter().filter(|(topic, _)| groups.contains_key(topic)).count();
            if grouped == 0 {
                let example = topics.first().map_or("", |(topic, _)| topic.as_str());
                let hint = format!("topics look like `{example}`");
                bail!(file, "topics of the runs with their groups", "none of them", hint);
            }
            if grouped < topics.len() {
                let count = count_of(topics.len() - grouped, "topic");
                remarks.push(format!("{count} without a group"));
            }
        }
        if let Some(remark) = remarks.first().filter(|_| arguments.strict) {
            let hint = "without --strict it is said, and no error";
            bail!("--strict", "the same topics in all files", (remark.clone()), hint);
        }
        let rule = GateRule {
            admitted_fall: arguments.fail_if_worse.unwrap_or(0.0),
            alpha: compared.alpha,
            seed: compared.seed,
        };
        let scores: Vec<&[Score]> = compared.runs.iter().map(|run| &run.scores[..]).collect();
        let judged = compared.runs.iter().map(|run| match &run.kept {
            Some(kept) => run.scores.iter().map(|score| kept.judged(score)).collect(),
            None => judged(&run.scores, &run.file, evaluation, by),
        });
        let judged = judged.collect();
        Ok(Self { compared, rows: gate(&scores, &groups, &rule), judged, remarks, arguments })
    }

    /// The rows that fail the gate because a measure fell.
    fn fallen(&self) -> impl Iterator<Item = &GateRow> {
        let counts = |row: &&GateRow| {
            row.is_worse
                && self.arguments.fail_if_worse.is_some()
                && (row.group.is_none() || self.arguments.any_group)
        };
        self.rows.iter().filter(counts)
    }

    /// The lowest admitted mean of a row, if the mean is below it.
    fn missed_floor(&self, row: &GateRow) -> Option<f64> {
        let measure = &self.compared.runs[row.run].scores[row.column].measure;
        let mut floors = self.arguments.fail_below.iter();
        let (_, floor) =
            floors.find(|(name, _)| name == measure).filter(|_| row.group.is_none())?;
        Some(*floor).filter(|floor| row.mean < *floor)
    }

    pub(super) fn is_held(&self) -> bool {
        self.fallen().next().is_none()
            && self.rows.iter().all(|row| self.missed_floor(row).is_none())
    }

    /// The name of the measure of a row, with its group.
    fn measure(&self, row: &GateRow) -> String {
        let name = self.compared.runs[row.run].scores[row.column].name();
        match &row.group {
            Some(group) => format!("{name} in {group}"),
            None => name,
        }
    }

    /// The verdict in a sentence.
    pub(super) fn sentence(&self) -> String {
        let mut reasons = Vec::new();
        for row in self.fallen() {
            let (low, high) = row.interval;
            reasons.push(format!(
                "{} of {} fell by {:.4} (95 % interval {low:.4} to {high:.4}, p Holm {})",
                self.measure(row),
                self.compared.runs[row.run].name,
                -row.test.mean_difference,
                probability(row.corrected),
            ));
        }
        for row in &self.rows {
            if let Some(floor) = self.missed_floor(row) {
                let run = &self.compared.runs[row.run].name;
                let measure = self.measure(row);
                reasons.push(format!("{measure} of {run} is {:.4}, below {floor}", row.mean));
            }
        }
        let (word, mut parts) =
            if reasons.is_empty() { ("held", vec![self.why_held()]) } else { ("worse", reasons) };
        parts.extend(self.remarks.iter().cloned());
        format!("{word}: {}", parts.join("; "))
    }

    /// Explains the columns of the table.
    pub(super) fn explain(&self, settings: &Settings) {
        settings.note(&format!(
            "95 %: percentile bootstrap of the mean difference, 10,000 samples of the topics; p Holm: paired \
             randomisation test, corrected for {}; both from seed {}.\n\
             seen: the difference that so many topics show in 80 of 100 comparisons; judged: share of judged \
             documents among those that count ({USUAL_JUDGED} without a cut-off), baseline/run.",
            count_of(self.rows.len(), "comparison"),
            self.compared.seed,
        ));
    }

    /// That no measure fell, and what fall would have been seen.
    fn why_held(&self) -> String {
        let first = &self.rows[0];
        let topics = count_of(first.topics, "topic");
        let Some(admitted) = self.arguments.fail_if_worse else {
            return format!("no mean is below its bound, over {topics}");
        };
        let by = if admitted > 0.0 { format!(" by more than {admitted}") } else { String::new() };
        let alpha = self.compared.alpha;
        let seen = first.detectable.map_or_else(String::new, |effect| {
            format!(", which would show a change of {} from about {effect:.4}", self.measure(first))
        });
        format!("no measure fell{by} with p Holm <= {alpha} over {topics}{seen}")
    }
}

fn probability(p: f64) -> String {
    if p < 0.0001 { "<.0001".to_owned() } else { format!("{p:.4}") }
}

fn fall(text: &str) -> Result<f64, String> {
    let fall = text.parse::<f64>().ok().filter(|fall| fall.is_finite() && *fall >= 0.0);
    fall.ok_or_else(|| "expected a number from 0, such as 0.01".to_owned())
}

fn floor(text: &str) -> Result<(String, f64), String> {
    let expected = || "expected a measure and its lowest mean, such as nDCG@10=0.3".to_owned();
    let (name, value) = text.rsplit_once('=').ok_or_else(expected)?;
    let value = value.parse::<f64>().ok().filter(|value| value.is_finite()).ok_or_else(expected)?;
    let measure = parse_measure(name).map_err(|error| error.to_problem().to_string())?;
    Ok((measure.name(), value))
}
