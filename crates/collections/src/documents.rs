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

use crate::json::{self, Node, Parsed, Value};
use crate::lines::Lines;
use clariq_core::Error;
use clariq_files::archive::{Archive, Form};
use clariq_files::{Source, shorten};
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

fn read_lines(
    name: &str,
    lines: &mut Lines,
    parse: fn(u64, &str) -> Parsed<Passage>,
    each: Each,
) -> Result<(), Error> {
    loop {
        let number = lines.number() + 1;
        let passage = match lines.next("passage")? {
            None => return Ok(()),
            Some(Ok(line)) if line.trim().is_empty() => continue,
            Some(Ok(line)) => {
                parse(number, line).map_err(|fault| fault.in_file(name, FORM.hint).into())
            }
            Some(Err(problem)) => Err(Error::Problem(problem)),
        };
        if each(passage)?.is_break() {
            return Ok(());
        }
    }
}

/// A passage a line: `doc_id`, `passage_id`, `passage_text`, as the track releases them; `id`,
/// `contents`, as Anserini indexes them; or `_id`, `title`, `text`, as in BEIR, where title and text
/// are one text with a blank between them. Further keys, such as `url`, are ignored.
fn of_json(line: u64, text: &str) -> Parsed<Passage> {
    let node = json::parse_text(line, text)?;
    if let Some(page) = node.get("doc_id") {
        let number = node.field("passage_id")?.as_id("passage_id")?;
        let text = node.text_of("passage_text")?;
        return passage(&node, format!("{}:{number}", page.as_text("doc_id")?), text);
    }
    let id = match node.get("_id") {
        Some(id) => id.as_id("_id")?,
        None => node.field("id")?.as_id("id")?,
    };
    let text = match node.get("contents") {
        Some(text) => text.as_text("contents")?,
        None => node.text_of("text")?,
    };
    match node.optional_text("title")? {
        Some(title) => passage(&node, id, &format!("{title} {text}")),
        None => passage(&node, id, text),
    }
}

/// A passage a line: its id, a tab, and its text.
fn of_table(line: u64, text: &str) -> Parsed<Passage> {
    let node = Node { line, value: Value::Text(text.into()) };
    let (id, text) = text.split_once('\t').ok_or_else(|| node.unlike("a tab behind the id"))?;
    passage(&node, id.to_owned(), text)
}

fn passage(node: &Node, id: String, text: &str) -> Parsed<Passage> {
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(node.fault("an id without blanks", format!("`{}`", shorten(&id))));
    }
    Ok(Passage { id, text: text.trim().to_owned(), line: node.line })
}
