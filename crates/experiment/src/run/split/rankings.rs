//! The requests of a split for a system that ranks. Its run is a TREC run.

use super::{SplitSource, set_candidates};
use crate::ranker::UserRequest;
use crate::run::input::{RunEntry, RunInput, SkippedRecords, put_ranking};
use crate::session::Session;
use clariq_core::{Documents, Ranking, Request, Result, bail};
use clariq_files::{Run, RunLine, strictly_decreasing};
use clariq_systems::SystemConfig;
use serde_json::Value;
use std::io;
use std::ops::ControlFlow;

/// The requests of a split, in memory, and the documents that are ranked for them.
pub(super) struct RankedSplit<'a> {
    source: SplitSource<'a>,
    documents: &'a dyn Documents,
    requests: Vec<Request>,
}

impl<'a> RankedSplit<'a> {
    pub(super) fn open(
        session: &Session<'a>,
        config: &SystemConfig,
        source: SplitSource<'a>,
    ) -> Result<Self> {
        if session.options.team.is_some() {
            let found = format!("`{}`, which writes a TREC run", config.name);
            bail!("--team", "a system that answers", found, "leave it out");
        }
        let documents = session.documents;
        let requests = source.collection.requests(source.split, session.task)?;
        let mut requests = requests.collect::<Result<Vec<Request>>>()?;
        let ids = requests.iter().map(|request| &request.id);
        let candidates = source.candidates(session, documents, ids)?;
        for request in &mut requests {
            set_candidates(candidates.as_ref(), request);
        }
        Ok(Self { source, documents, requests })
    }
}

impl RunInput for RankedSplit<'_> {
    fn name(&self) -> &str {
        self.source.split
    }

    fn location(&self) -> String {
        self.source.location()
    }

    fn in_memory(&self) -> Option<&[Request]> {
        Some(&self.requests)
    }

    fn describe(&self, config: &SystemConfig, record: &mut Value) -> Result<()> {
        self.source.describe(config, record)
    }

    fn count(&self, record: &mut Value, requests: u64, _skipped: &SkippedRecords) {
        record["topics"]["count"] = requests.into();
    }

    fn read(&self, send: &mut dyn FnMut(UserRequest) -> ControlFlow<()>) -> Result<SkippedRecords> {
        for request in &self.requests {
            if send(request.clone().into()).is_break() {
                break;
            }
        }
        Ok(SkippedRecords::default())
    }

    fn put(&self, out: &mut [Vec<u8>], entry: &RunEntry) -> io::Result<u64> {
        put_ranking(&mut out[0], self.documents, entry)
    }
}

/// Rankings as a TREC run.
pub fn as_run(documents: &dyn Documents, requests: &[Request], rankings: &[Ranking]) -> Run {
    let mut run = Run::default();
    for (request, ranking) in requests.iter().zip(rankings) {
        let scores: Vec<f64> = ranking.iter().map(|hit| hit.score).collect();
        for (hit, score) in ranking.iter().zip(strictly_decreasing(&scores)) {
            let document = documents.id(hit.doc).as_ref().into();
            run.lines.push(RunLine { topic: request.id.clone(), document, score, line: 0 });
        }
    }
    run
}
