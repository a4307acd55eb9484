//! The figures that configurations can expect of a system, by name.

use super::evaluate::{Evaluated, Labels};
use clariq_core::Error;
use clariq_core::TopicId;
use clariq_eval::{Measure, SetReport, Unjudged, parse_measure};
use clariq_files::Qrels;
use std::collections::HashSet;

/// The measures of rankings of statements.
const OF_STATEMENTS: [&str; 5] = ["nDCG@3", "P@3", "R@3", "AP", "RR"];
/// The measures of rankings of passages.
const OF_PASSAGES: [&str; 5] = ["nDCG@3", "nDCG@5", "RR", "R@10", "R@100"];
/// The n-grams of responses.
const OF_RESPONSES: [(&str, usize); 2] = [("response ROUGE-1", 1), ("response ROUGE-2", 2)];

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
    let passages = OF_PASSAGES.iter().map(|name| format!("passages {name}"));
    of("statements", &LABEL_SETS, &OF_STATEMENTS)
        .chain(of("sets", &SETS, &AVERAGES))
        .chain(passages)
        .chain(OF_RESPONSES.iter().map(|(name, _)| (*name).to_owned()))
}

/// All figures of a run that the labels allow, by name.
///
/// # Errors
///
/// A run with a document twice in a ranking.
pub fn figures(evaluated: &Evaluated, labels: &Labels) -> Result<Vec<(String, f64)>, Error> {
    let mut figures = Vec::new();
    for (name, qrels) in LABEL_SETS.iter().zip([&labels.organisers, &labels.nist]) {
        if let Some(qrels) = qrels {
            let means = evaluated.score_statements(&measures(&OF_STATEMENTS)?, qrels)?;
            let named =
                OF_STATEMENTS.iter().map(|measure| format!("statements ({name}) {measure}"));
            figures.extend(named.zip(means));
        }
    }
    for (name, report) in set_reports(evaluated, labels) {
        for (average, value) in AVERAGES.iter().zip([report.micro.f1, report.macro_average.f1]) {
            figures.push((format!("sets ({name}) {average}"), value));
        }
    }
    if let Some(qrels) = &labels.cited {
        let means = evaluated.score_passages(&measures(&OF_PASSAGES)?, qrels)?;
        let named = OF_PASSAGES.iter().map(|measure| format!("passages {measure}"));
        figures.extend(named.zip(means));
        for (name, n) in OF_RESPONSES {
            figures.push((name.to_owned(), evaluated.score_responses(labels, n)));
        }
    }
    Ok(figures)
}

/// The means of any measures of the rankings, over the turns that each set of labels judges.
///
/// # Errors
///
/// A run with a document twice in a ranking.
pub fn rankings(
    evaluated: &Evaluated,
    labels: &Labels,
    measures: &[Box<dyn Measure>],
) -> Result<Vec<(String, f64)>, Error> {
    let mut figures = Vec::new();
    let mut add = |what: &str, means: Vec<f64>| {
        let named = measures.iter().map(|measure| format!("{what} {}", measure.name()));
        figures.extend(named.zip(means));
    };
    for (name, qrels) in LABEL_SETS.iter().zip([&labels.organisers, &labels.nist]) {
        if let Some(qrels) = qrels {
            let means = evaluated.score_statements(measures, qrels)?;
            add(&format!("statements ({name})"), means);
        }
    }
    for (name, qrels) in [("cited", &labels.cited), ("graded by NIST", &labels.graded)] {
        if let Some(qrels) = qrels {
            add(&format!("passages ({name})"), evaluated.score_passages(measures, qrels)?);
        }
    }
    Ok(figures)
}

/// Precision, recall and F1 of the sets of statements, micro and macro.
pub fn sets(evaluated: &Evaluated, labels: &Labels) -> Vec<(String, f64)> {
    let mut figures = Vec::new();
    for (name, report) in set_reports(evaluated, labels) {
        for (average, of) in [("micro", report.micro), ("macro", report.macro_average)] {
            for (measure, value) in [("P", of.precision), ("R", of.recall), ("F1", of.f1)] {
                figures.push((format!("sets ({name}) {average} {measure}"), value));
            }
        }
    }
    figures
}

/// The figures of sets by the names in [`SETS`]. The organisers label the turns with a relevant
/// statement alone, so that a turn without labels is one without; of NIST's, the others are left
/// out.
fn set_reports(evaluated: &Evaluated, labels: &Labels) -> Vec<(&'static str, SetReport)> {
    let mut reports = Vec::new();
    let [organisers, judged, nist] = SETS;
    if let Some(qrels) = &labels.organisers {
        reports.push((organisers, evaluated.score_sets(qrels, None, Unjudged::Wrong)));
        if let Some(graded) = &labels.graded {
            let turns = turns_of(graded);
            let report = evaluated.score_sets(qrels, Some(&turns), Unjudged::Wrong);
            reports.push((judged, report));
        }
    }
    if let Some(qrels) = &labels.nist {
        reports.push((nist, evaluated.score_sets(qrels, None, Unjudged::LeftOut)));
    }
    reports
}

fn turns_of(qrels: &Qrels) -> HashSet<TopicId> {
    qrels.topics().map(|(turn, _)| turn.clone()).collect()
}

fn measures(names: &[&str]) -> Result<Vec<Box<dyn Measure>>, Error> {
    names.iter().map(|name| parse_measure(name)).collect()
}
