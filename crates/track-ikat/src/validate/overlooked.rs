//! Rules of every year that the official validators do not check.

use super::{CheckedRun, Overlooked, Rule, Violations, passage_not_in_the_collection};
use crate::run::{Response, SubmittedTurn};
use crate::topics::{IkatConversation, Year};
use clariq_files::shorten;
use std::collections::HashSet;
use std::iter;

pub(super) const RULES: &[Rule] = &[
    Rule {
        reaction: Overlooked,
        expected: "a passage of the collection",
        hint: "the list of --passages does not have it",
        find: unknown_passage_of_2025,
    },
    Rule {
        reaction: Overlooked,
        expected: "every turn once",
        hint: "remove one of the two",
        find: repeated_turn,
    },
    Rule {
        reaction: Overlooked,
        expected: "every turn of the topics by its name",
        hint: "a run answers every turn of the topics, by the name that it has there",
        find: missing_turn,
    },
    Rule {
        reaction: Overlooked,
        expected: "a response",
        hint: "a turn without one scores nothing",
        find: no_response,
    },
    Rule {
        reaction: Overlooked,
        expected: "ranks of responses that rise",
        hint: "number responses from 1",
        find: ranks_that_do_not_rise,
    },
    Rule {
        reaction: Overlooked,
        expected: "at most 250 tokens",
        hint: "the guidelines allow a response 250 tokens",
        find: too_many_tokens,
    },
    Rule {
        reaction: Overlooked,
        expected: "the text of a response",
        hint: "an empty response is judged like any other",
        find: no_text,
    },
    Rule {
        reaction: Overlooked,
        expected: "every passage once",
        hint: "only the first one counts",
        find: repeated_passage,
    },
    Rule {
        reaction: Overlooked,
        expected: "scores that tell the passages of a turn apart",
        hint: "passages of one score are ordered by their ids",
        find: one_score,
    },
    Rule {
        reaction: Overlooked,
        expected: "a passage that the labels judge",
        hint: "are its ids those of the judgements?",
        find: nothing_judged,
    },
    Rule {
        reaction: Overlooked,
        expected: "every statement once",
        hint: "only the first one counts",
        find: repeated_statement,
    },
    Rule {
        reaction: Overlooked,
        expected: "a statement from 1",
        hint: "statements are numbered from 1",
        find: statement_0,
    },
    Rule {
        reaction: Overlooked,
        expected: "a statement of this user",
        hint: "statements are given by their text, as it is in the topics",
        find: unknown_statement,
    },
];

fn repeated_turn(run: &CheckedRun, found: &mut Violations) {
    let mut seen = HashSet::new();
    for turn in run.turns() {
        if !seen.insert(&turn.id) {
            found.push((turn.line, format!("{} again", shorten(&turn.id))));
        }
    }
}

/// The validators of 2023 and 2024 only compare numbers of turns.
fn missing_turn(run: &CheckedRun, found: &mut Violations) {
    if run.submission.year.has_line_runs() || run.submission.turns.is_empty() {
        return;
    }
    run.report_missing(run.turns().map(|turn| turn.id.as_str()), found);
}

fn no_response(run: &CheckedRun, found: &mut Violations) {
    for turn in run.turns().filter(|turn| turn.responses.is_empty()) {
        found.push((turn.line, format!("none in turn {}", turn.id)));
    }
}

fn ranks_that_do_not_rise(run: &CheckedRun, found: &mut Violations) {
    for turn in run.turns() {
        for pair in turn.responses.windows(2) {
            if let [Response { rank: before, .. }, Response { rank: after, .. }] = pair
                && after <= before
            {
                found.push((turn.line, format!("{after} after {before} in turn {}", turn.id)));
            }
        }
    }
}

fn too_many_tokens(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        let tokens = (run.options.tokens)(&response.text);
        if tokens > run.submission.year.response_limit().tokens {
            found.push((turn.line, format!("about {tokens} in turn {}", turn.id)));
        }
    }
}

/// In the other cases, the validators warn.
fn no_text(run: &CheckedRun, found: &mut Violations) {
    let submission = run.submission;
    let is_judged = submission.eval_response && submission.run_type == "only_response";
    if !submission.year.has_line_runs() && !is_judged {
        return;
    }
    for (turn, response) in run.responses() {
        if response.text.trim().is_empty() {
            found.push((turn.line, format!("none in turn {}", turn.id)));
        }
    }
}

/// The validators of earlier years warn.
fn unknown_passage_of_2025(run: &CheckedRun, found: &mut Violations) {
    if run.submission.year.has_line_runs() {
        passage_not_in_the_collection(run, found);
    }
}

fn repeated_passage(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        let mut seen = HashSet::new();
        for passage in &response.passages {
            if !seen.insert(passage.id.as_str()) {
                found.push(again(turn, &passage.id));
            }
        }
    }
}

fn one_score(run: &CheckedRun, found: &mut Violations) {
    if run.submission.has_one_score() {
        found.push((None, "one score in every turn".to_owned()));
    }
}

fn nothing_judged(run: &CheckedRun, found: &mut Violations) {
    let of_responses = run.responses().map(|(turn, response)| (&turn.id, &response.passages));
    let of_turns = run.turns().map(|turn| (&turn.id, &turn.references));
    let mut passages = of_responses
        .chain(of_turns)
        .flat_map(|(turn, passages)| passages.iter().map(move |passage| (turn, &passage.id)))
        .peekable();
    if run.judged.is_empty() || passages.peek().is_none() {
        return;
    }
    if !passages.any(|(turn, id)| run.judged.contains(&(turn.clone(), id.clone()))) {
        found.push((None, "none of them".to_owned()));
    }
}

fn repeated_statement(run: &CheckedRun, found: &mut Violations) {
    for (turn, response) in run.responses() {
        let mut seen = HashSet::new();
        for statement in &response.statements {
            let is_text = run.submission.year.has_line_runs();
            let name = if is_text { &statement.text } else { &statement.id };
            if !seen.insert(name) {
                found.push(again(turn, name));
            }
        }
    }
}

fn again(turn: &SubmittedTurn, name: &str) -> (Option<u64>, String) {
    (turn.line, format!("`{}` again in turn {}", shorten(name), turn.id))
}

fn statement_0(run: &CheckedRun, found: &mut Violations) {
    if run.submission.year != Year::Y2024 {
        return;
    }
    for (turn, response) in run.responses() {
        if response.statements.iter().any(|statement| statement.id == "0") {
            found.push((turn.line, format!("`0` in turn {}", turn.id)));
        }
    }
}

/// In 2025, a statement may be of any conversation of the user so far.
fn unknown_statement(run: &CheckedRun, found: &mut Violations) {
    if !run.submission.year.has_line_runs() || run.topics.conversations.is_empty() {
        return;
    }
    for (turn, response) in run.responses() {
        for statement in &response.statements {
            let number = turn.id.rsplit_once('_').map(|(number, _)| number);
            let conversation = number.and_then(|number| run.topics.conversation(number));
            let is_known = conversation
                .is_some_and(|conversation| is_of_user(run, conversation, &statement.text));
            if !is_known {
                let text = shorten(&statement.text);
                found.push((turn.line, format!("`{text}` in turn {}", turn.id)));
            }
        }
    }
}

fn is_of_user(run: &CheckedRun, conversation: &IkatConversation, statement: &str) -> bool {
    let before = run.topics.before(&conversation.number);
    iter::once(conversation)
        .chain(before)
        .any(|one| one.statements.iter().any(|other| other == statement))
}
