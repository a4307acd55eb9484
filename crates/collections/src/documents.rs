//! Reads passages as a stream: JSON lines as the track, Anserini or BEIR write them, tables of two
//! columns, and `TrecWeb`, plain or packed.
//!
//! A file is read record by record, so it may be longer than memory. The form is recognised by the
//! first line: a JSON object, or else a table if it has a tab, and `TrecWeb` if it begins with `<`.

mod bank;
mod files;
mod read;
mod trec_web;

pub use bank::{Bank, BankRow};
pub use files::document_files;
pub use files::{DocumentFileKind, DocumentFolder, PACKED, entries, packing_not_read};
pub(crate) use files::{each_once, is_unpacked, two_files};
pub use read::{check_documents, read_all, read_bank, read_unique};

use crate::columns::{IdTextTable, begins_as_json_object};
use crate::lines::ArchiveLines;
use crate::text_or_number::IdOrNumber;
use clariq_core::{Error, Location, Problem, is_python_space, parse_python_json, problem};
use clariq_files::archive::{Archive, ExpectedContent};
use clariq_files::{Source, shorten};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::ops::ControlFlow;

/// The most bytes of a line of documents, and of a passage in `TrecWeb`.
pub const LONGEST: u64 = 16 << 20;

static FORM: ExpectedContent = ExpectedContent {
    what: "documents as JSON lines, a table or TrecWeb",
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
    mut each: impl FnMut(Result<Passage, Error>) -> Result<ControlFlow<()>, Error>,
) -> Result<(), Error> {
    let archive = Archive::new(std::slice::from_ref(source), &FORM)?;
    let head = archive.head(1 << 10)?;
    let head = head.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&head);
    let head = head.trim_ascii_start();
    let first = head.split(|byte| matches!(byte, b'\n' | b'\r')).next().unwrap_or_default();
    let is_table = first.contains(&b'\t') && !begins_as_json_object(first);
    archive.with_content(|content| {
        let mut lines = ArchiveLines::new(&archive, content, LONGEST);
        if head.starts_with(b"[") && !is_table {
            let hint = "write each of its items on a line: `jq -c '.[]'` does so";
            let at = (archive.name(), 1);
            let problem = problem!(at, (FORM.what), "a JSON array", hint);
            return each(Err(problem.into())).map(drop);
        }
        if head.starts_with(b"<") && !is_table {
            return trec_web::read(&mut lines, &mut each);
        }
        read_lines(archive.name(), &mut lines, is_table, &mut each)
    })
}

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
    name: &str,
    lines: &mut ArchiveLines,
    is_table: bool,
    each: PassageSink,
) -> Result<(), Error> {
    let mut table = IdTextTable::default();
    loop {
        let number = lines.number() + 1;
        let passage = match lines.next("passage")? {
            None => return Ok(()),
            Some(Ok(line)) if line.trim().is_empty() => continue,
            Some(Ok(line)) => {
                let at = (name, number);
                if is_table && table.begin(at, line)? {
                    continue;
                }
                let passage = if is_table {
                    parse_table_row(&table, at, line)
                } else if line.trim_start().starts_with('{') {
                    parse_json_line(at, line)
                } else {
                    Err(Box::new(no_document(at, line)))
                };
                passage.map_err(|problem| with_form(*problem).into())
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
        "this looks like CSV: write a tab between the id and the text"
    } else {
        FORM.hint
    };
    problem!(at, (FORM.what), (format!("`{}`", shorten(line))), hint)
}

/// Describes an object without a key, by the keys that it has.
fn without_key(what: &str, line: &str) -> String {
    const SHOWN: usize = 6;
    let object: Map<String, Value> = serde_json::from_str(line).unwrap_or_default();
    let keys: Vec<String> =
        object.keys().take(SHOWN).map(|key| format!("`{}`", shorten(key))).collect();
    match &keys[..] {
        [] => format!("an object without {what}, or `null` there"),
        [only] => format!("an object without {what}, or `null` there: its key is {only}"),
        _ => format!("an object without {what}, or `null` there: its keys are {}", keys.join(", ")),
    }
}

/// The problem with a hint: the form of a line, if it has none of its own.
fn with_form(problem: Problem) -> Problem {
    if problem.hint.is_empty() { problem.hint(FORM.hint) } else { problem }
}

/// The keys of the track, of Anserini, and of BEIR. Other keys, such as `url`, are ignored.
#[derive(Deserialize)]
struct AnyPassage {
    doc_id: Option<IdOrNumber>,
    passage_id: Option<IdOrNumber>,
    passage_text: Option<String>,
    id: Option<IdOrNumber>,
    contents: Option<String>,
    #[serde(rename = "_id")]
    beir_id: Option<IdOrNumber>,
    /// The name that `PyTerrier` has for it.
    docno: Option<IdOrNumber>,
    docid: Option<IdOrNumber>,
    title: Option<String>,
    text: Option<String>,
}

/// Parses a passage as JSON: `doc_id`, `passage_id`, `passage_text`, as the track releases them;
/// `id`, `contents`, as Anserini indexes them; or `_id`, `title`, `text`, as in BEIR, where title and
/// text become one text with a blank between them. Where there is no `id`, `docno`, `doc_id` and `docid`
/// are the ids that `PyTerrier`, `ir_datasets` and others write.
fn parse_json_line(at: FileLine, line: &str) -> Result<Passage, Box<Problem>> {
    let any: AnyPassage = parse_python_json(at, line.as_bytes())?;
    let is_of_track = any.passage_id.is_some() || any.passage_text.is_some();
    let ids = [
        ("doc_id", any.doc_id.is_some() && is_of_track),
        ("id", any.id.is_some()),
        ("_id", any.beir_id.is_some()),
    ];
    let texts = [
        ("passage_text", any.passage_text.is_some()),
        ("contents", any.contents.is_some()),
        ("text", any.text.is_some()),
    ];
    only_one(at, "id", &ids)?;
    only_one(at, "text", &texts)?;
    if let Some(page) = any.doc_id.as_ref().filter(|_| is_of_track) {
        let page = page.clone().into_text();
        let (Some(number), Some(text)) = (any.passage_id, any.passage_text) else {
            let expected = "the keys `passage_id` and `passage_text` beside `doc_id`";
            return Err(Box::new(problem!(at, expected, "an object without one of them")));
        };
        return passage(at, format!("{page}:{}", number.into_text()), &text);
    }
    let mut id = any.beir_id.or(any.id);
    if id.is_none() {
        let others = [("docno", &any.docno), ("doc_id", &any.doc_id), ("docid", &any.docid)];
        only_one(at, "id", &others.map(|(name, id)| (name, id.is_some())))?;
        id = any.docno.or(any.doc_id).or(any.docid);
    }
    let Some(id) = id else {
        return Err(Box::new(problem!(at, "a key `id`", (without_key("it", line)))));
    };
    let Some(text) = any.contents.or(any.text) else {
        let expected = "a key `contents` or `text`";
        return Err(Box::new(problem!(at, expected, (without_key("them", line)))));
    };
    match any.title {
        Some(title) => passage(at, id.into_text(), &format!("{title} {text}")),
        None => passage(at, id.into_text(), &text),
    }
}

/// Refuses two keys for one thing: the other one would be ignored.
pub(crate) fn only_one(
    at: impl Into<Location>,
    what: &str,
    keys: &[(&str, bool)],
) -> Result<(), Box<Problem>> {
    let mut given = keys.iter().filter(|(_, is_given)| *is_given);
    if let (Some((one, _)), Some((other, _))) = (given.next(), given.next()) {
        let expected = format!("one key for the {what}");
        let hint = "leave the one that is meant";
        return Err(Box::new(problem!(at, expected, "`{one}` and `{other}`", hint)));
    }
    Ok(())
}

/// Parses a passage as a row of a table.
fn parse_table_row(table: &IdTextTable, at: FileLine, line: &str) -> Result<Passage, Box<Problem>> {
    let Some((id, text)) = table.row(at, line)? else {
        let found = format!("`{}`", shorten(line));
        let problem = problem!(at, "a tab behind the id", found);
        if line.matches('"').count() % 2 == 1 {
            let hint =
                "is this the rest of a text in quotation marks? A text has no line ends here";
            return Err(Box::new(problem.hint(hint)));
        }
        return Err(Box::new(problem));
    };
    passage(at, id.to_owned(), &text)
}

fn passage(at: FileLine, id: String, text: &str) -> Result<Passage, Box<Problem>> {
    if !is_id(&id) {
        let found = format!("`{}`", shorten(&id));
        return Err(Box::new(problem!(at, "an id without blanks", found)));
    }
    Ok(Passage { id, text: text.trim().to_owned(), line: at.1 })
}
