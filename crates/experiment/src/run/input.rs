//! What runs are made over: requests, and the form in which what is found for them is written.

use crate::system::{Outcome, Query};
use crate::systems::Loaded;
use clariq_core::{Documents, Error, Problem, Request};
use clariq_files::put_run_lines;
use serde_json::{Map, Value};
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Requests in an order, read as often as asked for.
pub trait Input: Sync {
    /// What runs over it are named after.
    fn name(&self) -> &str;

    /// Where it is, for messages.
    fn location(&self) -> String;

    /// How many requests there are, where that is known before all are read.
    fn known(&self) -> Option<usize> {
        self.in_memory().map(<[Request]>::len)
    }

    /// All requests, where they are in memory: their needs are predicted before the first is
    /// ranked, and written beside the run.
    fn in_memory(&self) -> Option<&[Request]> {
        None
    }

    /// Refuses a system that cannot be run over it.
    fn check(&self, loaded: &Loaded) -> Result<(), Error> {
        let _ = loaded;
        Ok(())
    }

    /// What tells it from others, for the record of a run by that system.
    fn describe(&self, loaded: &Loaded) -> Result<Map<String, Value>, Error>;

    /// Completes the record of a run when all was read.
    fn count(&self, record: &mut Value, requests: u64, skipped: &Skipped);

    /// Sends every request once, in order, but for the first `done`, until `send` breaks.
    fn read(
        &self,
        done: u64,
        send: &mut dyn FnMut(Query) -> ControlFlow<()>,
    ) -> Result<Skipped, Error>;

    /// The files of a run at `path`, which is the first of them, each with what a record calls it.
    fn files(&self, path: &Path) -> Vec<(&'static str, PathBuf)> {
        vec![("run", path.to_owned())]
    }

    /// Writes what was found for the request number `index`, from 0; how many lines of rankings.
    fn put(
        &self,
        out: &mut [Vec<u8>],
        index: u64,
        request: &Request,
        outcome: &Outcome,
        writing: &Writing,
    ) -> io::Result<u64>;

    /// Writes the end of the file number `file`.
    fn put_end(&self, file: usize, out: &mut dyn Write) -> io::Result<()> {
        let _ = (file, out);
        Ok(())
    }
}

/// Writes what was found for a request as lines of a TREC run; how many.
pub(super) fn put_ranking(
    out: &mut Vec<u8>,
    documents: &dyn Documents,
    request: &Request,
    outcome: &Outcome,
    writing: &Writing,
) -> io::Result<u64> {
    let ranking = &outcome.ranking;
    let hits = ranking.iter().map(|hit| (documents.id(hit.doc), hit.score));
    put_run_lines(out, &request.id, hits, writing.tag)?;
    Ok(ranking.len() as u64)
}

/// How lines are written.
#[derive(Clone, Copy)]
pub struct Writing<'a> {
    /// The system whose rankings they are.
    pub loaded: &'a Loaded,
    /// The last field of every line.
    pub tag: &'a str,
}

/// Records that a reader left out.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Skipped {
    /// How many.
    pub count: u64,
    /// What is wrong with the first.
    pub first: Option<Problem>,
}
