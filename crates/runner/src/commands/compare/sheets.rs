//! The tables of a comparison: for people, for programs, and the topics on which runs differ most.

use super::paper::PaperArgs;
use super::{ComparisonResult, ScoredRun};
use crate::output::{Cell, Format, Sheet, shorten_names, terminal};
use crate::settings::Settings;
use clariq_core::{RequestId, count_of};
use clariq_eval::{BaselineTest, Score};

/// The maximum width of the names of runs in a terminal.
const RUN_WIDTH: usize = 20;

impl ComparisonResult {
    /// The tables of the comparison.
    pub(super) fn sheets(
        &self,
        format: Option<Format>,
        paper: &PaperArgs,
    ) -> Vec<(&'static str, Sheet)> {
        let sheets = match format {
            Some(Format::Tsv | Format::Csv | Format::Json | Format::Jsonl) => vec![self.complete()],
            Some(Format::Latex) => vec![self.for_paper(paper)],
            format => self.readable(format),
        };
        sheets.into_iter().map(|sheet| ("comparisons", sheet)).collect()
    }

    /// Each column with every run and its test; the baseline comes first and has no test.
    fn rows(&self) -> impl Iterator<Item = (&Score, &ScoredRun, Option<&BaselineTest>)> {
        let columns = 0..self.runs[0].scores.len();
        columns.flat_map(move |column| {
            self.runs.iter().enumerate().map(move |(index, run)| {
                let is_of_cell =
                    |tested: &&BaselineTest| (tested.run, tested.column) == (index, column);
                (&run.scores[column], run, self.tested.iter().find(is_of_cell))
            })
        })
    }

    pub(super) fn is_marked(&self, tested: &BaselineTest) -> bool {
        tested.corrected <= self.alpha
    }

    /// For people: a table for each part of the runs, of at most 80 columns on a terminal.
    fn readable(&self, format: Option<Format>) -> Vec<Sheet> {
        let header = ["by", "run", "mean", "diff", "W/T/L", "p t", "p rand", "p Holm", "d", ""];
        let mut sheets: Vec<(&str, Sheet)> = Vec::new();
        for (column, run, tested) in self.rows() {
            if sheets.last().is_none_or(|(part, _)| *part != column.part) {
                let Score { part, unit, values, .. } = column;
                let title = format!("{part}, {} {unit}s", values.len());
                let title = (!column.part.is_empty()).then_some(title);
                sheets.push((&column.part, Sheet { title, ..Sheet::new(&header) }));
            }
            let mut row = vec![Cell::text(&column.measure), Cell::text(&run.name)];
            row.push(match column.short_of {
                Some(_) => Cell::Short(column.value(), 4),
                None => Cell::Number(column.value(), 4),
            });
            row.extend(tested.map_or(vec![Cell::Nothing; 6], against_baseline));
            row.push(Cell::Mark(tested.is_some_and(|tested| self.is_marked(tested))));
            if let Some((_, sheet)) = sheets.last_mut() {
                sheet.row(row);
            }
        }
        sheets.into_iter().map(|(_, sheet)| sheet.fit_names(1, format)).collect()
    }

    /// For programs: every figure in a column of its own, with all digits.
    fn complete(&self) -> Sheet {
        let columns = "measure run baseline topics mean difference wins ties losses t p_t \
                       p_randomisation p_holm effect_size significant";
        let mut sheet = Sheet::new(&columns.split(' ').collect::<Vec<_>>());
        for (column, run, tested) in self.rows() {
            let mut row = vec![Cell::text(column.name()), Cell::text(&run.path)];
            row.push(Cell::text(&self.runs[0].path));
            row.extend([Cell::count(column.values.len()), Cell::Number(column.value(), 6)]);
            row.extend(tested.map_or(vec![Cell::Nothing; 9], all_numbers));
            row.push(tested.map_or(Cell::Nothing, |tested| Cell::Mark(self.is_marked(tested))));
            sheet.row(row);
        }
        sheet
    }

    /// The column by whose differences the topics of a run are chosen: another than the usual one if
    /// the run does not differ from the baseline by that.
    pub(super) fn focus_of(&self, run: usize) -> usize {
        let values = |run: usize, column: usize| &self.runs[run].scores[column].values;
        let differs = |column: &usize| values(run, *column) != values(0, *column);
        let mut columns = [self.focus].into_iter().chain(0..self.runs[0].scores.len());
        columns.find(differs).unwrap_or(self.focus)
    }

    /// Up to `count` topics on which each run differs most from the baseline, with their requests.
    pub(super) fn topics(
        &self,
        text: &dyn Fn(&RequestId) -> String,
        count: usize,
        format: Option<Format>,
    ) -> Sheet {
        let names = shown_names(&self.runs, format);
        let mut sheet = Sheet::new(&["run", "topic", "request", "baseline", "value", "diff"]);
        for (index, run) in self.runs.iter().enumerate().skip(1) {
            let column = self.focus_of(index);
            let baseline = &self.runs[0].scores[column].values;
            for (topic, value, base) in most_different(&run.scores[column].values, baseline, count)
            {
                sheet.row(vec![
                    Cell::text(&names[index]),
                    Cell::text(topic.as_str()),
                    Cell::text(text(topic)),
                    Cell::Number(base, 4),
                    Cell::Number(value, 4),
                    Cell::Number(without_sign_of_zero(value - base), 4),
                ]);
            }
        }
        sheet.fit(2, format)
    }

    /// Explains the columns of the tables, and by which score topics were chosen.
    pub(super) fn explain(&self, settings: &Settings, topics: bool) {
        let count = self.tested.len();
        let scores = &self.runs[0].scores;
        let over = if scores.iter().all(|score| score.part.is_empty()) {
            count_of(scores[0].values.len(), "topic")
        } else {
            let mut units: Vec<String> =
                scores.iter().map(|score| format!("{}s", score.unit)).collect();
            units.dedup();
            format!("the {} of each table", units.join(" or "))
        };
        settings.note(&format!(
            "* p Holm <= {}: significant; that is p rand corrected for {} (Holm 1979).\n\
             p t: paired t-test; p rand: paired randomisation test, seed {}; both two-sided, over {over}.\n\
             diff: run - baseline; W/T/L: topics won, tied, lost; d: mean / standard deviation of the differences.",
            self.alpha,
            count_of(count, "comparison"),
            settings.options.seed,
        ));
        if topics {
            let focus = |run| scores[self.focus_of(run)].name();
            let usual = scores[self.focus].name();
            settings.note(&format!(
                "topics: where {usual} differs most; --topic ID shows the documents of one"
            ));
            for (index, run) in self.runs.iter().enumerate().skip(1) {
                if focus(index) != usual {
                    let other = focus(index);
                    settings.note(&format!(
                        "topics of {}: {other}, because {usual} is the same",
                        run.name
                    ));
                }
            }
        }
    }
}

/// The names of runs beside requests and above ranks: whole paths for programs, and short ones in a
/// terminal.
pub(super) fn shown_names(runs: &[ScoredRun], format: Option<Format>) -> Vec<String> {
    let whole: Vec<String> = runs.iter().map(|run| run.name.clone()).collect();
    match format {
        None | Some(Format::Table) if terminal::is_terminal() => shorten_names(&whole, RUN_WIDTH),
        Some(Format::Tsv | Format::Csv | Format::Json | Format::Jsonl) => {
            runs.iter().map(|run| run.path.clone()).collect()
        }
        _ => whole,
    }
}

fn against_baseline(tested: &BaselineTest) -> Vec<Cell> {
    let test = &tested.test;
    vec![
        Cell::Number(without_sign_of_zero(test.mean_difference), 4),
        Cell::text(format!("{}/{}/{}", test.wins, test.ties, test.losses)),
        Cell::Probability(test.t_p),
        Cell::Probability(test.randomisation_p),
        Cell::Probability(tested.corrected),
        finite(test.effect_size, 2),
    ]
}

fn all_numbers(tested: &BaselineTest) -> Vec<Cell> {
    let test = &tested.test;
    let mut cells = vec![Cell::Number(test.mean_difference, 6)];
    cells.extend([test.wins, test.ties, test.losses].map(Cell::count));
    cells.push(finite(test.t, 6));
    let all = [test.t_p, test.randomisation_p, tested.corrected];
    cells.extend(all.map(Cell::Probability));
    cells.push(finite(test.effect_size, 6));
    cells
}

/// The topics with the largest differences, largest first, equal ones in the order of topics, each
/// with the values of the run and of the baseline. Topics without a difference are left out.
fn most_different<'a>(
    values: &'a [(RequestId, f64)],
    baseline: &[(RequestId, f64)],
    count: usize,
) -> Vec<(&'a RequestId, f64, f64)> {
    let pairs = values.iter().zip(baseline);
    let mut topics: Vec<_> = pairs
        .map(|((topic, value), (_, base))| (topic, *value, *base))
        .filter(|(_, value, base)| value != base)
        .collect();
    topics.sort_by(|a, b| (b.1 - b.2).abs().total_cmp(&(a.1 - a.2).abs()));
    topics.truncate(count);
    topics
}

/// A difference that is shown as zero has no sign.
fn without_sign_of_zero(difference: f64) -> f64 {
    if difference.abs() < 5e-5 { 0.0 } else { difference }
}

/// A figure, or an empty cell if the data do not define it.
fn finite(figure: f64, digits: usize) -> Cell {
    if figure.is_finite() { Cell::Number(figure, digits) } else { Cell::Nothing }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_largest_differences_of_either_sign_come_first() {
        let different = |values: &[f64], baseline: &[f64], count| -> Vec<String> {
            let column = |values: &[f64]| -> Vec<(RequestId, f64)> {
                let values = values.iter().enumerate();
                values.map(|(n, value)| (n.to_string().as_str().into(), *value)).collect()
            };
            let values = column(values);
            let baseline = column(baseline);
            let found = most_different(&values, &baseline, count);
            found.into_iter().map(|(topic, ..)| topic.to_string()).collect()
        };
        let found = different(&[0.5, 0.1, 0.9, 0.3], &[0.5, 0.9, 0.6, 0.0], 5);
        assert_eq!(found, ["1", "2", "3"]);
        assert!(different(&[0.5, 0.1], &[0.4, 0.0], 0).is_empty());
        assert_eq!(different(&[0.5, 0.25], &[0.25, 0.0], 1), ["0"]);
    }
}
