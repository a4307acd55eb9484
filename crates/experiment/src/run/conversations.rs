//! A file of conversations as the input of a run, whose lines name questions by their texts.

use super::file::{Cut, FileKind, InputFile, check_system};
use super::input::{Divisible, Input, Skipped, Writing};
use crate::pipelines::{Asked, Found};
use crate::session::Session;
use clariq_collections::clariq::conversation::{Reading, put_json_lines, read_records};
use clariq_collections::clariq::{Bank, ClariQ, put_text_run_line};
use clariq_core::Error;
use clariq_core::Request;
use clariq_rank::{System, WrittenScores};
use serde_json::{Map, Value, json};
use std::io;
use std::ops::ControlFlow;
use std::path::Path;

/// A file of conversations, and what tells it from others.
pub struct Conversations<'a> {
    bank: &'a Bank,
    file: InputFile,
    /// Whether the questions of every record are known to be of the bank.
    checked: bool,
}

impl<'a> Conversations<'a> {
    /// Opens a file; `-` is standard input. With `skip_bad`, bad records are left out and counted;
    /// otherwise the first is the error.
    pub fn open(session: &Session<'a>, file: &Path, skip_bad: bool) -> Result<Self, Error> {
        Self::new(session, InputFile::open(file, skip_bad)?)
    }

    pub(super) fn new(session: &Session<'a>, file: InputFile) -> Result<Self, Error> {
        let bank = &ClariQ::of(session.collection)?.bank;
        Ok(Self { bank, file, checked: false })
    }

    /// The same of a file that was checked when it was cut.
    pub(super) fn checked(self) -> Self {
        Self { checked: true, ..self }
    }
}

impl Input for Conversations<'_> {
    /// The file's name up to the first dot.
    fn name(&self) -> &str {
        &self.file.stem
    }

    fn location(&self) -> String {
        self.file.source.name()
    }

    fn check(&self, system: &System) -> Result<(), Error> {
        check_system(FileKind::Conversations, system)
    }

    fn describe(&self, system: &System) -> Result<Map<String, Value>, Error> {
        let mut described = Map::new();
        described.insert("conversation".to_owned(), json!(system.conversation));
        described.extend(self.file.describe(FileKind::Conversations));
        Ok(described)
    }

    fn count(&self, record: &mut Value, requests: u64, skipped: &Skipped) {
        FileKind::Conversations.count(record, requests, skipped.count);
    }

    fn read(
        &self,
        done: u64,
        send: &mut dyn FnMut(Asked) -> ControlFlow<()>,
    ) -> Result<Skipped, Error> {
        let bank = Some(self.bank).filter(|_| !self.checked);
        let reading = Reading { bank, skip_bad: self.file.skip_bad };
        let mut seen = 0;
        let counts = read_records(&self.file.source, &reading, &mut |record| {
            seen += u64::from(!record.again);
            if record.again || seen <= done {
                return ControlFlow::Continue(());
            }
            send(vec![Request::from(&record.conversation)])
        })?;
        Ok(Skipped { count: counts.bad, first: counts.first })
    }

    fn put(
        &self,
        out: &mut [Vec<u8>],
        _index: u64,
        request: &Request,
        found: &Found,
        writing: &Writing,
    ) -> io::Result<u64> {
        let [ranking] = &found.rankings[..] else { return Ok(0) };
        let form = writing.system.conversation;
        let hits = &ranking[..ranking.len().min(form.lines.get())];
        for (index, hit) in hits.iter().enumerate() {
            let (rank, score) = match form.scores {
                WrittenScores::Own => (index + 1, hit.score),
                WrittenScores::Remaining => (index, (ranking.len() - index) as f64),
            };
            let text = self.bank.text(hit.doc);
            put_text_run_line(&mut out[0], &request.id, text, rank, score, writing.tag)?;
        }
        Ok(hits.len() as u64)
    }
}

impl Divisible for Conversations<'_> {
    fn cut(&self) -> Cut {
        self.file.cut(FileKind::Conversations)
    }

    fn lines(&self, send: &mut dyn FnMut(Vec<u8>) -> ControlFlow<()>) -> Result<Skipped, Error> {
        let reading = Reading { bank: Some(self.bank), skip_bad: self.file.skip_bad };
        let counts = read_records(&self.file.source, &reading, &mut |record| {
            if record.again {
                return ControlFlow::Continue(());
            }
            let mut line = Vec::new();
            // Memory takes whatever is written.
            let _ = put_json_lines(&mut line, [record]);
            send(line)
        })?;
        Ok(Skipped { count: counts.bad, first: counts.first })
    }
}
