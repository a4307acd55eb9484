//! The statements of users as documents of the collection. The number of a statement is unique in
//! its conversation alone; as a document it is called `2023-test/9-1/3`.

use super::folder::Split;
use super::topics::{Conversation, Topics};
use crate::{Bank, BankRow};
use clariq_core::Doc;

fn statement_id(split: Split, conversation: &str, number: usize) -> String {
    format!("{split}/{conversation}/{number}")
}

/// The number of a statement by the id of its document.
pub fn statement_number(id: &str) -> &str {
    id.rsplit_once('/').map_or(id, |(_, number)| number)
}

/// All statements of all splits.
pub(super) fn statement_rows(topics: &[(Split, Topics)]) -> Vec<BankRow> {
    let mut rows = Vec::new();
    for (split, topics) in topics {
        for Conversation { number, statements, .. } in &topics.conversations {
            rows.extend((1..).zip(statements).map(|(n, text)| BankRow {
                id: statement_id(*split, number, n).as_str().into(),
                text: text.clone(),
            }));
        }
    }
    rows
}

/// The statements of the user of a conversation, in the order of their numbers as documents.
pub(super) fn statements_of(split: Split, conversation: &Conversation, bank: &Bank) -> Vec<Doc> {
    let ids = (1..=conversation.statements.len())
        .map(|number| statement_id(split, &conversation.number, number));
    let mut docs: Vec<Doc> = ids.filter_map(|id| bank.find(&id)).collect();
    docs.sort_unstable();
    docs
}
