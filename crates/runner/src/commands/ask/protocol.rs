//! The protocol of `clariq ask --json`: one JSON object per line in, one out, flushed.
//!
//! `{"request": …}` begins a conversation; earlier turns are in `"conversation_context":
//! [{"question": …, "answer": …}, …]`. `{"answer": …}` replies to the last question. An `"id"` is
//! returned unchanged. The output has `"action"`: `"ask"` with `"question"` and `"question_id"`, or
//! `"stop"`. A system that answers takes `"statements": [text, …]` beside the request; `"answer"`
//! is then the next utterance of the user, and the output has `"action": "answer"` and the
//! `"response"`. A bad line gets an object with `"error"`; the conversation continues as if the
//! line had not been there.

#[cfg(test)]
mod tests;

use super::{MOST_TURNS, moves};
use crate::failure::{bad_lines_are, error_object};
use crate::output;
use crate::settings::Settings;
use clariq_core::{Error, Location, Problem, Request, Result, Utterance, problem, shorten};
use clariq_experiment::ask::Asker;
use clariq_experiment::{Statements, UserRequest};
use serde::Deserialize;
use serde_json::Value;

const FORM: &str = "{\"request\": …} or {\"answer\": …}";
/// Characters of a bad line in messages.
const SHOWN: usize = 80;
const HINT: &str = "the documentation shows a conversation in JSON lines (reference, Formats)";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ProtocolMessage {
    id: Option<Value>,
    request: Option<String>,
    answer: Option<String>,
    #[serde(default)]
    conversation_context: Vec<QuestionAndAnswer>,
    statements: Option<Vec<String>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct QuestionAndAnswer {
    question: String,
    answer: String,
}

/// A conversation whose last question waits for an answer.
struct PendingQuestion {
    conversation: UserRequest,
    question: String,
}

/// Answers every line of standard input. A request of the command line is the first.
pub(super) fn serve(
    settings: &Settings,
    asker: &Asker,
    request: Option<&str>,
    statements: &[String],
) -> Result<()> {
    asker.warm_up()?;
    let mut waiting = None;
    let mut bad = 0_u64;
    if let Some(request) = request {
        let statements = Statements::Own(statements.to_vec());
        let conversation = UserRequest { request: Request::new("0", request), statements };
        let answered = take_turn(asker, conversation, &mut waiting);
        print(&answered.unwrap_or_else(|error| {
            bad += 1;
            error_object(None, &error.to_problem())
        }))?;
    }
    let mut lines = super::replies()?;
    while let Some(line) = lines.read_next()? {
        if line.as_ref().is_ok_and(String::is_empty) {
            continue;
        }
        let (id, turn) = match line {
            Ok(line) => {
                let ranks_statements = asker.system.config.ranks_statements();
                let usual = ranks_statements.then_some(statements);
                parse(&line, usual, waiting.as_ref(), &lines.location())
            }
            Err(problem) => (None, Err(problem.hint(HINT))),
        };
        let turn = turn.map_err(Error::from);
        let answered = turn.and_then(|turn| take_turn(asker, turn, &mut waiting));
        // The system was warmed up, so an error concerns the line: its text may be too long, or a server
        // may not answer it.
        let mut object = answered.unwrap_or_else(|error| {
            bad += 1;
            error_object(lines.location().line, &error.to_problem())
        });
        if let Some(id) = id {
            object["id"] = id;
        }
        print(&object)?;
    }
    if bad > 0 {
        let bad = bad_lines_are(bad);
        settings.note(&format!("warning: <stdin>: {bad} answered with an error"));
    }
    Ok(())
}

fn print(object: &Value) -> Result<()> {
    output::print(|out| writeln!(out, "{object}")).map(drop)
}

/// The conversation that a line begins or continues, and its id, which a bad line may have as well.
fn parse(
    line: &str,
    statements: Option<&[String]>,
    waiting: Option<&PendingQuestion>,
    at: &Location,
) -> (Option<Value>, Result<UserRequest, Problem>) {
    if !line.trim_start().starts_with('{') {
        let found = format!("`{}`, which is no JSON object", shorten(line, SHOWN));
        return (None, Err(wrong(at, FORM, &found)));
    }
    match serde_json::from_str::<ProtocolMessage>(line) {
        Ok(ProtocolMessage { id: Some(id), .. }) if !is_exact(&id) => {
            let expected = "an id that JSON keeps exactly: a text, or a whole number below 2^64";
            (None, Err(wrong(at, expected, "another number")))
        }
        Ok(mut message) => (message.id.take(), message.turn(statements, waiting, at)),
        Err(error) => {
            let value = serde_json::from_str::<Value>(line).ok();
            let id = value.and_then(|value| value.get("id").cloned()).filter(is_exact);
            (id, Err(wrong(at, FORM, &error.to_string())))
        }
    }
}

/// True if a value is written as it was read: fractions and long numbers may lose digits.
fn is_exact(value: &Value) -> bool {
    match value {
        Value::Number(number) => !number.is_f64(),
        Value::Array(values) => values.iter().all(is_exact),
        Value::Object(values) => values.values().all(is_exact),
        _ => true,
    }
}

impl ProtocolMessage {
    /// The conversation with the utterance of the message. A reply continues the waiting
    /// conversation. `usual` are the default statements of a request, if the system ranks
    /// statements.
    fn turn(
        self,
        usual: Option<&[String]>,
        waiting: Option<&PendingQuestion>,
        at: &Location,
    ) -> Result<UserRequest, Problem> {
        let wrong = |expected: &str, found: &str| Err(wrong(at, expected, found));
        let context = self.conversation_context;
        let statements = match (self.statements, usual) {
            (Some(_), None) => {
                let expected = "a request alone: the system ranks no statements";
                return wrong(expected, "`statements` beside it");
            }
            (None, usual) => usual.unwrap_or_default().to_vec(),
            (Some(statements), Some(_)) => statements,
        };
        match (self.request, self.answer) {
            (Some(request), None) if request.trim().is_empty() => {
                wrong("a request", "an empty one")
            }
            (Some(_), None) if context.len() > MOST_TURNS => {
                wrong(&format!("at most {MOST_TURNS} turns"), &context.len().to_string())
            }
            (Some(request), None) => {
                let mut request = Request::new("0", request);
                let turns = context.into_iter().map(|QuestionAndAnswer { question, answer }| {
                    [Utterance::system(question), Utterance::user(answer)]
                });
                request.said.extend(turns.flatten());
                Ok(UserRequest { request, statements: Statements::Own(statements) })
            }
            (None, Some(answer)) if answer.trim().is_empty() => wrong("an answer", "an empty one"),
            (None, Some(answer)) => match waiting {
                Some(PendingQuestion { conversation, question }) => {
                    let mut conversation = conversation.clone();
                    let said = [Utterance::system(question.as_str()), Utterance::user(answer)];
                    conversation.request.said.extend(said);
                    Ok(conversation)
                }
                None => wrong("{\"request\": …}", "an answer without a question"),
            },
            (Some(_), Some(_)) => wrong(FORM, "both at once"),
            (None, None) => wrong(FORM, "neither"),
        }
    }
}

fn wrong(at: &Location, expected: &str, found: &str) -> Problem {
    problem!(at, expected, found, HINT)
}

/// Takes the next move. After a question, the conversation waits for the answer.
fn take_turn(
    asker: &Asker,
    mut conversation: UserRequest,
    waiting: &mut Option<PendingQuestion>,
) -> Result<Value> {
    let next = asker.next(&mut conversation)?;
    let object = moves::object(asker, &conversation, &next)?;
    *waiting =
        next.text().map(|question| PendingQuestion { conversation, question: question.to_owned() });
    Ok(object)
}
