//! The figures that configurations can expect of a system, by name.

use super::by_turn::{CITED, RunPart, columns};
use super::evaluate::{EvaluatedRun, IkatLabels};
use clariq_core::Error;
use clariq_eval::{Column, SetReport, Unjudged, score_sets};
use std::collections::HashSet;

/// The label sets of statements, as figures name them.
const LABEL_SETS: [&str; 2] = ["organisers", "NIST"];
/// The sets of statements that are scored: over all turns, and over those whose passages NIST
/// judged.
const SETS: [&str; 3] = ["organisers", "organisers, judged turns", "NIST"];
/// The averages of a set.
const AVERAGES: [&str; 2] = ["micro F1", "macro F1"];

/// The names of all figures, in the order in which they are shown.
pub fn names() -> impl Iterator<Item = String> {
    let of =
        |what: &'static str, among: &'static [&'static str], names: &'static [&'static str]| {
            among.iter().flat_map(move |among| {
                names.iter().map(move |name| format!("{what} ({among}) {name}"))
            })
        };
    let usual = |part: RunPart, what: &'static str| {
        part.usual(true).iter().map(move |name| format!("{what} {name}"))
    };
    of("statements", &LABEL_SETS, RunPart::Statements.usual(true))
        .chain(of("sets", &SETS, &AVERAGES))
        .chain(usual(RunPart::Passages, "passages"))
        .chain(usual(RunPart::Responses, "response"))
}

/// All figures of a run that the labels allow, by name.
pub fn figures(evaluated: &EvaluatedRun, labels: &IkatLabels) -> Result<Vec<(String, f64)>, Error> {
    let columns = |part| columns(evaluated, labels, Some(part), &[]);
    let mean = |name: String, column: &Column| (name, column.mean());
    let statements = columns(RunPart::Statements)?;
    let mut figures: Vec<_> = statements.iter().map(|column| mean(column.name(), column)).collect();
    let of_sets = sets(evaluated, labels).into_iter();
    figures
        .extend(of_sets.filter(|(name, _)| AVERAGES.iter().any(|average| name.ends_with(average))));
    let passages = columns(RunPart::Passages)?;
    let cited = passages.iter().filter(|column| column.part == CITED);
    figures.extend(cited.map(|column| mean(format!("passages {}", column.measure), column)));
    let responses = columns(RunPart::Responses)?;
    let of_responses =
        responses.iter().map(|column| mean(format!("response {}", column.measure), column));
    figures.extend(of_responses);
    Ok(figures)
}

/// The figures of the lists of statements in a submission.
pub fn provenance(
    evaluated: &EvaluatedRun,
    labels: &IkatLabels,
) -> Result<Vec<(String, f64)>, Error> {
    let columns = columns(evaluated, labels, Some(RunPart::Provenance), &[])?;
    Ok(columns.iter().map(|column| (column.name(), column.mean())).collect())
}

/// The figures of passages by graded labels. Few of the released passages are graded, so the figures
/// mean little for a system that ranks these.
pub fn graded(evaluated: &EvaluatedRun, labels: &IkatLabels) -> Result<Vec<(String, f64)>, Error> {
    let passages = columns(evaluated, labels, Some(RunPart::Passages), &[])?;
    let graded = passages.iter().filter(|column| column.part != CITED);
    Ok(graded.map(|column| (column.name(), column.mean())).collect())
}

/// Precision, recall and F1 of the sets of statements, micro and macro.
pub fn sets(evaluated: &EvaluatedRun, labels: &IkatLabels) -> Vec<(String, f64)> {
    let mut figures = Vec::new();
    for (name, report) in set_reports(evaluated, labels) {
        for (average, set) in [("micro", report.micro), ("macro", report.macro_average)] {
            for (measure, value) in [("P", set.precision), ("R", set.recall), ("F1", set.f1)] {
                figures.push((format!("sets ({name}) {average} {measure}"), value));
            }
        }
    }
    figures
}

/// The figures of sets by the names in [`SETS`]. The organisers only label turns with a relevant
/// statement, so in a turn without labels, every statement is wrong. Turns without labels of NIST's
/// are left out.
fn set_reports(evaluated: &EvaluatedRun, labels: &IkatLabels) -> Vec<(&'static str, SetReport)> {
    let chosen = &evaluated.chosen;
    let mut reports = Vec::new();
    let [organisers, judged, nist] = SETS;
    if let Some(qrels) = &labels.organisers {
        reports.push((organisers, score_sets(chosen, qrels, Unjudged::Wrong, |_| true)));
        if let Some(graded) = labels.graded_by_people() {
            let turns: HashSet<_> = graded.topics().map(|(turn, _)| turn).collect();
            reports.push((
                judged,
                score_sets(chosen, qrels, Unjudged::Wrong, |turn| turns.contains(turn)),
            ));
        }
    }
    if let Some(qrels) = &labels.nist {
        reports.push((nist, score_sets(chosen, qrels, Unjudged::LeftOut, |_| true)));
    }
    reports
}
