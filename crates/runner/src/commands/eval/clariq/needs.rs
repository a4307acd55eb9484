//! Labels of clarification need.

use super::{full, open, place, print, warn_of_record};
use crate::commands::eval::arguments::EvalArgs;
use crate::commands::eval::say;
use crate::failure::Failure;
use crate::settings::Settings;
use clariq_collections::clariq::evaluation::{clarification_need, need_report};
use clariq_collections::clariq::read_need_file;
use clariq_experiment::record;
use clariq_files::{Source, python_float};
use std::io::{self, Write};
use std::path::Path;

pub(crate) fn needs(settings: &Settings, arguments: &EvalArgs, path: &Path) -> Result<(), Failure> {
    let (collection, split) = open(settings, arguments, path, &record::runs_of_need(path))?;
    let labels = &collection.labelled(split)?;
    let source = Source::new(path);
    let predictions = read_need_file(&source)?;
    let scores = clarification_need(&predictions, labels);
    warn_of_record(settings, "need", &record::runs_of_need(path), &source)?;
    let counts = [
        (scores.missing, "topics have no prediction and count as class 0"),
        (scores.out_of_range, "predictions are outside 1 to 4 and count as wrong"),
        (scores.duplicates, "topics are predicted again; the last line counts"),
        (scores.unknown, "predicted topics are not in the labels and are not looked at"),
    ];
    say(settings, &counts);
    if arguments.full {
        return full::print(settings, &scores, &need_report(&predictions, labels));
    }
    let figures = [scores.precision, scores.recall, scores.f1];
    if arguments.leaderboard {
        let mut out = io::stdout().lock();
        for figure in figures {
            writeln!(out, "<td>{figure:.4}</td>")?;
        }
        return Ok(());
    }
    let named: Vec<(String, f64)> =
        ["Precision", "Recall", "F1"].map(str::to_owned).into_iter().zip(figures).collect();
    // The official scorer puts two spaces after the first two names and one after the third.
    let placed = place::sheet(settings, arguments, &collection.bank, split, path, &named);
    print(settings, &named, placed, |name, figure| {
        let spaces = if name == "F1" { " " } else { "  " };
        format!("{name}:{spaces}{}", python_float(figure))
    })
}
