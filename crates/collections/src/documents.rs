//! Passages: JSON lines of the track, of Anserini or of BEIR, tables of two columns, and `TrecWeb`,
//! plain or packed, as a stream.
//!
//! A file is read record by record, so it may be longer than memory. The form is recognised by how
//! it begins: `<` begins `TrecWeb`; a table has a tab in its first line, and JSON lines `{`.

mod bank;
mod files;
mod read;
mod trec_web;

pub use bank::{Bank, BankRow};
pub use files::document_files;
pub(crate) use files::files_in;
pub(crate) use read::{check_documents, read_all, read_bank, read_unique};

use crate::id_or_number::IdOrNumber;
use crate::lines::Lines;
use clariq_core::{Error, Problem, parse_json, problem};
use clariq_files::archive::{Archive, Form};
use clariq_files::{Source, shorten};
use serde::Deserialize;
use std::ops::ControlFlow;

/// A longer line is no record of a passage.
const LONGEST: u64 = 16 << 20;

static FORM: Form = Form {
    what: "documents as JSON lines, a table or TrecWeb",
    hint: "a line is {\"id\": \"…\", \"contents\": \"…\"}, {\"_id\": \"…\", \"title\": \"…\", \"text\": \"…\"} or an id, a tab and a text",
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
    let head = head.trim_ascii_start();
    let mut first = head.iter().take_while(|byte| **byte != b'\n');
    let is_table = !head.starts_with(b"{") && first.any(|byte| *byte == b'\t');
    archive.with_content(|content| {
        let mut lines = Lines::new(&archive, content, LONGEST);
        if head.starts_with(b"<") {
            return trec_web::read(&mut lines, &mut each);
        }
        let parse = if is_table { of_table } else { of_json };
        read_lines(archive.name(), &mut lines, parse, &mut each)
    })
}

/// What takes the passages.
type Each<'e> = &'e mut dyn FnMut(Result<Passage, Error>) -> Result<ControlFlow<()>, Error>;

/// A place in a file: its name and the line.
type Place<'a> = (&'a str, u64);

fn read_lines(
    name: &str,
    lines: &mut Lines,
    parse: fn(Place, &str) -> Result<Passage, Box<Problem>>,
    each: Each,
) -> Result<(), Error> {
    loop {
        let number = lines.number() + 1;
        let passage = match lines.next("passage")? {
            None => return Ok(()),
            Some(Ok(line)) if line.trim().is_empty() => continue,
            Some(Ok(line)) => {
                let passage = parse((name, number), line);
                passage.map_err(|problem| problem.hint(FORM.hint).into())
            }
            Some(Err(problem)) => Err(Error::Problem(problem)),
        };
        if each(passage)?.is_break() {
            return Ok(());
        }
    }
}

/// The keys of a line: of the track, of Anserini, and of BEIR. Further keys, such as `url`, are
/// ignored.
#[derive(Deserialize)]
struct AnyPassage {
    doc_id: Option<String>,
    passage_id: Option<IdOrNumber>,
    passage_text: Option<String>,
    id: Option<IdOrNumber>,
    contents: Option<String>,
    #[serde(rename = "_id")]
    beir_id: Option<IdOrNumber>,
    title: Option<String>,
    text: Option<String>,
}

/// A passage as JSON: `doc_id`, `passage_id`, `passage_text`, as the track releases them; `id`,
/// `contents`, as Anserini indexes them; or `_id`, `title`, `text`, as in BEIR, where title and text
/// are one text with a blank between them.
fn of_json(at: Place, line: &str) -> Result<Passage, Box<Problem>> {
    let any: AnyPassage = parse_json(at, line.as_bytes())?;
    if let Some(page) = any.doc_id {
        let (Some(number), Some(text)) = (any.passage_id, any.passage_text) else {
            let expected = "the keys `passage_id` and `passage_text` beside `doc_id`";
            return Err(Box::new(problem!(at, expected, "an object without one of them")));
        };
        return passage(at, format!("{page}:{}", number.into_text()), &text);
    }
    let Some(id) = any.beir_id.or(any.id) else {
        return Err(Box::new(problem!(at, "a key `id`", "an object without it")));
    };
    let Some(text) = any.contents.or(any.text) else {
        let expected = "a key `contents` or `text`";
        return Err(Box::new(problem!(at, expected, "an object without them")));
    };
    match any.title {
        Some(title) => passage(at, id.into_text(), &format!("{title} {text}")),
        None => passage(at, id.into_text(), &text),
    }
}

/// A passage as a row of a table: its id, a tab, and its text.
fn of_table(at: Place, line: &str) -> Result<Passage, Box<Problem>> {
    let Some((id, text)) = line.split_once('\t') else {
        let found = format!("`{}`", shorten(line));
        return Err(Box::new(problem!(at, "a tab behind the id", found)));
    };
    passage(at, id.to_owned(), text)
}

fn passage(at: Place, id: String, text: &str) -> Result<Passage, Box<Problem>> {
    if id.is_empty() || id.contains(char::is_whitespace) {
        let found = format!("`{}`", shorten(&id));
        return Err(Box::new(problem!(at, "an id without blanks", found)));
    }
    Ok(Passage { id, text: text.trim().to_owned(), line: at.1 })
}
