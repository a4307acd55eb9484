//! The verdict as tables: a row per run and measure, and for programs a row of the whole.

use super::GateVerdict;
use crate::output::{Cell, Format, Sheet};
use clariq_eval::GateRow;

impl GateVerdict<'_> {
    /// The tables: for people the rows under the sentence; for programs the verdict and complete rows,
    /// of which one table alone has the rows.
    pub(in super::super) fn sheets(&self, format: Option<Format>) -> Vec<(&'static str, Sheet)> {
        match format {
            Some(Format::Tsv | Format::Csv) => vec![("comparisons", self.complete())],
            Some(Format::Json | Format::Jsonl) => {
                vec![("verdict", self.of_all()), ("comparisons", self.complete())]
            }
            _ => vec![("comparisons", self.readable(format))],
        }
    }

    /// `held`, `worse`, or `below`.
    fn word(&self, row: &GateRow) -> &'static str {
        match self.missed_floor(row) {
            _ if row.is_worse => "worse",
            Some(_) => "below",
            None => "held",
        }
    }

    fn of_all(&self) -> Sheet {
        let mut sheet = Sheet::new(&["verdict", "sentence", "alpha", "admitted_fall"]);
        let word = if self.is_held() { "held" } else { "worse" };
        sheet.row(vec![
            Cell::text(word),
            Cell::text(self.sentence()),
            Cell::Number(self.compared.alpha, 6),
            self.arguments.fail_if_worse.map_or(Cell::Nothing, |fall| Cell::Number(fall, 6)),
        ]);
        sheet
    }

    fn readable(&self, format: Option<Format>) -> Sheet {
        let header = [
            "by", "run", "baseline", "mean", "diff", "95 %", "W/T/L", "p Holm", "seen", "judged",
            "",
        ];
        let mut sheet = Sheet::new(&header);
        for row in &self.rows {
            let (low, high) = row.interval;
            let test = &row.test;
            let judged = [0, row.run].map(|run| self.judged[run][row.column]);
            let judged = match (judged, &row.group) {
                ([Some(base), Some(run)], None) => Cell::text(format!("{base:.2}/{run:.2}")),
                _ => Cell::Nothing,
            };
            sheet.row(vec![
                Cell::text(self.measure(row)),
                Cell::text(&self.compared.runs[row.run].name),
                Cell::Number(row.baseline, 4),
                Cell::Number(row.mean, 4),
                Cell::Number(test.mean_difference, 4),
                Cell::text(format!("{low:.4} to {high:.4}")),
                Cell::text(format!("{}/{}/{}", test.wins, test.ties, test.losses)),
                Cell::Probability(row.corrected),
                row.detectable.map_or(Cell::Nothing, |effect| Cell::Number(effect, 4)),
                judged,
                Cell::text(self.word(row)),
            ]);
        }
        sheet.title = Some(self.sentence());
        sheet.fit_names(1, format)
    }

    fn complete(&self) -> Sheet {
        let columns = "measure group run baseline topics baseline_mean mean difference low high wins ties \
                       losses p_randomisation p_holm detectable judged_baseline judged verdict";
        let mut sheet = Sheet::new(&columns.split_whitespace().collect::<Vec<_>>());
        for row in &self.rows {
            let run = &self.compared.runs[row.run];
            let test = &row.test;
            let number = |value: Option<f64>| value.map_or(Cell::Nothing, |it| Cell::Number(it, 6));
            let judged = |run: usize| match row.group {
                Some(_) => Cell::Nothing,
                None => number(self.judged[run][row.column]),
            };
            let mut cells = vec![Cell::text(run.scores[row.column].name())];
            cells.push(row.group.as_ref().map_or(Cell::Nothing, Cell::text));
            cells.extend([Cell::text(&run.path), Cell::text(&self.compared.runs[0].path)]);
            cells.push(Cell::count(row.topics));
            let (low, high) = row.interval;
            let figures = [row.baseline, row.mean, test.mean_difference, low, high];
            cells.extend(figures.map(|figure| Cell::Number(figure, 6)));
            cells.extend([test.wins, test.ties, test.losses].map(Cell::count));
            cells.extend([test.randomisation_p, row.corrected].map(Cell::Probability));
            cells.push(number(row.detectable));
            cells.extend([judged(0), judged(row.run), Cell::text(self.word(row))]);
            sheet.row(cells);
        }
        sheet
    }
}
