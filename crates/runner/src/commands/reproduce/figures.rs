//! Figures beside what was expected and published, as a table.

use crate::output::{Cell, Sheet};
use clariq_experiment::reproduce::{Figure, Verdict};

const COLUMNS: [&str; 8] =
    ["system", "split", "measure", "published", "expected", "obtained", "difference", "verdict"];

/// A table of figures, without a row.
pub(crate) fn new_sheet() -> Sheet {
    Sheet::new(&COLUMNS)
}

/// A row of such a table.
pub(crate) fn figure_cells(figure: &Figure, split: &str) -> Vec<Cell> {
    let number = |value: Option<f64>| value.map_or(Cell::Nothing, |value| Cell::Figure(value, 6));
    let difference = figure.expected.map(|expected| figure.obtained - expected);
    // A difference that is shown as zero has no sign.
    let difference =
        difference.map(|difference| if difference.abs() < 5e-7 { 0.0 } else { difference });
    vec![
        Cell::text(figure.system),
        Cell::text(split),
        Cell::text(&figure.measure),
        number(figure.published),
        number(figure.expected),
        Cell::Figure(figure.obtained, 6),
        number(difference),
        Cell::text(match figure.verdict {
            Some(Verdict::Equal) => "OK",
            Some(Verdict::Close) => "close",
            Some(Verdict::Fail) => "FAIL",
            None => "-",
        }),
    ]
}
