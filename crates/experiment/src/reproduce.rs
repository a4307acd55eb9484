//! The check of what a system reaches against the figures that its configuration expects.

use crate::contexts::Contexts;
use crate::figures::{self, Written};
use crate::run::{RunOptions, open_split, run as write_run, usual_path};
use crate::session::Session;
use crate::systems::{Loaded, check_expected};
use clariq_core::Error;
use clariq_core::{Checksum, Models};
use clariq_eval::{RankedRun, evaluate, parse_measure};
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
    /// What the system looks at beyond one request and the documents.
    pub uses: Vec<Uses>,
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

/// Those of the systems whose configurations expect figures of this split; all of them where none does,
/// as on labels that were released later.
pub fn expecting<'s>(session: &Session, systems: &'s [Loaded], split: &str) -> Vec<&'s Loaded> {
    let bank = session.documents.checksum();
    let expects = |loaded: &&Loaded| expected(loaded, bank, split).is_some();
    let expecting: Vec<&Loaded> = systems.iter().filter(expects).collect();
    if expecting.is_empty() { systems.iter().collect() } else { expecting }
}

/// Runs systems on a split with labels, writes their runs into the folder `runs`, and compares what
/// they reach. Systems that were made from the labels of the split are left out: they would reach
/// anything.
pub fn check<'s>(
    session: &Session,
    models: &dyn Models,
    systems: impl IntoIterator<Item = &'s Loaded>,
    split: &'static str,
    runs: &Path,
) -> Result<Vec<Figure<'s>>, Error> {
    let collection = session.collection;
    let Some(qrels) = collection.qrels(split, session.task)? else { return Ok(Vec::new()) };
    let own = figures::open(collection, split)?;
    let contexts = Contexts::new(session, models);
    let mut figures = Vec::new();
    for loaded in systems.into_iter().filter(|loaded| says_something(loaded, split)) {
        check_expected(loaded, session)?;
        let path = usual_path(runs, session, loaded, split);
        let input = open_split(session, loaded, split, None)?;
        write_run(&contexts, loaded, &*input, &RunOptions::default(), &path)?;
        let is_run = loaded.system.tasks.is_empty();
        let run = is_run.then(|| read_run(&Source::new(&path))).transpose()?;
        let expected = expected(loaded, session.documents.checksum(), split);
        let written = Written { session, loaded, path: &path, run: run.as_ref(), expected };
        let mut obtained = own.as_ref().map_or(Ok(Vec::new()), |own| own.score(&written))?;
        if let Some(run) = &run {
            obtained.extend(score_by_name(run, &qrels, expected, &obtained)?);
        }
        let compare = |(measure, value)| compare(loaded, expected, split, measure, value);
        figures.extend(obtained.into_iter().map(compare));
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

fn compare<'s>(
    loaded: &'s Loaded,
    expected: Option<&Expected>,
    split: &str,
    measure: String,
    obtained: f64,
) -> Figure<'s> {
    let wanted = expected.and_then(|expected| expected.measures.get(&measure)).copied();
    let published = expected.and_then(|expected| expected.published.get(&measure)).copied();
    let tolerance = expected.map_or(0.0, |expected| expected.tolerance);
    let verdict = wanted.map(|wanted| Verdict::new((obtained - wanted).abs(), tolerance));
    let (system, uses) = (loaded.system.name.as_str(), loaded.uses(Some(split)));
    Figure { system, uses, measure, published, expected: wanted, obtained, verdict }
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::options::Options;
    use clariq_collections::DataDir;

    #[test]
    fn systems_without_figures_are_left_out_beside_those_with_some() {
        let folder = tempfile::tempdir().unwrap();
        let collection = clariq_collections::open(&DataDir::Sample).unwrap();
        let options = Options { cache: folder.path().to_owned(), ..Options::default() };
        let session = Session::new(&*collection, options).unwrap();
        let systems = ["bm25", "bert-ranker"].map(|name| Loaded::open(name, &[]).unwrap());
        let both = &["bm25", "bert-ranker"][..];
        for (split, names) in [("dev", both), ("test", &both[..1]), ("none", both)] {
            let found = expecting(&session, &systems, split);
            let found: Vec<&str> = found.iter().map(|loaded| loaded.system.name.as_str()).collect();
            assert_eq!(found, names, "{split}");
        }
    }
}
