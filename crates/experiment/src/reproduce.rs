//! The check of what a system reaches against the figures that its configuration expects.

use crate::answers::{Answers, answer, as_run, requests_of, usual_path};
use crate::error::Error;
use crate::measures::{DOCUMENT_MEASURES, NEED_F1, measures};
use crate::session::Session;
use crate::systems::{Loaded, check_expected};
use clariq_collections::Around;
use clariq_collections::clariq::{ClariQ, EvalTable, Labelled, NeedLine, Split};
use clariq_core::{Checksum, Models, ProblemKind, Request};
use clariq_eval::{Ties, clarification_need, document_relevance, question_relevance, table_stem};
use clariq_files::Run;
use clariq_rank::{Expected, Uses};
use std::path::Path;

/// A figure as near as this is the expected one: figures are written with six digits.
const EXACT: f64 = 1e-5;

/// What a figure is beside the expected one.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    /// The same.
    Equal,
    /// Within the tolerance that the configuration allows.
    Close,
    /// Neither.
    Fail,
}

impl Verdict {
    fn new(difference: f64, tolerance: f64) -> Self {
        if difference <= EXACT {
            Self::Equal
        } else if difference <= tolerance {
            Self::Close
        } else {
            Self::Fail
        }
    }
}

/// A figure of a system on a split.
#[derive(Debug, Clone)]
pub struct Figure<'s> {
    /// The system's name.
    pub system: &'s str,
    /// The measure, as configurations name it.
    pub measure: String,
    /// What was published of it.
    pub published: Option<f64>,
    /// What the configuration expects.
    pub expected: Option<f64>,
    /// What came out.
    pub obtained: f64,
    /// How that compares, where something is expected.
    pub verdict: Option<Verdict>,
}

/// Runs systems on a split with labels, writes their runs into the folder `runs`, and compares what they reach. Systems
/// that were made from the labels of the split are left out: they would reach anything.
pub fn check<'s>(
    session: &Session,
    models: &dyn Models,
    systems: &'s [Loaded],
    split: Split,
    runs: &Path,
) -> Result<Vec<Figure<'s>>, Error> {
    let clariq = ClariQ::of(session.collection)?;
    let labels = clariq.labelled(split)?;
    let requests = requests_of(session, split.name())?;
    let around = Around::new(session.collection, session.task, split.name());
    let context = session.context().with_models(models).within(&around);
    let mut figures = Vec::new();
    for loaded in systems.iter().filter(|loaded| says_something(loaded, split)) {
        check_expected(loaded, session)?;
        let name = split.name();
        let answers = answer(session, &context, loaded, name, &requests)?;
        let path = usual_path(runs, loaded, name);
        answers.write(session, loaded, name, &requests, &path, &loaded.system.name)?;
        let expected = expected(loaded, session.documents.checksum(), split);
        let run = as_run(session.documents, &requests, &answers.rankings);
        let mut obtained = score(&answers, &run, &requests, &labels);
        if let Some(expected) = expected.filter(|expected| expects_documents(expected)) {
            obtained.extend(score_documents(session, clariq, split, &run, &labels, expected)?);
        }
        figures.extend(
            obtained.into_iter().map(|(measure, obtained)| {
                compare(&loaded.system.name, expected, measure, obtained)
            }),
        );
    }
    Ok(figures)
}

fn says_something(loaded: &Loaded, split: Split) -> bool {
    split != Split::Train || !loaded.system.uses.contains(&Uses::TrainLabels)
}

/// The figures hold for one bank, so that the sample and the real collection have their own.
fn expected<'a>(loaded: &'a Loaded, bank: &Checksum, split: Split) -> Option<&'a Expected> {
    let of_bank = |expected: &&Expected| bank.as_str().starts_with(&expected.bank);
    loaded
        .system
        .expected
        .iter()
        .find(|expected| of_bank(expected) && expected.split == split.name())
}

fn compare<'s>(
    system: &'s str,
    expected: Option<&Expected>,
    measure: String,
    obtained: f64,
) -> Figure<'s> {
    let wanted = expected.and_then(|expected| expected.measures.get(&measure)).copied();
    let published = expected.and_then(|expected| expected.published.get(&measure)).copied();
    let tolerance = expected.map_or(0.0, |expected| expected.tolerance);
    let verdict = wanted.map(|wanted| Verdict::new((obtained - wanted).abs(), tolerance));
    Figure { system, measure, published, expected: wanted, obtained, verdict }
}

fn expects_documents(expected: &Expected) -> bool {
    DOCUMENT_MEASURES.iter().any(|name| expected.measures.contains_key(*name))
}

/// Document relevance by the expected measures, where the data folder has the table.
fn score_documents(
    session: &Session,
    clariq: &ClariQ,
    split: Split,
    run: &Run,
    labels: &Labelled,
    expected: &Expected,
) -> Result<Vec<(String, f64)>, Error> {
    let data = &clariq.data;
    let stem = table_stem(split, false);
    let table = match EvalTable::open(data, &stem) {
        Err(clariq_core::Error::Problem(problem)) if problem.kind == ProblemKind::MissingFile => {
            session.observer.note(&format!(
                "note: {data} has no table `{stem}`: document relevance on {split} is not checked"
            ));
            return Ok(Vec::new());
        }
        table => table?,
    };
    let scores = document_relevance(run, &table, labels);
    let metrics = scores.metrics.into_iter().filter_map(|metric| {
        let mean = metric.mean()?;
        expected.measures.contains_key(&metric.name).then_some((metric.name, mean))
    });
    Ok(metrics.collect())
}

/// Scores what was written: the strictly decreasing scores of the run file.
fn score(
    answers: &Answers,
    run: &Run,
    requests: &[Request],
    labels: &Labelled,
) -> Vec<(String, f64)> {
    let recalls = question_relevance(run, labels, Ties::Official).means();
    let mut figures: Vec<(String, f64)> = measures().zip(recalls).collect();
    if let Some(needs) = &answers.needs {
        let mut lines = Vec::with_capacity(needs.len());
        for (request, need) in requests.iter().zip(needs) {
            let label = i64::from(need.get());
            lines.push(NeedLine { topic: request.id.as_str().into(), label, line: 0 });
        }
        figures.push((NEED_F1.to_owned(), clarification_need(&lines, labels).f1));
    }
    figures
}
