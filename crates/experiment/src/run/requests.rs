//! A file of requests as the input of a run, whose lines are those of TREC.

use super::file::{Cut, FileKind, InputFile, check_system};
use super::input::{Divisible, Input, Skipped, Writing, put_ranking};
use crate::pipelines::{Asked, Found};
use crate::requests::{ARCHIVE, Requests};
use crate::session::Session;
use clariq_core::Error;
use clariq_core::{Documents, Request};
use clariq_files::archive::Archive;
use clariq_rank::System;
use serde_json::{Map, Value};
use std::io::{self, BufReader};
use std::ops::ControlFlow;
use std::path::Path;

/// A file of requests as JSON lines, each with an id of its own.
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
        let requests = Requests::new(archive.name(), lines, self.documents, false);
        let mut requests = requests.with_unique_ids();
        let mut skipped = Skipped::default();
        while let Some(next) = requests.read_next_line()? {
            match next {
                Ok((incoming, line)) => {
                    if send(incoming.request, line).is_break() {
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
        check_system(FileKind::Requests, system)
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
        send: &mut dyn FnMut(Asked) -> ControlFlow<()>,
    ) -> Result<Skipped, Error> {
        let mut seen = 0;
        self.read_lines(&mut |request, _| {
            seen += 1;
            if seen <= done { ControlFlow::Continue(()) } else { send(vec![request]) }
        })
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
