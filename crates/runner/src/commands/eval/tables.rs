//! The tables beside an official scorer's figures: figures per need, ranks among published entries.

use crate::failure::Outcome;
use crate::output::{Cell, Sheet, print_all};
use crate::settings::Settings;
use clariq_collections::evaluation::Scored;
use clariq_collections::{Leaderboard, NeedReport, Placement};
use clariq_core::Result;

/// Entries that are shown on either side of the run.
const NEIGHBOURS: usize = 3;

pub(super) fn print_needs(
    settings: &Settings,
    scored: &Scored,
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

pub(super) fn placement(
    settings: &Settings,
    (board, placement): &(Leaderboard, Placement),
    scored: &Scored,
    split: &str,
    name: &str,
) -> Sheet {
    let of = |measure: &&str| scored.figures.iter().find(|(name, _)| name == measure);
    let own: Vec<f64> = board.measures.iter().filter_map(of).map(|(_, figure)| *figure).collect();
    settings.note(&format!(
        "placement on {split} by {}: rank {} of {}; final: the published rank, by the figures on test",
        board.measures[board.ordered_by[0]], placement.rank, placement.ranked
    ));
    neighbours(board, placement, &own, name).fit(2, settings.format)
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

/// Entries around the run, the run between them, and below it its rank by each measure alone.
fn neighbours(board: &Leaderboard, placement: &Placement, own: &[f64], name: &str) -> Sheet {
    let measures = board.measures.iter().map(|measure| measure.replace("Recall", "R@"));
    let header = ["rank", "team", "model"].map(str::to_owned).into_iter().chain(measures);
    let header = header.chain(["final".to_owned()]);
    let mut sheet = Sheet::new(&header.collect::<Vec<_>>());
    let row = |cells: [Cell; 3], figures: Vec<Cell>, last: Cell| {
        [cells.to_vec(), figures, vec![last]].concat()
    };
    let first = placement.before.saturating_sub(NEIGHBOURS);
    let last = (placement.before + NEIGHBOURS).min(placement.order.len());
    for (index, &entry) in placement.order.iter().enumerate().take(last).skip(first) {
        if index == placement.before {
            add_run(&mut sheet, placement, own, name);
        }
        let entry = &board.entries[entry];
        let rank = entry.rank.map_or(Cell::Nothing, |_| Cell::count(rank(board, placement, index)));
        let cells = [rank, Cell::text(&entry.team), Cell::text(&entry.model)];
        sheet.row(row(cells, shown(&entry.figures), entry.rank.map_or(Cell::Nothing, Cell::count)));
    }
    if placement.before == placement.order.len() {
        add_run(&mut sheet, placement, own, name);
    }
    sheet
}

fn add_run(sheet: &mut Sheet, placement: &Placement, own: &[f64], name: &str) {
    let mut row = vec![Cell::count(placement.rank), Cell::text("> run"), Cell::text(name)];
    row.extend(shown(own));
    row.push(Cell::Nothing);
    sheet.row(row);
    let mut row = vec![Cell::Nothing, Cell::text("> rank"), Cell::text("by each measure")];
    row.extend(placement.rank_by.iter().map(|&rank| Cell::count(rank)));
    row.push(Cell::Nothing);
    sheet.row(row);
}

fn shown(figures: &[f64]) -> Vec<Cell> {
    figures.iter().map(|&figure| Cell::Figure(figure, 4)).collect()
}

/// The rank of an entry among the others and the run: oracles have none and take none.
fn rank(board: &Leaderboard, placement: &Placement, index: usize) -> usize {
    let ranked = |entry: &&usize| -> bool { board.entries[**entry].rank.is_some() };
    let above = placement.order[..index].iter().filter(ranked).count();
    1 + above + usize::from(index >= placement.before)
}
