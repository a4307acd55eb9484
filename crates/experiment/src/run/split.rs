//! A split of a collection as the input of a run, whose lines are those of TREC.

use super::given::Given;
use super::input::{Input, Skipped, Writing, put_ranking};
use crate::pipelines::{Asked, Found};
use crate::session::Session;
use clariq_collections::Collection;
use clariq_core::Error;
use clariq_core::{Documents, Ranking, Request, sha256_hex};
use clariq_files::{Run, RunLine, Source, strictly_decreasing};
use clariq_rank::System;
use serde_json::{Map, Value, json};
use std::io;
use std::ops::ControlFlow;

/// The requests of a split for one task.
pub(super) struct SplitRequests<'a> {
    collection: &'a dyn Collection,
    documents: &'a dyn Documents,
    split: &'static str,
    given: Option<&'a Given>,
    /// All of them, in the order of their file.
    requests: Vec<Request>,
}

impl<'a> SplitRequests<'a> {
    /// Reads the requests of a split for the task of a session.
    pub(super) fn read(session: &Session<'a>, split: &'static str) -> Result<Self, Error> {
        let (collection, documents) = (session.collection, session.documents);
        let requests = collection.requests(split, session.task)?.collect::<Result<_, _>>()?;
        Ok(Self { collection, documents, split, given: None, requests })
    }

    /// The same with the documents that another run gives to each request.
    pub(super) fn given(mut self, given: Option<&'a Given>) -> Result<Self, Error> {
        if let Some(given) = given {
            let candidates = given.candidates(self.documents)?;
            self.requests.iter_mut().for_each(|request| candidates.give(request));
        }
        Ok(Self { given, ..self })
    }
}

/// What the record of a run says of a split: its file, and for a system that looks at more than one
/// request, the file of each split.
pub(super) fn describe_split(
    collection: &dyn Collection,
    split: &str,
    given: Option<&Given>,
    system: &System,
) -> Result<Map<String, Value>, Error> {
    let (file, sha256) = digest(&collection.source(split)?)?;
    let mut described = Map::new();
    described.insert("split".to_owned(), split.into());
    described.insert("topics".to_owned(), json!({ "file": file, "sha256": sha256 }));
    if let Some(given) = given {
        described.insert("candidates".to_owned(), given.describe());
    }
    if !system.uses.is_empty() {
        let mut checksums = Map::new();
        for split in collection.splits().iter().filter(|split| collection.has(split)) {
            let (_, checksum) = digest(&collection.source(split)?)?;
            checksums.insert((*split).to_owned(), checksum.into());
        }
        described.insert("splits".to_owned(), checksums.into());
    }
    Ok(described)
}

/// The name of a file without its folder, and its SHA-256.
fn digest(source: &Source) -> Result<(String, String), Error> {
    let name = source.name();
    let file = name.rsplit(['/', '\\']).next().unwrap_or_default().to_owned();
    Ok((file, sha256_hex(&source.read()?.bytes)))
}

impl Input for SplitRequests<'_> {
    fn name(&self) -> &str {
        self.split
    }

    fn location(&self) -> String {
        format!("{} in {}", self.split, self.collection.location())
    }

    fn in_memory(&self) -> Option<&[Request]> {
        Some(&self.requests)
    }

    fn check(&self, _system: &System) -> Result<(), Error> {
        Ok(())
    }

    fn describe(&self, system: &System) -> Result<Map<String, Value>, Error> {
        describe_split(self.collection, self.split, self.given, system)
    }

    fn count(&self, record: &mut Value, requests: u64, _skipped: &Skipped) {
        record["topics"]["count"] = requests.into();
    }

    fn read(
        &self,
        done: u64,
        send: &mut dyn FnMut(Asked) -> ControlFlow<()>,
    ) -> Result<Skipped, Error> {
        let rest = self.requests.iter().skip(done as usize);
        let _ = rest.cloned().try_for_each(|request| send(vec![request]));
        Ok(Skipped::default())
    }

    fn put(
        &self,
        out: &mut [Vec<u8>],
        _index: u64,
        request: &Request,
        found: &Found,
        writing: &Writing,
    ) -> io::Result<u64> {
        put_ranking(&mut out[0], self.documents, request, found, writing)
    }
}

/// Rankings as the lines that are written of them, ready to be scored.
pub fn as_run(documents: &dyn Documents, requests: &[Request], rankings: &[Ranking]) -> Run {
    let mut run = Run::default();
    for (request, ranking) in requests.iter().zip(rankings) {
        let scores: Vec<f64> = ranking.iter().map(|hit| hit.score).collect();
        run.lines.extend(ranking.iter().zip(strictly_decreasing(&scores)).map(|(hit, score)| {
            let (topic, question) =
                (request.id.as_str().into(), documents.id(hit.doc).as_ref().into());
            RunLine { topic, question, score, line: 0 }
        }));
    }
    run
}
