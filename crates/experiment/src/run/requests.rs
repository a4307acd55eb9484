//! A file of requests as the input of a run, whose lines are those of TREC.

use super::file::{Cut, FileKind, InputFile, refuse_batch};
use super::input::{Divisible, Input, Skipped, Writing};
use crate::error::Error;
use crate::requests::{ARCHIVE, Requests};
use crate::session::Session;
use clariq_core::{Documents, Ranking, Request};
use clariq_files::archive::Archive;
use clariq_files::put_run_lines;
use clariq_rank::System;
use serde_json::{Map, Value};
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

/// A file of requests as JSON lines. No two should have the same id.
pub struct RequestFile<'a> {
    documents: &'a dyn Documents,
    file: InputFile,
}

impl<'a> RequestFile<'a> {
    /// Opens a file, plain or gzip; `-` is standard input. With `skip_bad`, bad lines are left out
    /// and counted; otherwise the first is the error.
    pub fn open(session: &Session<'a>, file: &Path, skip_bad: bool) -> Result<Self, Error> {
        Ok(Self::new(session, InputFile::open(file, skip_bad)?))
    }

    pub(super) fn new(session: &Session<'a>, file: InputFile) -> Self {
        Self { documents: session.documents, file }
    }

    /// Sends every request with its line.
    fn read_lines(
        &self,
        send: &mut dyn FnMut(Request, String) -> ControlFlow<()>,
    ) -> Result<Skipped, Error> {
        let archive = Archive::new(std::slice::from_ref(&self.file.source), &ARCHIVE)?;
        let lines = Box::new(BufReader::new(archive.open()?));
        let mut requests = Requests::new(archive.name(), lines, self.documents);
        let mut skipped = Skipped::default();
        while let Some(next) = requests.read_next_line()? {
            match next {
                Ok((request, line)) => {
                    if send(request, line).is_break() {
                        break;
                    }
                }
                Err(problem) if self.file.skip_bad => {
                    skipped.count += 1;
                    skipped.first.get_or_insert(problem);
                }
                Err(problem) => return Err(problem.into()),
            }
        }
        Ok(skipped)
    }
}

impl Input for RequestFile<'_> {
    fn name(&self) -> &str {
        &self.file.stem
    }

    fn location(&self) -> String {
        self.file.source.name()
    }

    fn check(&self, system: &System) -> Result<(), Error> {
        let hint = "`clariq rank --batch` ranks the requests of a file together";
        refuse_batch(system, "a file of requests", hint)
    }

    fn describe(&self, _system: &System) -> Result<Map<String, Value>, Error> {
        Ok(self.file.describe(FileKind::Requests))
    }

    fn count(&self, record: &mut Value, requests: u64, skipped: &Skipped) {
        FileKind::Requests.count(record, requests, skipped.count);
    }

    fn read(
        &self,
        done: u64,
        send: &mut dyn FnMut(Request) -> ControlFlow<()>,
    ) -> Result<Skipped, Error> {
        let mut seen = 0;
        self.read_lines(&mut |request, _| {
            seen += 1;
            if seen <= done { ControlFlow::Continue(()) } else { send(request) }
        })
    }

    fn put(
        &self,
        out: &mut Vec<u8>,
        request: &Request,
        ranking: &Ranking,
        writing: &Writing,
    ) -> io::Result<u64> {
        let hits = ranking.iter().map(|hit| (self.documents.id(hit.doc), hit.score));
        put_run_lines(out, [(&request.id, hits)], writing.tag)?;
        Ok(ranking.len() as u64)
    }
}

impl Divisible for RequestFile<'_> {
    fn cut(&self) -> Cut {
        self.file.cut(FileKind::Requests)
    }

    fn lines(&self, send: &mut dyn FnMut(Vec<u8>) -> ControlFlow<()>) -> Result<Skipped, Error> {
        self.read_lines(&mut |_, line| {
            let mut line = line.into_bytes();
            line.push(b'\n');
            send(line)
        })
    }
}
