//! Passages: JSON lines of the track or of Anserini, and `TrecWeb`, plain or gzip, as a stream.
//!
//! A file is read record by record, so it may be longer than memory. The form is recognised by the
//! first byte: `{` begins JSON lines and `<` `TrecWeb`.

mod documents;
mod json_lines;
mod trec_web;

pub(super) use documents::{read_all, read_bank};

use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_files::archive::{Archive, Form};
use clariq_files::table::not_utf8;
use clariq_files::{BoundedLines, Source};
use std::io::{BufReader, Read};
use std::ops::ControlFlow;

/// A longer line is no record of a passage: it would only fill the memory.
const LONGEST: u64 = 16 << 20;

static FORM: Form = Form {
    kind: ProblemKind::Json,
    what: "passages as JSON lines or TrecWeb",
    hint: "a line is {\"id\": \"…\", \"contents\": \"…\"} or {\"doc_id\": \"…\", \"passage_id\": \"…\", \"passage_text\": \"…\"}",
};

/// One passage of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// Page and number of the passage in it, from 0: `clueweb22-en0004-50-00170:0`.
    pub id: String,
    /// Its text, without white space around it.
    pub text: String,
    /// The line on which it begins.
    pub line: u64,
}

/// Reads all passages of a file into memory; the first problem is the error.
pub fn read_passages(source: &Source) -> Result<Vec<Passage>, Error> {
    let mut passages = Vec::new();
    for_each_passage(source, |passage| {
        passages.push(passage?);
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(passages)
}

/// Gives every passage of a file to `each`, or the problem in its place; `each` may stop early,
/// with an error or without.
pub fn for_each_passage(
    source: &Source,
    mut each: impl FnMut(Result<Passage, Error>) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let archive = Archive::new(std::slice::from_ref(source), &FORM)?;
    let head = archive.head(1 << 10)?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    let is_trec_web = head.trim_ascii_start().starts_with(b"<");
    archive.with_content(|content| {
        let mut lines = Lines::new(&archive, content);
        if is_trec_web {
            trec_web::read(&mut lines, &mut each)
        } else {
            json_lines::read(&mut lines, &mut each)
        }
    })
}

/// What takes the passages.
type Each<'e> = &'e mut dyn FnMut(Result<Passage, Error>) -> Result<ControlFlow<()>, Error>;

/// The lines of a file, one at a time.
struct Lines<'a> {
    archive: &'a Archive,
    lines: BoundedLines<'a>,
    number: u64,
}

impl<'a> Lines<'a> {
    fn new(archive: &'a Archive, content: &'a mut dyn Read) -> Self {
        let content = BufReader::with_capacity(1 << 16, content);
        Self { archive, lines: BoundedLines::new(archive.name(), content, LONGEST), number: 0 }
    }

    /// The next line without its end, or `None` at the end of the file. A line that is not UTF-8 is
    /// a problem of its own.
    fn next(&mut self) -> Result<Option<Result<&str, Box<Problem>>>, Error> {
        let Some((number, line)) = self.lines.next_bytes()? else { return Ok(None) };
        self.number = number;
        let line = line.trim_ascii_end();
        let at = Location::line(self.archive.name(), number);
        Ok(Some(str::from_utf8(line).map_err(|_| Box::new(not_utf8(at, "passage", line)))))
    }

    /// A problem of the line that was read last.
    fn problem(&self, expected: impl Into<String>, found: impl Into<String>) -> Problem {
        let at = Location::line(self.archive.name(), self.number);
        Problem::new(at, ProblemKind::WrongValue, expected, found).hint(FORM.hint)
    }
}
