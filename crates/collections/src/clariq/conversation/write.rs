//! Conversations written as pickles and JSON lines, which Python and this crate read back.

use super::{Record, Turn};
use clariq_pickle::PickleWriter;
use serde::Serialize;
use std::io::{self, Write};

/// Writes one JSON object a line, with the keys of the released dictionaries and a `record_id`.
pub fn put_json_lines(
    out: &mut dyn Write,
    records: impl IntoIterator<Item = Record>,
) -> io::Result<()> {
    for record in records {
        serde_json::to_writer(&mut *out, &Line::from(&record))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// Writes a dictionary `{record_id: {…}}` as a pickle of protocol 4, as it was released.
pub fn put_pickle(
    out: &mut dyn Write,
    records: impl IntoIterator<Item = Record>,
) -> io::Result<()> {
    let mut writer = PickleWriter::new(out)?;
    writer.dict(records, |writer, record| {
        put_id(writer, &record.id)?;
        put_record(writer, &record)
    })?;
    writer.finish().map(drop)
}

/// Numbers are numbers in the released files.
fn put_id<W: Write>(writer: &mut PickleWriter<W>, id: &str) -> io::Result<()> {
    match id.parse() {
        Ok(number) => writer.int(number),
        Err(_) => writer.text(id),
    }
}

fn put_record<W: Write>(writer: &mut PickleWriter<W>, record: &Record) -> io::Result<()> {
    let conversation = &record.conversation;
    let mut keys = vec!["topic_id", "facet_id", "initial_request"];
    if record.next.is_some() {
        keys.extend(["question", "answer"]);
    }
    keys.extend(["conversation_context", "context_id"]);
    writer.dict(keys, |writer, key| {
        writer.text(key)?;
        match (key, &record.next) {
            ("topic_id", _) => put_id(writer, conversation.topic.as_str()),
            ("facet_id", _) => writer.text(conversation.facet.as_str()),
            ("initial_request", _) => writer.text(&conversation.request),
            ("question", Some(next)) => writer.text(&next.question),
            ("answer", Some(next)) => writer.text(&next.answer),
            ("conversation_context", _) => writer.list(&conversation.turns, put_turn),
            _ => writer.int(conversation.id),
        }
    })
}

fn put_turn<W: Write>(writer: &mut PickleWriter<W>, turn: &Turn) -> io::Result<()> {
    writer.dict([("question", &turn.question), ("answer", &turn.answer)], |writer, (key, text)| {
        writer.text(key)?;
        writer.text(text)
    })
}

#[derive(Serialize)]
struct Line<'a> {
    record_id: Id<'a>,
    topic_id: Id<'a>,
    facet_id: &'a str,
    initial_request: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    question: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    answer: Option<&'a str>,
    conversation_context: Vec<TurnLine<'a>>,
    context_id: i64,
}

#[derive(Serialize)]
struct TurnLine<'a> {
    question: &'a str,
    answer: &'a str,
}

#[derive(Serialize)]
#[serde(untagged)]
enum Id<'a> {
    Number(i64),
    Text(&'a str),
}

impl<'a> From<&'a str> for Id<'a> {
    fn from(text: &'a str) -> Self {
        text.parse().map_or(Self::Text(text), Self::Number)
    }
}

impl<'a> From<&'a Record> for Line<'a> {
    fn from(record: &'a Record) -> Self {
        let conversation = &record.conversation;
        let turn = |turn: &'a Turn| TurnLine { question: &turn.question, answer: &turn.answer };
        Self {
            record_id: record.id.as_str().into(),
            topic_id: conversation.topic.as_str().into(),
            facet_id: conversation.facet.as_str(),
            initial_request: &conversation.request,
            question: record.next.as_ref().map(|next| next.question.as_str()),
            answer: record.next.as_ref().map(|next| next.answer.as_str()),
            conversation_context: conversation.turns.iter().map(turn).collect(),
            context_id: conversation.id,
        }
    }
}
