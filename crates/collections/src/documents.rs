//! Reads documents: JSON as the track, Anserini or BEIR write it, tables with or without a header, CSV,
//! `TrecWeb`, and texts that are a document each; plain or packed.
//!
//! Lines of JSON, tables without a header and `TrecWeb` are read one by one, so that a file may be longer than
//! memory. A file is CSV or a text by its name. Otherwise, its first line tells the form: a JSON object, or else
//! a table if it has a tab, and `TrecWeb` if it begins with `<`. A table with a header is CSV, with its quotes.

mod bank;
mod delimited;
mod files;
mod form;
pub(crate) mod json;
mod read;
mod trec_web;

pub use bank::{Bank, BankRow};
pub use files::document_files;
pub use files::{DocumentFileKind, DocumentFolder, PACKED, entries, packing_not_read};
pub(crate) use files::{
    Listings, each_once, has_ending, is_description, is_unpacked, lower_name, two_files,
    without_packing,
};
pub use form::DocumentForm;
pub(crate) use form::NAMES_HINT;
pub(crate) use read::read_unique;
pub use read::{check_documents, read_all, read_bank};

use crate::columns::{IdTextTable, begins_as_json_object};
use crate::keys::Object;
use crate::lines::ArchiveLines;
use clariq_core::{Error, IoAction, Problem, is_python_space, problem};
use clariq_files::archive::{Archive, ExpectedContent};
use clariq_files::{FileContent, Source, quoted};
use std::io::Read;
use std::ops::ControlFlow;
use std::path::Path;

/// The most bytes of a line of documents, and of a passage in `TrecWeb`.
pub const LONGEST: u64 = 16 << 20;

static FORM: ExpectedContent = ExpectedContent {
    what: "documents as JSON, a table or TrecWeb",
    hint: "a line is {\"id\": \"…\", \"contents\": \"…\"}, {\"_id\": \"…\", \"title\": \"…\", \"text\": \"…\"} or an id, a tab and a text",
};

/// A passage of a web page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Passage {
    /// The id: the web page's id and the number of the passage in it, from 0, as in
    /// `clueweb22-en0004-50-00170:0`.
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

/// Calls `each` with every passage of a file, or with the problem in its place; `each` may stop
/// early, with an error or without.
pub fn for_each_passage(
    source: &Source,
    each: impl FnMut(Result<Passage, Error>) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    DocumentForm::default().for_each(source, each)
}

impl DocumentForm {
    /// Calls `each` with every passage of a file, as [`for_each_passage`] does.
    pub(crate) fn for_each(
        &self,
        source: &Source,
        mut each: impl FnMut(Result<Passage, Error>) -> Result<ControlFlow<()>, Error>,
    ) -> Result<(), Error> {
        let kind = match source {
            Source::Path(path) => DocumentFileKind::of(path),
            _ => DocumentFileKind::Documents,
        };
        if let (DocumentFileKind::Text, Source::Path(path)) = (kind, source) {
            return self.read_text(source, path, &mut each);
        }
        let archive = Archive::new(std::slice::from_ref(source), &FORM)?;
        let head = archive.head(HEAD)?;
        let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
        let head = head.trim_ascii_start();
        let mut lines = head.split(|byte| matches!(byte, b'\n' | b'\r'));
        let first = lines.next().unwrap_or_default();
        let is_table = first.contains(&b'\t') && !begins_as_json_object(first);
        // Where a person has named the columns, a table without them is an error.
        let has_header = is_table
            && (self.named().is_some() || self.begins_with_names(archive.name(), first).is_ok());
        archive.with_content(|content| {
            if kind == DocumentFileKind::Csv || has_header {
                return delimited::read(archive.name(), content, self, &mut each);
            }
            if !is_table && json::has_several_lines(first, lines.next().is_some()) {
                return json::read(archive.name(), content, self, &mut each);
            }
            let mut lines = ArchiveLines::new(&archive, content, LONGEST);
            if head.starts_with(b"<") && !is_table {
                return trec_web::read(&mut lines, &mut each);
            }
            let table = is_table.then(IdTextTable::of_documents);
            read_lines(self, archive.name(), &mut lines, table, &mut each)
        })
    }

    /// Checks that a file begins with the names of an id and a text: in a header, or as keys. What they hold is
    /// for its reader to tell.
    ///
    /// # Errors
    ///
    /// A file that begins with anything else.
    pub(crate) fn check_beginning(&self, path: &Path) -> Result<(), Error> {
        let source = Source::new(path);
        let mut head = Vec::new();
        let read = source.stream()?.take(HEAD).read_to_end(&mut head);
        read.map_err(Error::io(IoAction::Read, path))?;
        let is_whole = (head.len() as u64) < HEAD;
        let input = FileContent::of_text(&source.name(), head)?;
        Ok(self.check_head(&input, DocumentFileKind::of(path), is_whole)?)
    }

    /// Checks the beginning of a file.
    fn check_head(
        &self,
        input: &FileContent,
        kind: DocumentFileKind,
        is_whole: bool,
    ) -> Result<(), Box<Problem>> {
        let text = input.bytes.trim_ascii_start();
        let line = text.split(|&byte| byte == b'\n').next().unwrap_or_default();
        let is_table = line.contains(&b'\t') && !begins_as_json_object(line);
        if is_table || kind == DocumentFileKind::Csv {
            return self.begins_with_names(&input.name, line);
        }
        let first = text.strip_prefix(b"[").unwrap_or(text).trim_ascii_start();
        let before = input.bytes.len() - first.len();
        let before = input.bytes.get(..before).unwrap_or_default();
        let at = (&*input.name, 1 + memchr::memchr_iter(b'\n', before).count() as u64);
        if first.starts_with(b"{") {
            let mut objects = serde_json::Deserializer::from_slice(first).into_iter::<Object>();
            match objects.next() {
                Some(Ok(object)) => return json::DocumentKeys::of(self, at, &object).map(drop),
                // The head may have cut a longer document.
                Some(Err(error)) if error.is_eof() && !is_whole => return Ok(()),
                _ => {}
            }
        }
        Err(Box::new(no_document(at, &String::from_utf8_lossy(line))))
    }

    /// Checks that the first line of a table names the columns of documents.
    fn begins_with_names(&self, name: &str, first: &[u8]) -> Result<(), Box<Problem>> {
        let input = FileContent { name: name.to_owned(), bytes: first.to_vec().into() };
        delimited::HeadedTable::of(&input, self).map(drop)
    }

    /// Reads a file that is a document.
    fn read_text(&self, source: &Source, path: &Path, each: PassageSink) -> Result<(), Error> {
        let Some(id) = self.id_of_file(path) else {
            let problem = problem!(path, (FORM.what), "a text", (FORM.hint));
            return Err(problem.into());
        };
        // An empty file is an empty document.
        let input = source.read_at_most(LONGEST)?;
        let is_trec = input.bytes.trim_ascii_start().starts_with(b"<DOC>");
        if is_trec || self.check_head(&input, DocumentFileKind::Text, true).is_ok() {
            let found = if is_trec { "documents between `<DOC>` and `</DOC>`" } else { "records" };
            let hint = "a file of records is JSON, a table or CSV, and its name ends so: `.jsonl`, `.tsv`, `.csv`";
            return Err(problem!(path, "a text that is one document", found, hint).into());
        }
        let text = str::from_utf8(&input.bytes)
            .map_err(|_| clariq_files::not_utf8((&*input.name, 1), "text", &input.bytes))?;
        each(passage((&input.name, 1), id, text).map_err(Error::Problem)).map(drop)
    }
}

/// The first bytes of a file, by which its form is known.
const HEAD: u64 = 1 << 16;

/// True if a run can name a document or a request by this id: fields of a run are separated by
/// blanks, and Python counts the separators U+001C to U+001F among them.
pub fn is_id(id: &str) -> bool {
    !id.is_empty()
        && !id.starts_with('\u{feff}')
        && !id.contains(|c: char| is_python_space(c) || c == '\0')
}

/// A function that takes passages one by one.
type PassageSink<'e> = &'e mut dyn FnMut(Result<Passage, Error>) -> Result<ControlFlow<()>, Error>;

/// A place in a file: its name and the line.
type FileLine<'a> = (&'a str, u64);

fn read_lines(
    form: &DocumentForm,
    name: &str,
    lines: &mut ArchiveLines,
    mut table: Option<IdTextTable>,
    each: PassageSink,
) -> Result<(), Error> {
    loop {
        let number = lines.number() + 1;
        let passage = match lines.next("passage")? {
            None => return Ok(()),
            Some(Ok(line)) if line.trim().is_empty() => continue,
            Some(Ok(line)) => {
                let at = (name, number);
                let passage = if let Some(table) = &mut table {
                    if table.begin(at, line)? {
                        continue;
                    }
                    parse_table_row(table, at, line)
                } else if line.trim_start().starts_with('{') {
                    json::parse_line(form, at, line)
                } else {
                    Err(Box::new(no_document(at, line)))
                };
                passage.map_err(|problem| with_form(problem).into())
            }
            Some(Err(problem)) => Err(Error::Problem(problem)),
        };
        if each(passage)?.is_break() {
            return Ok(());
        }
    }
}

/// The problem of a line that is neither JSON nor a row of a table.
fn no_document(at: FileLine, line: &str) -> Problem {
    let hint = if line.trim_start().starts_with(['/', '#']) {
        "JSON has no comments: leave such lines out"
    } else if line.contains([',', ';']) {
        "CSV has a name that ends in `.csv`, and a header"
    } else {
        FORM.hint
    };
    problem!(at, (FORM.what), (quoted(line)), hint)
}

/// The problem with a hint: the form of a line, if it has none of its own.
#[expect(clippy::boxed_local, reason = "readers return boxes")]
fn with_form(problem: Box<Problem>) -> Problem {
    if problem.hint.is_empty() { problem.hint(FORM.hint) } else { *problem }
}

/// Parses a passage as a row of a table.
fn parse_table_row(table: &IdTextTable, at: FileLine, line: &str) -> Result<Passage, Box<Problem>> {
    let Some((id, text)) = table.row(at, line)? else {
        let problem = problem!(at, "a tab behind the id", (quoted(line)));
        if line.matches('"').count() % 2 == 1 {
            let hint =
                "is this the rest of a text in quotation marks? A text has no line ends here";
            return Err(Box::new(problem.hint(hint)));
        }
        return Err(Box::new(problem));
    };
    passage(at, id, &text)
}

/// A file that is read whole; `otherwise` says what a larger one may be in place of it.
fn whole(
    name: &str,
    content: &mut dyn Read,
    kind: &str,
    otherwise: &str,
) -> Result<FileContent, Error> {
    const MOST: u64 = 1 << 30;
    let mut bytes = Vec::new();
    let read = content.take(MOST + 1).read_to_end(&mut bytes);
    read.map_err(Error::io(IoAction::Read, name))?;
    if bytes.len() as u64 > MOST {
        let expected = format!("at most {} MiB of {kind}", MOST >> 20);
        let hint = format!("{otherwise}: such files may be of any size");
        return Err(problem!(name, expected, "more", hint).into());
    }
    FileContent::of_text(name, bytes)
}

fn passage(at: FileLine, id: String, text: &str) -> Result<Passage, Box<Problem>> {
    if !is_id(&id) {
        let found = quoted(&id);
        let hint =
            "runs and judgements have blanks between their fields: write another sign in ids";
        return Err(Box::new(problem!(at, "an id without blanks", found, hint)));
    }
    Ok(Passage { id, text: text.trim().to_owned(), line: at.1 })
}
