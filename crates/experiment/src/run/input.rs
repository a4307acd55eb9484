//! The input of a run: its requests, and the form in which their outcomes are written.

use crate::ranker::{RankerOutcome, UserRequest};
use clariq_collections::SkippedRecords;
use clariq_core::{Documents, Request, Result};
use clariq_files::put_run_lines;
use clariq_systems::SystemConfig;
use serde_json::Value;
use std::io::{self, Write};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};

/// Requests in an order, which can be read several times.
pub trait RunInput: Sync {
    /// Its part of the name of a run.
    fn name(&self) -> &str;

    /// Its file or folder, for messages.
    fn location(&self) -> String;

    /// The number of requests, if it is known before they are read; unknown for files.
    fn known(&self) -> Option<usize> {
        self.in_memory().map(<[Request]>::len)
    }

    /// All requests, if they are in memory: their needs are predicted before the first is ranked,
    /// and written beside the run.
    fn in_memory(&self) -> Option<&[Request]> {
        None
    }

    /// Refuses a system that does not fit it.
    fn check(&self, config: &SystemConfig) -> Result<()> {
        let _ = config;
        Ok(())
    }

    /// Describes it in the record of a run by that system.
    fn describe(&self, config: &SystemConfig, record: &mut Value) -> Result<()>;

    /// Adds the number of requests to the record, and that of skipped ones of a file.
    fn count(&self, record: &mut Value, requests: u64, skipped: &SkippedRecords) {
        let _ = skipped;
        record["topics"]["count"] = requests.into();
    }

    /// Sends every request once, in order, until `send` breaks.
    fn read(&self, send: &mut dyn FnMut(UserRequest) -> ControlFlow<()>) -> Result<SkippedRecords>;

    /// The files of a run at `path`, which is the first of them, each with its key in the record.
    fn files(&self, path: &Path) -> Vec<(&'static str, PathBuf)> {
        vec![("run", path.to_owned())]
    }

    /// Writes the outcome of a request to each of the files; returns the number of ranked lines.
    fn put(&self, out: &mut [Vec<u8>], entry: &RunEntry) -> io::Result<u64>;

    /// Writes the end of a file, by its index in [`RunInput::files`].
    fn put_end(&self, file: usize, out: &mut dyn Write) -> io::Result<()> {
        let _ = (file, out);
        Ok(())
    }
}

/// Writes a ranking as lines of a TREC run; returns their number.
pub(super) fn put_ranking(
    out: &mut Vec<u8>,
    documents: &dyn Documents,
    entry: &RunEntry,
) -> io::Result<u64> {
    let ranking = &entry.outcome.ranking;
    let hits = ranking.iter().map(|hit| (documents.id(hit.doc), hit.score));
    put_run_lines(out, &entry.request.id, hits, entry.tag)?;
    Ok(ranking.len() as u64)
}

/// The outcome of a request, and the data to write it.
pub struct RunEntry<'a> {
    /// The number of the request, from 0.
    pub index: u64,
    /// The request as the input has it, before the system changes its copy.
    pub request: &'a Request,
    /// The ranking, and the need and the answer if the system has them.
    pub outcome: &'a RankerOutcome,
    /// The configuration of the system that made the outcome.
    pub config: &'a SystemConfig,
    /// The last field of every line.
    pub tag: &'a str,
}
