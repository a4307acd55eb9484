//! The table of a comparison for a paper, as LaTeX.

use super::ComparisonResult;
use crate::arguments::{NamedValues, one_of};
use crate::output::{Cell, ComparedNumber, Direction, Format, Sheet};
use clap::Args;
use clariq_core::{Problem, bail, count_of};
use clariq_eval::{BaselineTest, ROUNDS, SAMPLES, mean_interval};

#[derive(Args)]
pub(super) struct PaperArgs {
    /// Digits of scores in a table for a paper (--format latex)
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=8))]
    digits: Option<u8>,
    /// Caption of a table for a paper, which makes it a `table` (--format latex)
    #[arg(long, value_name = "TEXT")]
    caption: Option<String>,
    /// Further columns of every measure of a table for a paper: the corrected p, and the 95 % interval of the
    /// difference from the baseline (--format latex)
    #[arg(long, value_name = "COLUMNS", value_delimiter = ',', value_parser = one_of(FURTHER))]
    columns: Vec<Further>,
}

/// A further column of a measure.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Further {
    /// p after Holm's correction.
    P,
    /// The interval of the difference.
    Interval,
}

const FURTHER: NamedValues<Further> = &[("p", Further::P, ""), ("ci", Further::Interval, "")];

impl PaperArgs {
    /// The options with what was given, for messages.
    pub(super) fn given(&self) -> [(&'static str, bool); 3] {
        [
            ("--digits", self.digits.is_some()),
            ("--caption", self.caption.is_some()),
            ("--columns", !self.columns.is_empty()),
        ]
    }

    /// Refuses them beside another format.
    pub(super) fn check(&self, format: Option<Format>) -> Result<(), Problem> {
        let given = self.given().into_iter().find(|(_, is_given)| *is_given);
        if let Some((option, _)) = given.filter(|_| format != Some(Format::Latex)) {
            let hint = "other formats have the digits and columns that they need: leave it out";
            bail!(option, "--format latex beside it", "another format", hint);
        }
        Ok(())
    }
}

impl ComparisonResult {
    /// A row for each run and columns for each measure, in groups of the parts of the runs. The best score of a
    /// column is bold, and daggers mark significant differences.
    pub(super) fn for_paper(&self, paper: &PaperArgs) -> Sheet {
        let scores = &self.runs[0].scores;
        let digits = paper.digits.unwrap_or(4).into();
        let mut header = vec!["run".to_owned()];
        for score in scores {
            header.push(score.measure.clone());
            header.extend(paper.columns.iter().map(|column| match column {
                Further::P => "p".to_owned(),
                Further::Interval => "95 % interval".to_owned(),
            }));
        }
        let mut sheet = Sheet::new(&header);
        sheet.caption.clone_from(&paper.caption);
        if scores.iter().any(|score| !score.part.is_empty()) {
            let parts = scores.chunk_by(|a, b| a.part == b.part);
            let width = 1 + paper.columns.len();
            let groups = parts.map(|part| (part[0].part.trim().to_owned(), width * part.len()));
            sheet.groups = [(String::new(), 1)].into_iter().chain(groups).collect();
        }
        sheet.title = Some(self.how_tested(!paper.columns.is_empty()));
        for (index, run) in self.runs.iter().enumerate() {
            let mut row = vec![Cell::text(&run.name)];
            for column in 0..scores.len() {
                row.push(self.compared_figure(index, column, digits));
                let tested = self.test_of(index, column);
                row.extend(paper.columns.iter().map(|further| match (further, tested) {
                    (_, None) => Cell::Nothing,
                    (Further::P, Some(tested)) => Cell::Probability(tested.corrected),
                    (Further::Interval, Some(_)) => self.interval(index, column, digits),
                }));
            }
            sheet.row(row);
        }
        sheet
    }

    /// The comment above the table: its marks, the test, and over what it is.
    fn how_tested(&self, has_intervals: bool) -> String {
        let mut over: Vec<String> = Vec::new();
        for score in &self.runs[0].scores {
            over.push(count_of(score.values.len(), score.unit));
        }
        over.dedup();
        let Self { alpha, seed, .. } = self;
        let baseline = &self.runs[0].name;
        let comparisons = count_of(self.tested.len(), "comparison");
        let intervals = if has_intervals {
            format!("; 95 % intervals of differences by percentiles of {SAMPLES} bootstrap samples")
        } else {
            String::new()
        };
        format!(
            "best in bold; dagger: significantly better than {baseline}, double dagger: worse (p <= {alpha}, \
             two-sided paired randomisation test of {ROUNDS} rounds, Holm's correction for {comparisons}, n = {}, \
             seed {seed}{intervals})",
            over.join(" and ")
        )
    }

    fn test_of(&self, run: usize, column: usize) -> Option<&BaselineTest> {
        self.tested.iter().find(|tested| (tested.run, tested.column) == (run, column))
    }

    fn compared_figure(&self, run: usize, column: usize, digits: usize) -> Cell {
        let value = self.runs[run].scores[column].value();
        let mut others = self.runs.iter().map(|run| run.scores[column].value());
        let is_best = others.all(|other| other <= value);
        let marked = self.test_of(run, column).filter(|tested| self.is_marked(tested));
        let direction = marked.map(|tested| {
            if tested.test.mean_difference > 0.0 { Direction::Better } else { Direction::Worse }
        });
        Cell::Compared(ComparedNumber { value, digits, is_best, direction })
    }

    /// The interval of the difference of a run from the baseline.
    fn interval(&self, run: usize, column: usize, digits: usize) -> Cell {
        let values =
            |run: usize| self.runs[run].scores[column].values.iter().map(|(_, value)| *value);
        let differences: Vec<f64> =
            values(run).zip(values(0)).map(|(value, base)| value - base).collect();
        let (low, high) = mean_interval(&differences, self.seed);
        Cell::Between([low, high], digits)
    }
}
