//! TREC runs, scored by measures of the literature against the judgements of a collection.

use super::{CompareArgs, Scorer};
use crate::failure::Failure;
use crate::runs::{self, Topics};
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_eval::{Column, Measure, Qrels, RankedRun, Ties, evaluate};
use clariq_files::{Source, read_run};
use std::path::Path;

struct Ranked {
    measures: Vec<Box<dyn Measure>>,
    ties: Ties,
    qrels: Qrels,
    topics: Topics,
}

pub(super) fn scorer<'a>(
    collection: &'a dyn Collection,
    split: &'static str,
    task: &'static str,
    arguments: &CompareArgs,
) -> Result<Box<dyn Scorer + 'a>, Failure> {
    let measures = runs::measures_or_usual(&arguments.measures)?;
    let ties =
        if arguments.ties.as_deref() == Some("official") { Ties::Official } else { Ties::Id };
    let qrels = runs::qrels(collection, split, task)?;
    let file = collection.source(split)?.name();
    let topics = Topics::new(file, qrels.topics().map(|(topic, _)| topic));
    Ok(Box::new(Ranked { measures, ties, qrels, topics }))
}

impl Scorer for Ranked {
    fn score(&self, settings: &Settings, path: &Path) -> Result<Vec<Column>, Failure> {
        let source = Source::new(path);
        let run = read_run(&source)?;
        self.topics.check_answered(&source, run.lines.iter().map(|line| &line.topic))?;
        self.topics.warn(settings, &source, &run, self.ties);
        let ranked = match self.ties {
            Ties::Official => RankedRun::official(&run),
            Ties::Id => RankedRun::new(&run).map_err(runs::or_official_ties)?,
        };
        Ok(evaluate(&self.measures, &ranked, &self.qrels).columns(""))
    }
}
