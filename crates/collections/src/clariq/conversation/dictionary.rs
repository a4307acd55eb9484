//! The released form: a pickled dictionary `{record_id: {field: value}}`.
//!
//! Dictionaries arrive from the inside out: turns, then the record that they are part of, and when
//! a record goes into the whole it is complete, handed on and forgotten.

use super::draft::Draft;
use super::{Reader, Turn};
use crate::clariq::pickled::unreadable;
use clariq_core::{Error, Location};
use clariq_files::archive::Archive;
use clariq_files::table::shorten;
use clariq_pickle::{Plan, Sink, Value, fold};
use std::ops::ControlFlow;

const TURN: &str = "a turn `{\"question\": …, \"answer\": …}`";

pub(super) fn read(archive: &Archive, reader: &mut Reader) -> Result<(), Error> {
    let plan = archive
        .with_content(|content| Plan::scan(content).map_err(|error| unreadable(archive, error)))?;
    let mut records = Records { archive, reader, whole: true };
    archive.with_content(|content| match fold(content, &plan, &mut records) {
        // The machine stops only with an error; this one was asked for.
        Err(_) if records.reader.end.is_some() => Ok(()),
        Err(error) => Err(unreadable(archive, error)),
        Ok(Value::Dict(_)) if records.whole => Ok(()),
        Ok(Value::Dict(_)) => {
            Err(archive.problem("a dictionary of records", "a single record".to_owned()))
        }
        Ok(other) => Err(archive.problem("a dictionary of records", other.kind().to_owned())),
    })
}

struct Records<'a, 'r> {
    archive: &'a Archive,
    reader: &'a mut Reader<'r>,
    /// Whether the last dictionary that something was put in can be the one that holds all records.
    whole: bool,
}

impl Sink for Records<'_, '_> {
    type Dict = Draft;

    fn insert(
        &mut self,
        draft: &mut Draft,
        key: &Value<Draft>,
        value: Value<Draft>,
    ) -> Result<(), String> {
        let name = match key {
            Value::Text(name) => name.as_str().to_owned(),
            Value::Int(number) => number.to_string(),
            other => return Err(format!("{} in place of a key or a record id", other.kind())),
        };
        self.whole = !set(draft, &name, &value)
            && (matches!(value, Value::Dict(_)) || matches!(key, Value::Int(_)));
        if !self.whole {
            return Ok(());
        }
        let mut record = match &value {
            Value::Dict(record) => record.content().clone(),
            other => {
                let mut record = Draft::default();
                record.wrong("a record, which is a dictionary", other.kind());
                record
            }
        };
        record.id.clone_from(&name);
        let at = Location::file(format!("{}: record {}", self.archive.name(), shorten(&name)));
        match self.reader.finish(record, at) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err("the end".to_owned()),
        }
    }
}

/// Puts a field in a record or a turn; `false` if it is none.
fn set(draft: &mut Draft, name: &str, value: &Value<Draft>) -> bool {
    match name {
        "topic_id" => draft.topic = id(draft, name, value),
        "facet_id" => draft.facet = id(draft, name, value),
        "initial_request" => draft.request = text(draft, name, value),
        "question" => draft.question = text(draft, name, value),
        "answer" => draft.answer = text(draft, name, value),
        "conversation_context" => draft.turns = turns(draft, value),
        "context_id" => match value {
            Value::Int(number) => draft.context = Some(*number),
            Value::None => {}
            other => draft.wrong("a whole number as `context_id`", other.kind()),
        },
        _ if matches!(value, Value::Dict(_)) || name.parse::<i64>().is_ok() => return false,
        other => draft
            .wrong("the keys of a record and no others", format!("the key `{}`", shorten(other))),
    }
    true
}

fn text(draft: &mut Draft, name: &str, value: &Value<Draft>) -> Option<String> {
    match value {
        Value::Text(text) => Some(text.as_str().to_owned()),
        Value::None => None,
        other => {
            draft.wrong(format!("text as `{name}`"), other.kind());
            None
        }
    }
}

fn id(draft: &mut Draft, name: &str, value: &Value<Draft>) -> Option<String> {
    match value {
        Value::Int(number) => Some(number.to_string()),
        _ => text(draft, name, value),
    }
}

fn turns(draft: &mut Draft, value: &Value<Draft>) -> Option<Vec<Turn>> {
    let turns = match value {
        Value::List(list) => list.items().iter().map(turn).collect(),
        Value::Tuple(tuple) => tuple.items().iter().map(turn).collect(),
        Value::None => return None,
        other => Err(other.kind().to_owned()),
    };
    match turns {
        Ok(turns) => Some(turns),
        Err(found) => {
            draft.wrong(format!("`conversation_context` as a list, each item {TURN}"), found);
            None
        }
    }
}

fn turn(value: &Value<Draft>) -> Result<Turn, String> {
    let Value::Dict(dict) = value else { return Err(format!("{} in it", value.kind())) };
    let draft = dict.content();
    match (&draft.wrong, &draft.question, &draft.answer) {
        (Some((_, found)), ..) => Err(found.clone()),
        (None, Some(question), Some(answer)) => {
            Ok(Turn { question: question.clone(), answer: answer.clone() })
        }
        _ => Err("a turn without `question` or `answer`".to_owned()),
    }
}
