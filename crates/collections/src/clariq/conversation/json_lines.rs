//! One record a line, as a JSON object with the keys of the released dictionaries and, if it likes,
//! a `record_id`. A line `{"2287": {…}}` is the record 2287.

use super::draft::Draft;
use super::{Reader, Turn};
use clariq_core::{Error, Location};
use clariq_files::archive::Archive;
use clariq_files::{BoundedLines, MOST_OF_A_LINE};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::io::BufReader;

pub(super) fn read(archive: &Archive, reader: &mut Reader) -> Result<(), Error> {
    archive.with_content(|content| {
        let content = BufReader::with_capacity(1 << 16, content);
        let mut lines = BoundedLines::new(archive.name(), content, MOST_OF_A_LINE);
        while let Some((number, line)) = lines.next_bytes()? {
            let text = line.trim_ascii();
            let at = Location::line(archive.name(), number);
            if !text.is_empty() && reader.finish(draft(text, number), at).is_break() {
                break;
            }
        }
        Ok(())
    })
}

fn draft(line: &[u8], number: u64) -> Draft {
    let mut draft = match serde_json::from_slice::<Fields>(line) {
        Ok(fields) => fields.into_draft(),
        Err(error) => match serde_json::from_slice::<BTreeMap<String, Fields>>(line) {
            Ok(records) if records.len() == 1 => nested(records),
            _ => unreadable(line, &error),
        },
    };
    if draft.id.is_empty() {
        draft.id = number.to_string();
    }
    draft
}

fn nested(records: BTreeMap<String, Fields>) -> Draft {
    let mut drafts = records.into_iter().map(|(id, fields)| Draft { id, ..fields.into_draft() });
    drafts.next().unwrap_or_default()
}

fn unreadable(line: &[u8], error: &serde_json::Error) -> Draft {
    let mut draft = Draft::default();
    if let Err(error) = str::from_utf8(line) {
        let found = format!(
            "the byte 0x{:02x} at column {}",
            line[error.valid_up_to()],
            error.valid_up_to() + 1
        );
        draft.wrong("UTF-8 text", found);
        return draft;
    }
    let (expected, found) = ("a record as a JSON object", error.to_string());
    draft.wrong(expected, found);
    draft
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    record_id: Option<Id>,
    topic_id: Option<Id>,
    facet_id: Option<String>,
    initial_request: Option<String>,
    question: Option<String>,
    answer: Option<String>,
    conversation_context: Option<Vec<TurnFields>>,
    context_id: Option<i64>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct TurnFields {
    question: String,
    answer: String,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Id {
    Number(i64),
    Text(String),
}

impl Id {
    fn into_text(self) -> String {
        match self {
            Self::Number(number) => number.to_string(),
            Self::Text(text) => text,
        }
    }
}

impl Fields {
    fn into_draft(self) -> Draft {
        let turn = |turn: TurnFields| Turn { question: turn.question, answer: turn.answer };
        Draft {
            id: self.record_id.map(Id::into_text).unwrap_or_default(),
            topic: self.topic_id.map(Id::into_text),
            facet: self.facet_id,
            request: self.initial_request,
            question: self.question,
            answer: self.answer,
            turns: self.conversation_context.map(|turns| turns.into_iter().map(turn).collect()),
            context: self.context_id,
            wrong: None,
        }
    }
}
