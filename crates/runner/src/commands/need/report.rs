//! How good is a need model? The official figure first, by cross-validation and on dev, then where it goes wrong.

use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clariq_collections::clariq::Labelled;
use clariq_core::Need;
use clariq_eval::{need_interval, reliability, weighted_f1};
use clariq_need::{Prediction, Training};

/// The rounds of a bootstrap.
const ROUNDS: u32 = 10_000;

type Sheets = Vec<(&'static str, Sheet)>;

/// Mean and standard deviation over repeats and over folds.
pub(super) fn cross_validation(
    settings: &Settings,
    training: &Training,
    folds: usize,
    repeats: usize,
) -> Result<Sheets, Failure> {
    let labels = &training.labels;
    let passes = training.cross_validate(folds, repeats, settings.seed)?;
    let (mut pooled, mut of_folds) = (Vec::new(), Vec::new());
    for pass in &passes {
        let pairs = |fold: Option<usize>| -> Vec<(Need, Need)> {
            let rows =
                (0..labels.len()).filter(|&row| fold.is_none_or(|fold| pass.folds[row] == fold));
            rows.map(|row| (labels[row], pass.predictions[row].need)).collect()
        };
        pooled.push(weighted_f1(&pairs(None)));
        of_folds.extend(
            (0..folds)
                .map(|fold| pairs(Some(fold)))
                .filter(|pairs| !pairs.is_empty())
                .map(|pairs| weighted_f1(&pairs)),
        );
    }
    let mut sheet =
        Sheet::new(&["cross-validation on train", "weighted F1", "standard deviation", "figures"]);
    for (what, figures) in [("all topics, per repeat", &pooled), ("one fold", &of_folds)] {
        let (mean, deviation) = mean_and_deviation(figures);
        sheet.row(vec![
            Cell::text(what),
            Cell::Figure(mean, 4),
            Cell::Figure(deviation, 4),
            Cell::count(figures.len()),
        ]);
    }
    Ok(vec![("cross_validation", sheet)])
}

/// Everything there is to say of predictions for labelled topics.
pub(super) fn held_out(
    settings: &Settings,
    labels: &Labelled,
    predictions: &[Prediction],
) -> Sheets {
    let labelled = labels
        .topics
        .iter()
        .zip(predictions)
        .filter_map(|(topic, prediction)| Some((topic.need?, prediction)));
    let all: Vec<(Need, &Prediction)> = labelled.collect();
    let pairs: Vec<(Need, Need)> =
        all.iter().map(|(label, prediction)| (*label, prediction.need)).collect();
    let (low, high) = need_interval(&pairs, ROUNDS, settings.seed);
    let mut f1 = Sheet::new(&["dev", "weighted F1", "95 % from", "to"]);
    let figure = |value| Cell::Figure(value, 4);
    f1.row(vec![
        Cell::text(format!("{} topics", pairs.len())),
        figure(weighted_f1(&pairs)),
        figure(low),
        figure(high),
    ]);
    let confidence: Vec<(f64, bool)> = all
        .iter()
        .map(|(label, prediction)| {
            (
                prediction.probabilities[usize::from(prediction.need.get()) - 1],
                prediction.need == *label,
            )
        })
        .collect();
    vec![("dev", f1), ("classes", classes(&pairs)), ("reliability", curve(&confidence))]
}

/// A row per label: its figures, and what its topics were predicted as.
fn classes(pairs: &[(Need, Need)]) -> Sheet {
    let header = ["need", "precision", "recall", "F1", "topics", "as 1", "as 2", "as 3", "as 4"];
    let mut sheet = Sheet::new(&header);
    let count = |label: Option<Need>, predicted: Option<Need>| {
        let fits = |(is, was): &&(Need, Need)| {
            label.is_none_or(|want| want == *is) && predicted.is_none_or(|want| want == *was)
        };
        pairs.iter().filter(fits).count()
    };
    for need in Need::ALL {
        let (hits, support, predicted) =
            (count(Some(need), Some(need)), count(Some(need), None), count(None, Some(need)));
        let ratio = |part: usize, whole: usize| {
            Cell::Figure(if whole == 0 { 0.0 } else { part as f64 / whole as f64 }, 4)
        };
        let mut row = vec![
            Cell::count(usize::from(need.get())),
            ratio(hits, predicted),
            ratio(hits, support),
        ];
        row.extend([ratio(2 * hits, predicted + support), Cell::count(support)]);
        row.extend(Need::ALL.map(|was| Cell::count(count(Some(need), Some(was)))));
        sheet.row(row);
    }
    sheet
}

fn curve(confidence: &[(f64, bool)]) -> Sheet {
    let mut sheet = Sheet::new(&["confidence from", "to", "topics", "mean confidence", "right"]);
    for bin in reliability(confidence, 5) {
        let mean = |value: f64| if bin.count == 0 { Cell::Nothing } else { Cell::Figure(value, 4) };
        let [from, to] = [bin.from, bin.to].map(|edge| Cell::Figure(edge, 1));
        sheet.row(vec![from, to, Cell::count(bin.count), mean(bin.confidence), mean(bin.accuracy)]);
    }
    sheet
}

fn mean_and_deviation(figures: &[f64]) -> (f64, f64) {
    let count = figures.len().max(1) as f64;
    let mean = figures.iter().sum::<f64>() / count;
    (mean, (figures.iter().map(|figure| (figure - mean).powi(2)).sum::<f64>() / count).sqrt())
}
