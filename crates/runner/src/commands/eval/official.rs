//! The scores of ClariQ's official scorer in its form: lines, a row of the leaderboard, and tables of
//! needs.

use super::EvalArgs;
use super::printed::{sheet, write_topics};
use crate::failure::Outcome;
use crate::output::{Cell, Sheet, print, print_all};
use crate::settings::Settings;
use clariq_core::{Result, bail};
use clariq_eval::{Aggregate, DecisionReport, Score};
use clariq_files::{Source, python_float};
use clariq_track_clariq::evaluation::{NeedReport, OfficialScores, OfficialTask, leaderboard_row};
use std::io::BufRead as _;
use std::path::Path;

/// The note below the tables of `--full`.
const NEED_LEGEND: &str = "as none … as 4: topics with this label, by their prediction; none: no \
                           prediction from 1 to 4";

pub(super) fn print_official(
    settings: &Settings,
    arguments: &EvalArgs,
    task: &OfficialTask,
    file: &Path,
    found: &OfficialScores,
) -> Result<Outcome> {
    settings.warn(&found.warnings);
    found.published.iter().for_each(|note| settings.note(note));
    let is_needs = *task == OfficialTask::Needs;
    if is_needs && arguments.shown.options.out_file.is_some() {
        settings.note(
            "note: --out-file: nothing is written for clarification need, as in the official scorer",
        );
    }
    let clariq = &arguments.clariq.options;
    if let Some(needs) = found.needs.as_ref().filter(|_| clariq.full) {
        let outcome = print_all(&need_sheets(needs, &found.scores), settings.format)?;
        settings.note(NEED_LEGEND);
        return Ok(outcome);
    }
    let scores = &found.scores;
    if !is_needs && write_topics(arguments, scores)? {
        return Ok(Outcome::Done);
    }
    if clariq.leaderboard {
        let text = leaderboard_text(task, file, scores)?;
        return print(|out| writeln!(out, "{text}"));
    }
    let is_interval =
        scores.iter().any(|score| matches!(score.aggregate, Aggregate::Interval { .. }));
    if settings.format.is_some() || is_interval {
        return sheet(scores, false, false).print(settings.format);
    }
    print(|out| {
        scores.iter().try_for_each(|score| {
            // The official scorer puts two spaces after the first two names of needs and one after the
            // third.
            let space = if is_needs && score.measure != "F1" { "  " } else { " " };
            writeln!(out, "{}:{space}{}", score.measure, python_float(score.value()))
        })
    })
}

/// A row for the leaderboard of the challenge, or its cells where a row has two tasks.
fn leaderboard_text(task: &OfficialTask, file: &Path, scores: &[Score]) -> Result<String> {
    let mut values: Vec<f64> = scores.iter().map(Score::value).collect();
    if *task == OfficialTask::Needs {
        let cells = values.iter().map(|value| format!("<td>{value:.4}</td>"));
        return Ok(cells.collect::<Vec<_>>().join("\n"));
    }
    if matches!(task, OfficialTask::Documents(_)) {
        let Some(row) = leaderboard_row(scores) else {
            let hint = "leave --leaderboard out to see the metrics of the table";
            let expected = "a table with the metrics MRR100, P1, NDCG3 and NDCG5";
            bail!("--leaderboard", expected, "a table without them", hint)
        };
        values = row;
    }
    let cells: Vec<String> = values.iter().map(|value| format!("{value:.4}")).collect();
    let tag = tag_of(file).unwrap_or_else(|| "MODELNAME".to_owned());
    let (team, model) = tag.split_once('/').unwrap_or(("CREATOR", &tag));
    Ok(format!("| RANK | {team} | {model} | {} |", cells.join(" | ")))
}

/// The name of a run: the last field of its first line. Standard input cannot be read again.
fn tag_of(file: &Path) -> Option<String> {
    if file.as_os_str() == "-" {
        return None;
    }
    let mut first = String::new();
    Source::new(file).stream().ok()?.read_line(&mut first).ok()?;
    first.split_whitespace().last().map(str::to_owned)
}

/// The columns of the confusion matrix.
const PREDICTIONS: [&str; 5] = ["as none", "as 1", "as 2", "as 3", "as 4"];

/// The columns of ambiguity, 1 against 2 to 4.
const AMBIGUITY: [&str; 7] =
    ["ambiguous", "precision", "recall", "F1", "weighted F1", "balanced accuracy", "AUC"];

/// The tables of `--full`: classes with the confusion matrix, distances, and ambiguity.
fn need_sheets(report: &NeedReport, scores: &[Score]) -> Vec<(&'static str, Sheet)> {
    let header = [&["need", "precision", "recall", "F1", "support"][..], &PREDICTIONS].concat();
    let mut classes = Sheet::new(&header);
    let mut row = |name: &str, scores: [f64; 3], support: usize, predicted_as: [usize; 5]| {
        let mut cells = vec![Cell::text(name)];
        cells.extend(scores.map(|score| Cell::Number(score, 4)));
        cells.push(Cell::count(support));
        cells.extend(predicted_as.map(Cell::count));
        classes.row(cells);
    };
    let mut sums = [0; 5];
    for class in &report.classes {
        let scores = [class.precision, class.recall, class.f1];
        row(&class.need.to_string(), scores, class.support, class.predicted_as);
        for (sum, count) in sums.iter_mut().zip(class.predicted_as) {
            *sum += count;
        }
    }
    let support = sums.iter().sum();
    row("macro", report.macro_average, support, sums);
    if let [precision, recall, f1] = scores {
        row("weighted", [precision, recall, f1].map(Score::value), support, sums);
    }
    let mut distances = Sheet::new(&["measure", "value"]);
    let kappa = report.quadratic_kappa.map_or(Cell::Nothing, |kappa| Cell::Number(kappa, 6));
    for (name, cell) in [
        ("accuracy", Cell::Number(report.accuracy, 6)),
        ("mean absolute error", Cell::Number(report.mean_absolute_error, 6)),
        ("quadratic weighted kappa", kappa),
    ] {
        distances.row(vec![Cell::text(name), cell]);
    }
    vec![("classes", classes), ("figures", distances), ("ambiguity", ambiguity(report))]
}

/// Two classes look better than four: always ambiguous is the row to beat.
fn ambiguity(report: &NeedReport) -> Sheet {
    let decisions = report.ambiguity();
    let labels = || decisions.iter().map(|decision| decision.label);
    let mut sheet = Sheet::new(&AMBIGUITY);
    for (name, report) in [
        ("predicted", DecisionReport::of(&decisions)),
        ("always", DecisionReport::of_constant(labels(), true)),
        ("never", DecisionReport::of_constant(labels(), false)),
    ] {
        let DecisionReport { precision, recall, f1, weighted_f1, balanced_accuracy, .. } = report;
        let mut row = vec![Cell::text(name)];
        let scores = [precision, recall, f1, weighted_f1, balanced_accuracy];
        row.extend(scores.map(|score| Cell::Number(score, 4)));
        let area = report.area_under_curve;
        row.push(area.map_or(Cell::Nothing, |area| Cell::Number(area, 4)));
        sheet.row(row);
    }
    sheet
}
