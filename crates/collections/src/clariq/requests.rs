//! Requests without labels: `test.tsv`.

use crate::clariq::labelled::Topic;
use clariq_core::TopicId;
use clariq_core::{Error, Problem, ProblemKind};
use clariq_files::table::{Column, Row, Sink, for_each_row, strictly};
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
        if let Some(&(line, position)) = seen.get(id) {
            return sink(repeated(row, line, &topics[position], request));
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

/// A row that says the same again changes nothing; with another request it is not clear which is
/// meant.
fn repeated(row: &Row, line: u64, first: &Topic, request: &str) -> Problem {
    let id = &first.id;
    if first.request == request {
        return row
            .problem(ProblemKind::Repeated, "each request once", format!("`{id}` again"))
            .hint("the first of equal rows counts")
            .warning();
    }
    let found = format!("`{id}`, which stands on line {line} with another request");
    row.problem(ProblemKind::DuplicateId, "a topic id that is unique in the file", found)
        .hint("remove one of the two lines, or give one a new id")
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
