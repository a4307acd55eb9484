//! Passages: JSON lines of the track or of Anserini, and `TrecWeb`, plain or gzip, as a stream.
//!
//! A file is read record by record, so it may be longer than memory. The form is recognised by the
//! first byte: `{` begins JSON lines and `<` `TrecWeb`.

mod documents;
mod trec_web;

pub(super) use documents::{read_all, read_bank};

use crate::json::{self, Node, Parsed};
use crate::lines::Lines;
use clariq_core::Error;
use clariq_files::Source;
use clariq_files::archive::{Archive, Form};
use std::ops::ControlFlow;

/// A longer line is no record of a passage.
const LONGEST: u64 = 16 << 20;

static FORM: Form = Form {
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
        let mut lines = Lines::new(&archive, content, LONGEST);
        if is_trec_web {
            trec_web::read(&mut lines, &mut each)
        } else {
            read_json_lines(archive.name(), &mut lines, &mut each)
        }
    })
}

/// What takes the passages.
type Each<'e> = &'e mut dyn FnMut(Result<Passage, Error>) -> Result<ControlFlow<()>, Error>;

fn read_json_lines(name: &str, lines: &mut Lines, each: Each) -> Result<(), Error> {
    loop {
        let number = lines.number() + 1;
        let passage = match lines.next("passage")? {
            None => return Ok(()),
            Some(Ok(line)) if line.trim().is_empty() => continue,
            Some(Ok(line)) => json::parse_text(number, line)
                .and_then(|node| passage(number, &node))
                .map_err(|fault| fault.in_file(name, FORM.hint).into()),
            Some(Err(problem)) => Err(Error::Problem(problem)),
        };
        if each(passage)?.is_break() {
            return Ok(());
        }
    }
}

/// A passage a line: `doc_id`, `passage_id`, `passage_text`, as the track releases them, or `id`,
/// `contents`, as Anserini indexes them. Further keys, such as `url`, are ignored.
fn passage(line: u64, node: &Node) -> Parsed<Passage> {
    let (id, text) = if let Some(id) = node.get("id") {
        (id.as_text("id")?.to_owned(), node.text_of("contents")?)
    } else {
        let (page, number) = (node.text_of("doc_id")?, node.field("passage_id")?);
        let number = match number.integer() {
            Some(number) => number.to_string(),
            None => number.as_text("passage_id")?.to_owned(),
        };
        (format!("{page}:{number}"), node.text_of("passage_text")?)
    };
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(node.unlike("an id without blanks"));
    }
    Ok(Passage { id, text: text.trim().to_owned(), line })
}
