//! Documents as JSON: an object on each line, or a file of objects over several lines, also in a list.

use super::form::{DocumentForm, NAMES_FILE, NAMES_HINT};
use super::{FORM, FileLine, Passage, PassageSink, passage, whole};
use crate::keys::{Object, id_of, text_of};
use clariq_core::{Error, Problem, problem};
use clariq_files::columns::Role;
use memchr::memchr_iter;
use serde::de::IgnoredAny;
use serde_json::Value;
use std::io::Read;

/// True for the first bytes of a file of objects over several lines, or of a list. `first` is the first line,
/// `has_end` is true if it ends there.
pub(super) fn has_several_lines(first: &[u8], has_end: bool) -> bool {
    let first = first.trim_ascii();
    let is_cut = || serde_json::from_slice::<IgnoredAny>(first).is_err_and(|error| error.is_eof());
    first.starts_with(b"[") || has_end && is_cut()
}

/// Reads a file of objects over several lines. What is no JSON is the last problem: what follows it cannot
/// be told.
pub(super) fn read(
    name: &str,
    content: &mut dyn Read,
    form: &DocumentForm,
    each: PassageSink,
) -> Result<(), Error> {
    let kind = "objects over several lines";
    let input = whole(name, content, kind, "write each object on a line")?;
    let text = &*input.bytes;
    let mut at = 0;
    let mut line = 1;
    let mut in_list = false;
    while let Some(&byte) = text.get(at) {
        let is_between = match byte {
            b'[' if !in_list => {
                in_list = true;
                true
            }
            b']' if in_list => {
                in_list = false;
                true
            }
            b',' => in_list,
            byte => byte.is_ascii_whitespace(),
        };
        if is_between {
            line += u64::from(byte == b'\n');
            at += 1;
            continue;
        }
        let rest = text.get(at..).unwrap_or_default();
        let mut objects = serde_json::Deserializer::from_slice(rest).into_iter::<Object>();
        let (object, length) = match objects.next() {
            Some(Ok(object)) => (object, objects.byte_offset()),
            Some(Err(error)) => {
                let found = error.to_string();
                let found = found.rsplit_once(" at line ").map_or(&*found, |(found, _)| found);
                let at = (name, line + error.line().saturating_sub(1) as u64);
                return each(Err(problem!(at, "JSON objects", found, (FORM.hint)).into()))
                    .map(drop);
            }
            None => return Ok(()),
        };
        let document = document(form, (name, line), &object).map_err(super::with_form);
        if each(document.map_err(Error::from))?.is_break() {
            return Ok(());
        }
        let read = rest.get(..length).unwrap_or(rest);
        line += memchr_iter(b'\n', read).count() as u64;
        at += length;
    }
    if in_list {
        let problem = problem!((name, line), "the end `]` of the list", "nothing", (FORM.hint));
        return each(Err(problem.into())).map(drop);
    }
    Ok(())
}

/// Parses a line.
pub(super) fn parse_line(
    form: &DocumentForm,
    at: FileLine,
    line: &str,
) -> Result<Passage, Box<Problem>> {
    document(form, at, &Object::parse(at, line.as_bytes())?)
}

/// The document of an object.
fn document(form: &DocumentForm, at: FileLine, object: &Object) -> Result<Passage, Box<Problem>> {
    let DocumentKeys { ids, texts } = DocumentKeys::of(form, at, object)?;
    if let [(id, _)] = ids[..] {
        form.note(id, &texts.iter().map(|(key, _)| *key).collect::<Vec<_>>());
    }
    let ids: Vec<String> = ids.into_iter().map(|key| id_of(at, key)).collect::<Result<_, _>>()?;
    let texts: Vec<&str> =
        texts.into_iter().map(|key| text_of(at, key)).collect::<Result<_, _>>()?;
    passage(at, ids.join(":"), &texts.join(" "))
}

/// The keys of an object that tell a document.
pub(super) struct DocumentKeys<'o> {
    /// The id; of passages as iKAT releases them, the page and the number of the passage.
    ids: Vec<(&'o str, &'o Value)>,
    /// The title, if there is one, and the text.
    texts: Vec<(&'o str, &'o Value)>,
}

impl<'o> DocumentKeys<'o> {
    /// Finds them by the names that a person has given, by the usual names of an id and of a text with a title
    /// before it, as in BEIR, or by `doc_id`, `passage_id` and `passage_text`, as iKAT releases passages.
    pub(super) fn of(
        form: &DocumentForm,
        at: FileLine,
        object: &'o Object,
    ) -> Result<Self, Box<Problem>> {
        if let Some(named) = form.named() {
            let Some(id) = object.get(&named.id) else {
                let expected = format!("a key `{}`, which `{NAMES_FILE}` names", named.id);
                return Err(Box::new(problem!(at, expected, (without_key("it", object)))));
            };
            let names = &named.text;
            let texts: Vec<_> = names.iter().filter_map(|name| object.get(name)).collect();
            if texts.is_empty() {
                let names = names.join("` or `");
                let expected = format!("a key `{names}`, which `{NAMES_FILE}` names");
                return Err(Box::new(problem!(at, expected, (without_key("them", object)))));
            }
            return Ok(Self { ids: vec![id], texts });
        }
        let text = find(object, at, Role::Text)?;
        if let (Some(page), Some(number)) = (object.get("doc_id"), object.get("passage_id")) {
            let Some(text) = object.get("passage_text").or(text) else {
                let expected = "the key `passage_text` beside `doc_id` and `passage_id`";
                return Err(Box::new(problem!(at, expected, "an object without it")));
            };
            return Ok(Self { ids: vec![page, number], texts: vec![text] });
        }
        let Some(id) = find(object, at, Role::DocumentId)? else {
            return Err(Box::new(problem!(at, "a key `id`", (without_key("it", object)))));
        };
        let title = object.find(at, Role::Title)?;
        // The text may be at any further key, unless one is there and has none.
        let has_further = object.keys().count() > 1 + usize::from(title.is_some());
        let title_is_text = title.is_some() && (!has_further || object.has_null(Role::Text));
        let texts: Vec<_> = title.into_iter().chain(text).collect();
        if text.is_none() && !title_is_text {
            let expected = "a key `contents` or `text`";
            return Err(Box::new(problem!(at, expected, (without_key("them", object)))));
        }
        Ok(Self { ids: vec![id], texts })
    }
}

/// Describes an object without a key, by the keys that it has.
fn without_key(what: &str, object: &Object) -> String {
    format!("an object without {what}{}", object.described())
}

/// The key with a role. Where two may be meant, a person can name the one that is.
fn find<'o>(
    object: &'o Object,
    at: FileLine,
    role: Role,
) -> Result<Option<(&'o str, &'o Value)>, Box<Problem>> {
    object.find(at, role).map_err(|problem| Box::new(problem.hint(NAMES_HINT)))
}
