//! The question pool of the mixed-initiative task of 2022.

use crate::bank::BankRow;
use crate::json::{self, Node};
use clariq_core::{Error, Problem, ProblemKind, QuestionId};
use clariq_files::table::{Sink, strictly};
use clariq_files::{Input, Source};
use std::collections::HashMap;

/// The id of the empty question: choosing it means "ask nothing".
pub const NO_QUESTION: &str = "Q0000";

const HINT: &str = "the pool is a list of {\"question_id\": \"…\", \"question\": \"…\"}";

/// Reads the pool in file order; the first problem is the error.
pub fn read_pool(source: &Source) -> Result<Vec<BankRow>, Error> {
    let input = source.read()?;
    strictly(|sink| parse_pool(&input, sink))
}

/// Reads what can be read of the pool: every problem goes to `sink`, and its question is left out.
pub fn parse_pool(input: &Input, sink: Sink) -> Vec<BankRow> {
    let root = match json::parse(input) {
        Ok(root) => root,
        Err(problem) => {
            sink(*problem);
            return Vec::new();
        }
    };
    let Some(items) = root.list().filter(|items| !items.is_empty()) else {
        sink(root.unlike(&input.name, "a list of questions").hint(HINT));
        return Vec::new();
    };
    let mut questions = Vec::with_capacity(items.len());
    let mut lines: HashMap<QuestionId, u64> = HashMap::with_capacity(items.len());
    for item in items {
        match question(&input.name, item) {
            Ok(question) => match lines.insert(question.id.clone(), item.line) {
                None => questions.push(question),
                Some(first) => sink(again(&input.name, item, &question.id, first)),
            },
            Err(problem) => sink(*problem),
        }
    }
    questions
}

fn question(file: &str, node: &Node) -> Result<BankRow, Box<Problem>> {
    let text = |key: &str| {
        let value = node.get(key).and_then(Node::text);
        value.ok_or_else(|| node.unlike(file, format!("a question with a text `{key}`")).hint(HINT))
    };
    let id = text("question_id")?;
    if id.is_empty() || id.contains(char::is_whitespace) {
        return Err(Box::new(node.unlike(file, "an id without blanks").hint(HINT)));
    }
    Ok(BankRow { id: id.into(), text: text("question")?.to_owned() })
}

fn again(file: &str, node: &Node, id: &QuestionId, first: u64) -> Problem {
    let found = format!("`{id}`, which is on line {first} already");
    node.problem(file, ProblemKind::DuplicateId, "a question id that is unique in the pool", found)
        .hint("remove one of the two, or give it a new id")
}
