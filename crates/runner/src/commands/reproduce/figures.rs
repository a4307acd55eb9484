//! Figures beside what was expected and published, as a table.

use crate::output::{Cell, Format, Sheet};
use clariq_experiment::reproduce::Figure;
use clariq_rank::Uses;

/// The figures of systems on splits.
pub(super) struct Figures {
    sheet: Sheet,
    for_reading: bool,
    /// Whether a system looks at more than one request and the documents.
    any_uses: bool,
}

impl Figures {
    pub(super) fn new(format: Option<Format>) -> Self {
        let for_reading = matches!(format, None | Some(Format::Table));
        let mut columns = vec![
            "system",
            "split",
            "uses",
            "measure",
            "published",
            "expected",
            "obtained",
            "verdict",
        ];
        if !for_reading {
            columns.insert(columns.len() - 1, "difference");
        }
        Self { sheet: Sheet::new(&columns), for_reading, any_uses: false }
    }

    pub(super) fn add(&mut self, figure: &Figure, split: &str) {
        let number =
            |value: Option<f64>| value.map_or(Cell::Nothing, |value| Cell::Figure(value, 6));
        self.any_uses |= !figure.uses.is_empty();
        let mut row = vec![
            Cell::text(figure.system),
            Cell::text(split),
            self.uses(&figure.uses),
            Cell::text(&figure.measure),
            number(figure.published),
            number(figure.expected),
            Cell::Figure(figure.obtained, 6),
        ];
        if !self.for_reading {
            let difference = figure.expected.map(|expected| figure.obtained - expected);
            // A difference that is shown as zero has no sign.
            row.push(number(difference.map(|by| if by.abs() < 5e-7 { 0.0 } else { by })));
        }
        let verdict = figure.verdict.map_or("-".to_owned(), |verdict| verdict.to_string());
        row.push(Cell::text(verdict));
        self.sheet.row(row);
    }

    /// What a system looks at: in letters where a line of a terminal must hold it.
    fn uses(&self, uses: &[Uses]) -> Cell {
        if uses.is_empty() {
            return Cell::Nothing;
        }
        let names: Vec<String> = uses.iter().map(ToString::to_string).collect();
        if self.for_reading {
            return Cell::text(
                names.iter().filter_map(|name| name.chars().next()).collect::<String>(),
            );
        }
        Cell::text(names.join(", "))
    }

    /// The table, and what its letters stand for.
    pub(super) fn finish(self) -> (Sheet, Option<&'static str>) {
        let letters =
            "note: uses: t labels of train, d labels of dev (for test alone), b the batch";
        let legend = (self.for_reading && self.any_uses).then_some(letters);
        (self.sheet, legend)
    }
}
