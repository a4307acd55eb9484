//! The protocol of `clariq ask --json`: one JSON object a line in, one out, flushed.
//!
//! `{"request": …}` begins a conversation, with `"conversation_context": [{"question": …, "answer": …}, …]` in the middle of
//! it; `{"answer": …}` replies to the last question. An `"id"` comes back as it was. What comes out has `"action"`: `"ask"`
//! with `"question"` and `"question_id"`, or `"stop"`.

use super::asker::Asker;
use super::read_line;
use crate::failure::Failure;
use clariq_collections::clariq::conversation::MOST_TURNS;
use clariq_core::{Location, Problem, ProblemKind, Request, Utterance, plain_words};
use serde::Deserialize;
use serde_json::Value;
use std::io::{self, Write};

const FORM: &str = "{\"request\": …} or {\"answer\": …}";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Message {
    id: Option<Value>,
    request: Option<String>,
    answer: Option<String>,
    #[serde(default)]
    conversation_context: Vec<Said>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Said {
    question: String,
    answer: String,
}

/// A conversation, and the question that waits for an answer.
struct State {
    conversation: Request,
    open: Option<String>,
}

/// Answers every line of standard input. A request of the command line is the first.
pub(super) fn serve(asker: &Asker, request: Option<&str>) -> Result<(), Failure> {
    let mut state = None;
    if let Some(request) = request {
        let message = Message {
            id: None,
            request: Some(request.to_owned()),
            answer: None,
            conversation_context: Vec::new(),
        };
        turn(asker, &mut state, message, 0)?;
    }
    let mut input = io::stdin().lock();
    for number in 1.. {
        let Some(line) = read_line(&mut input)? else { break };
        if line.trim().is_empty() {
            continue;
        }
        let message = serde_json::from_str(&line).map_err(|error| {
            let (expected, found) = plain_words(&error.to_string(), FORM);
            wrong(number, &expected, &found)
        })?;
        turn(asker, &mut state, message, number)?;
    }
    Ok(())
}

fn wrong(line: u64, expected: &str, found: &str) -> Problem {
    Problem::new(Location::line("<stdin>", line), ProblemKind::Argument, expected, found)
        .hint("data/README.md shows a conversation in JSON lines")
}

fn turn(
    asker: &Asker,
    state: &mut Option<State>,
    message: Message,
    line: u64,
) -> Result<(), Failure> {
    let id = message.id.clone();
    let mut current = continued(asker, state.take(), message, line)?;
    let next = asker.next(&current.conversation)?;
    current.open = next.question().map(str::to_owned);
    let mut object = asker.object(&current.conversation, &next);
    if let Some(id) = id {
        object["id"] = id;
    }
    *state = Some(current);
    let mut out = io::stdout().lock();
    writeln!(out, "{object}")?;
    Ok(out.flush()?)
}

/// The conversation after a message.
fn continued(
    asker: &Asker,
    state: Option<State>,
    message: Message,
    line: u64,
) -> Result<State, Failure> {
    match (message.request, message.answer) {
        (Some(request), None) if request.trim().is_empty() => {
            Err(wrong(line, "a request", "an empty one").into())
        }
        (Some(request), None) => {
            let turns = message.conversation_context;
            if turns.len() > MOST_TURNS {
                return Err(wrong(
                    line,
                    &format!("at most {MOST_TURNS} turns"),
                    &turns.len().to_string(),
                )
                .into());
            }
            let mut conversation = asker.begin(Request::new("0", request))?;
            for Said { question, answer } in turns {
                conversation.said.extend([Utterance::system(question), Utterance::user(answer)]);
            }
            Ok(State { conversation, open: None })
        }
        (None, Some(answer)) if answer.trim().is_empty() => {
            Err(wrong(line, "an answer", "an empty one").into())
        }
        (None, Some(answer)) => match state {
            Some(State { mut conversation, open: Some(question) }) => {
                conversation.said.extend([Utterance::system(question), Utterance::user(answer)]);
                Ok(State { conversation, open: None })
            }
            _ => Err(wrong(line, "{\"request\": …}", "an answer where nothing was asked").into()),
        },
        (Some(_), Some(_)) => Err(wrong(line, FORM, "both at once").into()),
        (None, None) => Err(wrong(line, FORM, "neither").into()),
    }
}
