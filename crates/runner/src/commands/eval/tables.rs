//! The tables of `--full`: figures and confusions of need labels.

use crate::failure::Outcome;
use crate::output::{Cell, Sheet, print_all};
use crate::settings::Settings;
use clariq_collections::clariq::evaluation::NeedReport;
use clariq_collections::evaluation::EvalResult;
use clariq_core::Result;

pub(super) fn print_needs(
    settings: &Settings,
    scored: &EvalResult,
    report: &NeedReport,
) -> Result<Outcome> {
    let mut weighted = [0.0; 3];
    weighted.iter_mut().zip(&scored.figures).for_each(|(value, (_, figure))| *value = *figure);
    let sheets = [("classes", classes(weighted, report)), ("figures", figures(report))];
    let printed = print_all(&sheets, settings.format)?;
    let legend = "as none … as 4: topics with this label by what was predicted; none: no prediction \
                  from 1 to 4";
    settings.note(legend);
    Ok(printed)
}

/// A row for each need with its figures and its row of the confusion matrix, and the averages.
fn classes(weighted: [f64; 3], report: &NeedReport) -> Sheet {
    let header =
        ["need", "precision", "recall", "F1", "support", "as none", "as 1", "as 2", "as 3", "as 4"];
    let mut sheet = Sheet::new(&header);
    let figures = |figures: [f64; 3]| figures.map(|figure| Cell::Figure(figure, 4));
    let mut sums = [0; 5];
    for class in &report.classes {
        let mut row = vec![Cell::text(class.need.to_string())];
        row.extend(figures([class.precision, class.recall, class.f1]));
        row.push(Cell::count(class.support));
        row.extend(class.predicted_as.map(Cell::count));
        sheet.row(row);
        sums.iter_mut().zip(class.predicted_as).for_each(|(sum, count)| *sum += count);
    }
    let support = Cell::count(sums.iter().sum());
    for (name, averages) in [("macro", report.macro_average), ("weighted", weighted)] {
        let mut row = vec![Cell::text(name)];
        row.extend(figures(averages));
        row.push(support.clone());
        row.extend(sums.map(Cell::count));
        sheet.row(row);
    }
    sheet
}

fn figures(report: &NeedReport) -> Sheet {
    let mut sheet = Sheet::new(&["measure", "value"]);
    let kappa = report.quadratic_kappa.map_or(Cell::Nothing, |kappa| Cell::Figure(kappa, 6));
    sheet.row(vec![Cell::text("accuracy"), Cell::Figure(report.accuracy, 6)]);
    sheet.row(vec![Cell::text("mean absolute error"), Cell::Figure(report.mean_absolute_error, 6)]);
    sheet.row(vec![Cell::text("quadratic weighted kappa"), kappa]);
    sheet
}
