//! What do people ask? `test.tsv`: requests without labels.

use crate::clariq::labelled::Topic;
use clariq_core::TopicId;
use clariq_core::{Error, ProblemKind};
use clariq_files::table::{Column, Sink, for_each_row, strictly};
use clariq_files::{Input, Source};
use std::collections::HashMap;

/// The released `test.tsv` spells its header with a space.
const COLUMNS: &[Column] = &[&["topic_id"], &["initial_request", "initial request"]];

/// Reads a file of requests in file order; the first problem is the error.
pub fn read_requests(source: &Source) -> Result<Vec<Topic>, Error> {
    let input = source.read()?;
    strictly(|sink| parse_requests(&input, sink))
}

/// Reads what can be read of a file of requests: every problem goes to `sink`, and its row is left out.
pub fn parse_requests(input: &Input, sink: Sink) -> Vec<Topic> {
    let mut topics: Vec<Topic> = Vec::new();
    let mut lines: HashMap<TopicId, u64> = HashMap::new();
    for_each_row(input, COLUMNS, sink, |row, sink| {
        let [id, request] = row.fields[..] else { return };
        let id = TopicId::from(id.trim());
        if id.as_str().is_empty() {
            return sink(
                row.problem(ProblemKind::EmptyField, "a topic id", "an empty field")
                    .hint("every request needs an id"),
            );
        }
        if let Some(first) = lines.insert(id.clone(), row.line()) {
            let found = format!("`{id}`, which stands on line {first} already");
            let problem = row.problem(
                ProblemKind::DuplicateId,
                "a topic id that is unique in the file",
                found,
            );
            return sink(problem.hint("remove one of the two lines, or give one a new id"));
        }
        topics.push(Topic {
            id,
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
