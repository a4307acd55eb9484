//! The check of what a system reaches against the figures that its configuration expects.

use crate::error::Error;
use crate::measures::{DOCUMENT_MEASURES, NEED_F1, measures};
use crate::record;
use crate::run::{RunOptions, SplitRequests, run as write_run, usual_path};
use crate::session::Session;
use crate::systems::{Loaded, check_expected};
use clariq_collections::Around;
use clariq_collections::clariq::{ClariQ, EvalTable, Labelled, Split, read_need_file};
use clariq_core::{Checksum, Models, ProblemKind};
use clariq_eval::clariq::{clarification_need, document_relevance, question_relevance, table_stem};
use clariq_eval::{RankedRun, Ties, evaluate, parse_measure};
use clariq_files::{Qrels, Run, Source, read_run};
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

/// Runs systems on a split with labels, writes their runs into the folder `runs`, and compares what
/// they reach. Systems that were made from the labels of the split are left out: they would reach
/// anything.
pub fn check<'s>(
    session: &Session,
    models: &dyn Models,
    systems: &'s [Loaded],
    split: &'static str,
    runs: &Path,
) -> Result<Vec<Figure<'s>>, Error> {
    let collection = session.collection;
    let Some(qrels) = collection.qrels(split, session.task)? else { return Ok(Vec::new()) };
    let clariq = collection.downcast().map(|clariq| Official::new(clariq, split)).transpose()?;
    let input = SplitRequests::read(session, split)?;
    let around = Around::new(collection, session.task, split);
    let context = session.context().with_models(models).within(&around);
    let mut figures = Vec::new();
    for loaded in systems.iter().filter(|loaded| says_something(loaded, split)) {
        check_expected(loaded, session)?;
        let path = usual_path(runs, session, loaded, split);
        write_run(session, &context, loaded, &input, &RunOptions::default(), &path)?;
        let run = read_run(&Source::new(&path))?;
        let expected = expected(loaded, session.documents.checksum(), split);
        let mut obtained = Vec::new();
        if let Some(official) = &clariq {
            obtained = official.score(session, loaded, &path, &run, expected)?;
        }
        obtained.extend(score_by_name(&run, &qrels, expected, &obtained)?);
        figures.extend(
            obtained.into_iter().map(|(measure, obtained)| {
                compare(&loaded.system.name, expected, measure, obtained)
            }),
        );
    }
    Ok(figures)
}

fn says_something(loaded: &Loaded, split: &str) -> bool {
    split != "train" || !loaded.system.uses.contains(&Uses::TrainLabels)
}

/// The figures hold for one bank, so that the sample and the real collection have their own.
fn expected<'a>(loaded: &'a Loaded, bank: &Checksum, split: &str) -> Option<&'a Expected> {
    let of_bank = |expected: &&Expected| bank.as_str().starts_with(&expected.bank);
    loaded.system.expected.iter().find(|expected| of_bank(expected) && expected.split == split)
}

pub(crate) fn compare<'s>(
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

/// The measures of the literature that a configuration names and nothing has computed yet.
fn score_by_name(
    run: &Run,
    qrels: &Qrels,
    expected: Option<&Expected>,
    obtained: &[(String, f64)],
) -> Result<Vec<(String, f64)>, Error> {
    let mut named = Vec::new();
    for name in expected.iter().flat_map(|expected| expected.measures.keys()) {
        let is_new = obtained.iter().all(|(known, _)| known != name);
        // What has a name of the challenge's own was left out for a reason that was reported.
        if is_new && let Ok(measure) = parse_measure(name) {
            named.push((name.clone(), measure));
        }
    }
    if named.is_empty() {
        return Ok(Vec::new());
    }
    let (names, measures): (Vec<String>, Vec<_>) = named.into_iter().unzip();
    let scores = evaluate(&measures, &RankedRun::new(run)?, qrels);
    Ok(names.into_iter().zip(scores.means).collect())
}

/// What `ClariQ`'s official scorer needs of a split.
struct Official<'a> {
    clariq: &'a ClariQ,
    split: Split,
    labels: Labelled,
}

impl<'a> Official<'a> {
    fn new(clariq: &'a ClariQ, split: &str) -> Result<Self, Error> {
        let split = Split::named(split).unwrap_or(Split::Test);
        Ok(Self { clariq, split, labels: clariq.labelled(split)? })
    }

    /// Scores what was written: the run at `path`, and the need file beside it.
    fn score(
        &self,
        session: &Session,
        loaded: &Loaded,
        path: &Path,
        run: &Run,
        expected: Option<&Expected>,
    ) -> Result<Vec<(String, f64)>, Error> {
        let recalls = question_relevance(run, &self.labels, Ties::Official).means();
        let mut figures: Vec<(String, f64)> = measures().zip(recalls).collect();
        if loaded.system.need.is_some() {
            let needs = read_need_file(&Source::new(record::need_path(path)))?;
            figures.push((NEED_F1.to_owned(), clarification_need(&needs, &self.labels).f1));
        }
        if let Some(expected) = expected.filter(|expected| expects_documents(expected)) {
            figures.extend(self.score_documents(session, run, expected)?);
        }
        Ok(figures)
    }

    /// Document relevance by the expected measures, where the data folder has the table.
    fn score_documents(
        &self,
        session: &Session,
        run: &Run,
        expected: &Expected,
    ) -> Result<Vec<(String, f64)>, Error> {
        let (data, split) = (&self.clariq.data, self.split);
        let stem = table_stem(split, false);
        let table = match EvalTable::open(data, &stem) {
            Err(clariq_core::Error::Problem(problem))
                if problem.kind == ProblemKind::MissingFile =>
            {
                session.observer.note(&format!(
                    "note: {data} has no table `{stem}`: document relevance on {split} is not checked"
                ));
                return Ok(Vec::new());
            }
            table => table?,
        };
        let scores = document_relevance(run, &table, &self.labels);
        let metrics = scores.metrics.into_iter().filter_map(|metric| {
            let mean = metric.mean()?;
            expected.measures.contains_key(&metric.name).then_some((metric.name, mean))
        });
        Ok(metrics.collect())
    }
}
