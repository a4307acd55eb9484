//! Writes conversations as JSON lines.

use super::{ClariqTurn, ConversationRecord};
use serde::{Serialize, Serializer};
use std::io::{self, Write};

/// Writes one JSON object per line, with the keys of the released dictionaries and a `record_id`.
pub fn put_json_lines(
    out: &mut dyn Write,
    records: impl IntoIterator<Item = ConversationRecord>,
) -> io::Result<()> {
    for record in records {
        let id = [("record_id", RecordValue::id(&record.id))];
        let mut serializer = serde_json::Serializer::new(&mut *out);
        serializer.collect_map(id.into_iter().chain(fields(&record)))?;
        out.write_all(b"\n")?;
    }
    Ok(())
}

/// A value of a record.
#[derive(Serialize)]
#[serde(untagged)]
enum RecordValue<'a> {
    Number(i64),
    Text(&'a str),
    Turns(&'a [ClariqTurn]),
}

impl<'a> RecordValue<'a> {
    /// Ids that are numbers are written as numbers, as in the released files.
    fn id(text: &'a str) -> Self {
        text.parse().map_or(Self::Text(text), Self::Number)
    }
}

/// The fields of a record, in the order of the released files.
fn fields(record: &ConversationRecord) -> Vec<(&'static str, RecordValue<'_>)> {
    let conversation = &record.conversation;
    let mut fields = vec![
        ("topic_id", RecordValue::id(conversation.topic.as_str())),
        ("facet_id", RecordValue::Text(conversation.facet.as_str())),
        ("initial_request", RecordValue::Text(&conversation.request)),
    ];
    if let Some(next) = &record.next {
        fields.push(("question", RecordValue::Text(&next.question)));
        fields.push(("answer", RecordValue::Text(&next.answer)));
    }
    fields.push(("conversation_context", RecordValue::Turns(&conversation.turns)));
    fields.push(("context_id", RecordValue::Number(conversation.id)));
    fields
}
