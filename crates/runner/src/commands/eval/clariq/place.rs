//! `clariq eval --place`: the rank that the run would have among the published entries.

use crate::commands::eval::arguments::{EvalArgs, Task};
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::clariq::evaluation::{Leaderboard, LeaderboardTask, Placement};
use clariq_collections::clariq::{Bank, Split};
use std::io::{self, Write};
use std::path::Path;

/// The first digits of the checksum of the released question bank, which the published figures are
/// about.
const REAL_BANK: &str = "2100c70232f6";

/// Entries that are shown on either side of the run.
const NEIGHBOURS: usize = 3;

/// The run among its neighbours; `None` where that was not asked for or means nothing, which is
/// then said.
pub(super) fn sheet(
    settings: &Settings,
    arguments: &EvalArgs,
    bank: &Bank,
    split: Split,
    path: &Path,
    figures: &[(String, f64)],
) -> Option<Sheet> {
    if !arguments.place {
        return None;
    }
    if !bank.checksum().as_str().starts_with(REAL_BANK) {
        settings
            .note("note: no placement: the leaderboard is about the released ClariQ collection, and this is another");
        return None;
    }
    let Some(board) = Leaderboard::published(task(arguments), split) else {
        settings.note(&format!(
            "note: no placement: no leaderboard of this task was published for {split}"
        ));
        return None;
    };
    let of = |name: &&str| {
        figures.iter().find(|(measure, _)| measure == name).map(|(_, figure)| *figure)
    };
    let Some(own) = board.measures.iter().map(of).collect::<Option<Vec<f64>>>() else {
        settings.note(&format!("note: no placement: it needs {}", board.measures.join(", ")));
        return None;
    };
    let placement = board.place(&own);
    let decides = board.measures[board.ordered_by[0]];
    settings.note(&format!(
        "placement on {split} by {decides}: rank {} of {}; final: the published rank, by the figures on test",
        placement.rank, placement.ranked
    ));
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    Some(neighbours(&board, &placement, &own, &name).fit(2, settings.format))
}

/// Below lines that are not a table.
pub(super) fn print_below(placed: &Sheet) -> Result<(), Failure> {
    writeln!(io::stdout())?;
    Ok(placed.print(None)?)
}

fn task(arguments: &EvalArgs) -> LeaderboardTask {
    match (arguments.task, arguments.multi_turn) {
        (Task::QuestionRelevance, _) => LeaderboardTask::QuestionRelevance,
        (Task::ClarificationNeed, _) => LeaderboardTask::ClarificationNeed,
        (Task::DocumentRelevance, false) => LeaderboardTask::DocumentRelevance,
        (Task::DocumentRelevance, true) => LeaderboardTask::MultiTurnDocumentRelevance,
    }
}

/// Entries around the run, the run between them, and below it its rank by each measure alone.
fn neighbours(board: &Leaderboard, placement: &Placement, own: &[f64], name: &str) -> Sheet {
    let measures = board.measures.iter().map(|&measure| short(measure));
    let header = ["rank", "team", "model"].into_iter().chain(measures).chain(["final"]);
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

/// Names that take less of a line.
fn short(measure: &'static str) -> &'static str {
    match measure {
        "Recall5" => "R@5",
        "Recall10" => "R@10",
        "Recall20" => "R@20",
        "Recall30" => "R@30",
        measure => measure,
    }
}
