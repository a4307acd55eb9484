//! The released form: a pickled dictionary `{record_id: {field: value}}`.
//!
//! Dictionaries arrive from the inside out: turns, then the record that they are part of, and when
//! a record goes into the whole it is complete: it is handed on and not kept.

use super::draft::{Draft, Raw};
use super::{Reader, Turn};
use crate::clariq::unreadable;
use clariq_core::{Error, Location};
use clariq_files::archive::Archive;
use clariq_files::shorten;
use clariq_pickle::{Plan, Sink, Value, fold};
use std::ops::ControlFlow;

pub(super) fn read(archive: &Archive, reader: &mut Reader) -> Result<(), Error> {
    let plan = archive
        .with_content(|content| Plan::scan(content).map_err(|error| unreadable(archive, error)))?;
    let mut records = Records { archive, reader, whole: true };
    archive.with_content(|content| {
        let found = match fold(content, &plan, &mut records) {
            // The machine stops only with an error; this one was asked for.
            Err(_) if records.reader.end.is_some() => return Ok(()),
            Err(error) => return Err(unreadable(archive, error)),
            Ok(Value::Dict(_)) if records.whole => return Ok(()),
            Ok(Value::Dict(_)) => "a single record",
            Ok(other) => other.kind(),
        };
        Err(archive.problem("a dictionary of records", found.to_owned()))
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
        let is_dict = matches!(value, Value::Dict(_));
        let is_known = draft.set(&name, &value);
        if !is_known && !is_dict && name.parse::<i64>().is_err() {
            draft.wrong_key(&name);
        }
        self.whole = !is_known && (is_dict || matches!(key, Value::Int(_)));
        if !self.whole {
            return Ok(());
        }
        let mut record = Draft::default();
        match &value {
            Value::Dict(inner) => record = inner.content().clone(),
            other => record.wrong("a record, which is a dictionary", other.kind()),
        }
        record.id.clone_from(&name);
        let at = Location::file(format!("{}: record {}", self.archive.name(), shorten(&name)));
        match self.reader.finish(record, at) {
            ControlFlow::Continue(()) => Ok(()),
            ControlFlow::Break(()) => Err("the end".to_owned()),
        }
    }
}

impl Raw for Value<Draft> {
    fn is_none(&self) -> bool {
        matches!(self, Self::None)
    }

    fn text(&self) -> Option<&str> {
        self.as_text()
    }

    fn number(&self) -> Option<i64> {
        match self {
            Self::Int(number) => Some(*number),
            _ => None,
        }
    }

    fn turns(&self) -> Result<Vec<Turn>, String> {
        match self {
            Self::List(list) => list.items().iter().map(turn).collect(),
            Self::Tuple(tuple) => tuple.items().iter().map(turn).collect(),
            other => Err(other.kind().to_owned()),
        }
    }

    fn describe(&self) -> String {
        self.kind().to_owned()
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
