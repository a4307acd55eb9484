//! What runs are made over: requests, and the form in which what is found for them is written.

use crate::rewrites::Rewrites;
use crate::system::{Outcome, Query};
use crate::systems::Loaded;
use clariq_core::{Documents, Observer, Problem, Request, Result, bail, printable};
use clariq_files::put_run_lines;
use serde_json::Value;
use std::collections::HashSet;
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
    fn check(&self, loaded: &Loaded) -> Result<()> {
        let _ = loaded;
        Ok(())
    }

    /// Writes what tells it from others into the record of a run by that system.
    fn describe(&self, loaded: &Loaded, record: &mut Value) -> Result<()>;

    /// Completes the record of a run when all was read.
    fn count(&self, record: &mut Value, requests: u64, skipped: &Skipped);

    /// Sends every request once, in order, but for the first `done`, until `send` breaks.
    fn read(&self, done: u64, send: &mut dyn FnMut(Query) -> ControlFlow<()>) -> Result<Skipped>;

    /// The files of a run at `path`, which is the first of them, each with what a record calls it.
    fn files(&self, path: &Path) -> Vec<(&'static str, PathBuf)> {
        vec![("run", path.to_owned())]
    }

    /// Writes what was found for a request to each of the files; how many lines of rankings.
    fn put(&self, out: &mut [Vec<u8>], found: &Found) -> io::Result<u64>;

    /// Writes the end of the file number `file`.
    fn put_end(&self, file: usize, out: &mut dyn Write) -> io::Result<()> {
        let _ = (file, out);
        Ok(())
    }
}

/// Characters of an id that a message shows.
const SHOWN: usize = 200;

impl Rewrites {
    /// Reports how many requests have no rewrite, and how many ids are of no request.
    ///
    /// # Errors
    ///
    /// All are of other requests.
    pub fn check(&self, input: &dyn Input, observer: &dyn Observer) -> Result<()> {
        let mut others: HashSet<&str> = self.texts.keys().map(String::as_str).collect();
        let mut example = String::new();
        let mut all = 0;
        let mut known = 0;
        input.read(0, &mut |query| {
            let request = &query.request;
            all += 1;
            known += u64::from(self.has(request));
            others.remove(request.id.as_str());
            example = request.id.to_string();
            ControlFlow::Continue(())
        })?;
        let (name, location) = (&self.name, input.location());
        let (unknown, other) = (others.len(), others.into_iter().min().unwrap_or_default());
        let other = printable(other, SHOWN);
        if known == 0 && all > 0 {
            let hint = format!("ids there are like `{example}`; --split names another split");
            bail!(&**name, "rewrites of requests of {location}", "`{other}` and the like", hint);
        }
        self.report_missing(all - known, all, observer);
        if unknown > 0 {
            observer.note(&format!(
                "warning: {name}: {unknown} ids are of no request of {location}, such as `{other}`"
            ));
        }
        Ok(())
    }
}

/// Writes what was found for a request as lines of a TREC run; how many.
pub(super) fn put_ranking(
    out: &mut Vec<u8>,
    documents: &dyn Documents,
    found: &Found,
) -> io::Result<u64> {
    let ranking = &found.outcome.ranking;
    let hits = ranking.iter().map(|hit| (documents.id(hit.doc), hit.score));
    put_run_lines(out, &found.request.id, hits, found.tag)?;
    Ok(ranking.len() as u64)
}

/// What was found for a request, and how it is written.
pub struct Found<'a> {
    /// The number of the request, from 0.
    pub index: u64,
    /// The request.
    pub request: &'a Request,
    /// What was found.
    pub outcome: &'a Outcome,
    /// The system that found it.
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

impl Skipped {
    /// Reports records of `file` that were left out.
    pub(crate) fn report(&self, file: &str, observer: &dyn Observer) {
        if let Some(first) = &self.first {
            let bad = self.count;
            observer.note(&format!(
                "warning: {file}: {bad} bad records are left out; the first: {first}"
            ));
        }
    }
}
