//! The report of a need model: the official figure by cross-validation and on dev, then mistakes.

use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::NeedLabel;
use clariq_core::{TrainOn, count_of};
use clariq_eval::{need_interval, reliability, weighted_f1};
use clariq_experiment::HeldOutNeeds;
use clariq_need::{NeedTraining, Repeat};

const ROUNDS: u32 = 10_000;

type Sheets = Vec<(&'static str, Sheet)>;

/// Mean and standard deviation over repeats and over folds.
pub(super) fn cross_validation(training: &NeedTraining, passes: &[Repeat], folds: usize) -> Sheets {
    let mut pooled = Vec::new();
    let mut single = Vec::new();
    for pass in passes {
        let mut all: Vec<(usize, usize)> = Vec::new();
        let mut of_fold: Vec<Vec<(usize, usize)>> = vec![Vec::new(); folds];
        for (row, &label) in training.labels.iter().enumerate() {
            let pair = (label, pass.predictions[row].label);
            all.push(pair);
            of_fold[pass.folds[row]].push(pair);
        }
        pooled.push(weighted_f1(&all));
        let filled = of_fold.iter().filter(|pairs| !pairs.is_empty());
        single.extend(filled.map(|pairs| weighted_f1(pairs)));
    }
    let title = match training.config().train_on() {
        TrainOn::Train => "cross-validation on train",
        TrainOn::TrainAndDev => "cross-validation on train and dev",
    };
    let mut sheet = Sheet::new(&[title, "weighted F1", "standard deviation", "values"]);
    for (what, figures) in [("all topics, per repeat", &pooled), ("one fold", &single)] {
        let (mean, deviation) = mean_and_deviation(figures);
        sheet.row(vec![
            Cell::text(what),
            Cell::Number(mean, 4),
            Cell::Number(deviation, 4),
            Cell::count(figures.len()),
        ]);
    }
    vec![("cross_validation", sheet)]
}

pub(super) fn held_out(settings: &Settings, held_out: &HeldOutNeeds) -> Sheets {
    let HeldOutNeeds { splits, classes, pairs, confidence } = held_out;
    let (low, high) = need_interval(pairs, ROUNDS, settings.options.seed);
    let mut f1 = Sheet::new(&[splits, "weighted F1", "95 % from", "to"]);
    let mut row = vec![Cell::text(count_of(pairs.len(), "topic"))];
    row.extend([weighted_f1(pairs), low, high].map(|value| Cell::Number(value, 4)));
    f1.row(row);
    vec![("dev", f1), ("classes", by_class(classes, pairs)), ("reliability", curve(confidence))]
}

/// A label in a table: a number, or a name.
pub(super) fn need_cell(label: &NeedLabel) -> Cell {
    match label {
        NeedLabel::Number(number) => {
            usize::try_from(*number).map_or_else(|_| Cell::text(label.to_string()), Cell::count)
        }
        NeedLabel::Name(name) => Cell::text(name),
    }
}

/// A row per label: its scores, and the number of its topics by predicted label.
fn by_class(classes: &[NeedLabel], pairs: &[(usize, usize)]) -> Sheet {
    let names: Vec<String> = classes.iter().map(|label| format!("as {label}")).collect();
    let mut header = vec!["need", "precision", "recall", "F1", "topics"];
    header.extend(names.iter().map(String::as_str));
    let mut sheet = Sheet::new(&header);
    for (class, label) in classes.iter().enumerate() {
        let predicted_as =
            |as_this: usize| pairs.iter().filter(|pair| **pair == (class, as_this)).count();
        let topics = pairs.iter().filter(|(label, _)| *label == class).count();
        let predicted = pairs.iter().filter(|(_, as_this)| *as_this == class).count();
        let right = predicted_as(class);
        let mut row = vec![need_cell(label)];
        for (part, whole) in [(right, predicted), (right, topics), (2 * right, predicted + topics)]
        {
            row.push(Cell::Number(if whole == 0 { 0.0 } else { part as f64 / whole as f64 }, 4));
        }
        row.push(Cell::count(topics));
        row.extend((0..classes.len()).map(|as_this| Cell::count(predicted_as(as_this))));
        sheet.row(row);
    }
    sheet
}

fn curve(confidence: &[(f64, bool)]) -> Sheet {
    let mut sheet = Sheet::new(&["confidence from", "to", "topics", "mean confidence", "right"]);
    for bin in reliability(confidence, 5) {
        let mean = |value: f64| if bin.count == 0 { Cell::Nothing } else { Cell::Number(value, 4) };
        let [from, to] = [bin.from, bin.to].map(|edge| Cell::Number(edge, 1));
        sheet.row(vec![from, to, Cell::count(bin.count), mean(bin.confidence), mean(bin.accuracy)]);
    }
    sheet
}

fn mean_and_deviation(figures: &[f64]) -> (f64, f64) {
    let count = figures.len().max(1) as f64;
    let mean = figures.iter().sum::<f64>() / count;
    (mean, (figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>() / count).sqrt())
}
