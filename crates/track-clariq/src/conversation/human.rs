//! Conversations between people: `multi_turn_human_generated_data.tsv`, a row with a request and
//! three turns.
//!
//! Each row is four contexts, one for each number of turns so far: `context_id` = row × 10 + turns,
//! rows from 0. The texts are free: a question need not be in the bank, and some answers have no
//! question.

use super::draft::Draft;
use super::{ClariqConversation, ClariqTurn, ConversationRecord, RecordReader};
use clariq_collections::text_or_number::IdOrNumber;
use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_files::archive::Archive;
use clariq_files::table::{ColumnNames, Row, for_each_row};
use clariq_files::{FileContent, MOST_OF_A_TABLE};
use std::cell::RefCell;
use std::io::Read;

const COLUMNS: &[ColumnNames] = &[
    &["topic_id"],
    &["facet_id"],
    &["initial_request", "initial request"],
    &["question1"],
    &["answer1"],
    &["question2"],
    &["answer2"],
    &["question3"],
    &["answer3"],
];

/// The distance between the first ids of two rows: more than the contexts of a row.
const CONTEXTS_PER_ROW: i64 = 10;

pub(super) fn read(archive: &Archive, reader: &mut RecordReader) -> Result<(), Error> {
    let bytes = archive.with_content(|content| {
        let mut bytes = Vec::new();
        let mut content = content.take(MOST_OF_A_TABLE + 1);
        content.read_to_end(&mut bytes).map_err(|error| archive.broken(error))?;
        Ok(bytes)
    })?;
    if bytes.len() as u64 > MOST_OF_A_TABLE {
        let expected = format!("at most {} MiB, unpacked", MOST_OF_A_TABLE >> 20);
        return Err(archive.problem(&expected, "more".to_owned()));
    }
    let input = FileContent::of_text(archive.name(), bytes)?;
    let rows = RefCell::new(HumanRows { reader, file: &input.name, next: 0, fatal: None });
    for_each_row(
        &input,
        COLUMNS,
        &mut |problem| rows.borrow_mut().add_problem(problem),
        |row, _| {
            rows.borrow_mut().add(row);
        },
    );
    match rows.into_inner().fatal {
        Some(problem) => Err(problem.into()),
        None => Ok(()),
    }
}

struct HumanRows<'a, 'r> {
    reader: &'a mut RecordReader<'r>,
    file: &'a str,
    /// The number of the next row. Bad rows count as well, so that later rows keep their ids.
    next: i64,
    /// A problem of the file and not of one of its rows.
    fatal: Option<Problem>,
}

impl HumanRows<'_, '_> {
    fn add_problem(&mut self, problem: Problem) {
        use ProblemKind::{Contradiction, Empty, MissingColumn};
        if matches!(problem.kind, MissingColumn | Contradiction | Empty) {
            self.fatal = Some(problem);
        } else if self.reader.end.is_none() {
            self.next += 1;
            // The next row checks whether reading has ended.
            let _ = self.reader.take(Err(Box::new(problem)));
        }
    }

    fn add(&mut self, row: &Row) {
        if self.reader.end.is_some() {
            return;
        }
        let first_id = self.next * CONTEXTS_PER_ROW;
        self.next += 1;
        let [topic, facet, request, ..] = row.fields[..] else { return };
        let turns = turns(row);
        let whole = Draft {
            topic_id: Some(IdOrNumber::Id(topic.to_owned())),
            facet_id: Some(facet.to_owned()),
            initial_request: Some(request.to_owned()),
            conversation_context: Some(turns.clone()),
            context_id: Some(first_id),
            ..Draft::default()
        };
        let at = Location::line(self.file, row.line());
        let whole = match whole.finish(String::new(), at, None) {
            Ok(record) => record.conversation,
            Err(problem) => {
                let _ = self.reader.take(Err(problem));
                return;
            }
        };
        for (id, count) in (first_id..).zip(0..=turns.len()) {
            let past = turns.iter().take(count).cloned().collect();
            let record = ConversationRecord {
                id: id.to_string(),
                conversation: ClariqConversation { id, turns: past, ..whole.clone() },
                next: turns.get(count).cloned(),
                again: false,
            };
            if self.reader.take(Ok(record)).is_break() {
                return;
            }
        }
    }
}

/// The turns of a row, up to the first empty one.
fn turns(row: &Row) -> Vec<ClariqTurn> {
    let (pairs, _) = row.fields.get(3..).unwrap_or_default().as_chunks();
    let turns = pairs.iter().take_while(|pair| pair.iter().any(|text| !text.trim().is_empty()));
    turns
        .map(|[question, answer]| ClariqTurn {
            question: (*question).to_owned(),
            answer: (*answer).to_owned(),
        })
        .collect()
}
