//! The question pool of the mixed-initiative task of 2022.

use crate::bank::BankRow;
use crate::json::{self, Node, Parsed};
use clariq_core::{Error, QuestionId, problem};
use clariq_files::{Input, MOST_OF_A_TABLE, Sink, Source, read_strictly};
use std::collections::HashMap;

/// The id of the empty question: choosing it means "ask nothing".
pub const NO_QUESTION: &str = "Q0000";

const FORM: &str = "the pool is a list of {\"question_id\": \"…\", \"question\": \"…\"}";

/// Reads the pool in file order; the first problem is the error.
pub fn read_pool(source: &Source) -> Result<Vec<BankRow>, Error> {
    read_strictly(source, MOST_OF_A_TABLE, parse_pool)
}

/// Reads what can be read of the pool: every problem goes to `sink`, and its question is left out.
pub fn parse_pool(input: &Input, sink: Sink) -> Vec<BankRow> {
    let Some(items) = json::parse_list(input, "questions", FORM, sink) else { return Vec::new() };
    if items.is_empty() {
        sink(problem!((&*input.name, 1), "a list of questions", "an empty list", FORM));
    }
    let mut questions = Vec::with_capacity(items.len());
    let mut lines: HashMap<QuestionId, u64> = HashMap::with_capacity(items.len());
    for item in &items {
        let question = question(item).and_then(|question| {
            match lines.insert(question.id.clone(), item.line) {
                None => Ok(question),
                Some(first) => {
                    let found = format!("`{}`, which is on line {first} already", question.id);
                    let fault = item.fault("a question id that is unique in the pool", found);
                    Err(fault.hint("remove one of the two, or give it a new id"))
                }
            }
        });
        questions.extend(question.map_err(|fault| sink(fault.in_file(&input.name, FORM))));
    }
    questions
}

fn question(node: &Node) -> Parsed<BankRow> {
    let id = node.text_of("question_id")?;
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(node.unlike("an id without blanks"));
    }
    Ok(BankRow { id: id.into(), text: node.text_of("question")?.to_owned() })
}
