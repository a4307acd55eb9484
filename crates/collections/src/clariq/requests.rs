//! Requests without labels: `test.tsv`.

use crate::bank::repeated;
use crate::clariq::labelled::Topic;
use clariq_core::{Error, TopicId};
use clariq_files::table::{Column, Sink, for_each_row, strictly};
use clariq_files::{Input, MOST_OF_A_TABLE, Source};
use std::collections::HashMap;

/// The released `test.tsv` spells its header with a space.
const COLUMNS: &[Column] = &[&["topic_id"], &["initial_request", "initial request"]];

/// Reads a file of requests in file order; the first problem is the error.
pub fn read_requests(source: &Source) -> Result<Vec<Topic>, Error> {
    let input = source.read_at_most(MOST_OF_A_TABLE)?;
    strictly(|sink| parse_requests(&input, sink))
}

/// Reads what can be read of a file of requests: every problem goes to `sink`, and its row is left
/// out.
pub fn parse_requests(input: &Input, sink: Sink) -> Vec<Topic> {
    let mut topics: Vec<Topic> = Vec::new();
    let mut seen: HashMap<TopicId, (u64, usize)> = HashMap::new();
    for_each_row(input, COLUMNS, sink, |row, sink| {
        let [id, request] = row.fields[..] else { return };
        if let Err(problem) = row.check_id("topic_id", id) {
            return sink(*problem);
        }
        if let Some(&(first, position)) = seen.get(id) {
            let same = topics[position].request == request;
            return sink(repeated((&*input.name, row.line()), "request", id, first, same));
        }
        seen.insert(id.into(), (row.line(), topics.len()));
        topics.push(Topic {
            id: id.into(),
            request: request.to_owned(),
            description: String::new(),
            need: None,
        });
    });
    topics
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::borrow::Cow;

    #[test]
    fn both_spellings_of_the_header_are_read() {
        for header in ["topic_id\tinitial request", "topic_id\tinitial_request"] {
            let text = format!("{header}\n202\tGive me information.\n201\tTell me.\n");
            let input = Input { name: "test.tsv".to_owned(), bytes: Cow::Owned(text.into_bytes()) };
            let topics = strictly(|sink| parse_requests(&input, sink)).unwrap();
            assert_eq!(topics[0].id, TopicId::from("202"), "file order, not number order");
            assert_eq!(topics[1].request, "Tell me.");
        }
    }
}
