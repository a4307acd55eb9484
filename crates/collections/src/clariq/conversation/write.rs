//! Conversations written as JSON lines.

use super::{ClariqTurn, ConversationRecord};
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// Writes one JSON object a line, with the keys of the released dictionaries and a `record_id`.
pub fn put_json_lines(
    out: &mut dyn Write,
    records: impl IntoIterator<Item = ConversationRecord>,
) -> io::Result<()> {
    for record in records {
        let id = [("record_id", Field::id(&record.id))];
        let mut serializer = serde_json::Serializer::new(&mut *out);
        serializer.collect_map(id.into_iter().chain(fields(&record)))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A value of a record.
#[derive(Serialize)]
#[serde(untagged)]
enum Field<'a> {
    Number(i64),
    Text(&'a str),
    Turns(&'a [ClariqTurn]),
}

impl<'a> Field<'a> {
    /// Ids that are numbers are written as numbers, as in the released files.
    fn id(text: &'a str) -> Self {
        text.parse().map_or(Self::Text(text), Self::Number)
    }
}

/// The fields of a record, in the order of the released files.
fn fields(record: &ConversationRecord) -> Vec<(&'static str, Field<'_>)> {
    let conversation = &record.conversation;
    let mut fields = vec![
        ("topic_id", Field::id(conversation.topic.as_str())),
        ("facet_id", Field::Text(conversation.facet.as_str())),
        ("initial_request", Field::Text(&conversation.request)),
    ];
    if let Some(next) = &record.next {
        fields.push(("question", Field::Text(&next.question)));
        fields.push(("answer", Field::Text(&next.answer)));
    }
    fields.push(("conversation_context", Field::Turns(&conversation.turns)));
    fields.push(("context_id", Field::Number(conversation.id)));
    fields
}
