//! What the official validators let through although no run should have it.

use super::{Check, MOST_TOKENS};
use crate::ikat::run::{Response, Submission, SubmittedTurn};
use crate::ikat::topics::{Conversation, Year};
use clariq_core::ProblemKind::{
    Contradiction, DuplicateId, EmptyField, NotANumber, UnknownId, WrongValue,
};
use clariq_files::table::shorten;
use std::collections::{HashMap, HashSet};

/// Reports what is let through of a run as far as it could be read.
pub(super) fn check(check: &mut Check, submission: &Submission) {
    if submission.turns.is_empty() {
        return;
    }
    check.names(submission);
    for turn in &submission.turns {
        check.turn_beyond(submission, turn);
    }
    if submission.year == Year::Y2025 {
        check.metadata_beyond(submission);
    }
}

impl Check<'_> {
    /// A turn given twice, and one that is missing: the validators of 2023 and 2024 compare numbers
    /// of turns alone, and that of 2025 does not see the first.
    fn names(&mut self, submission: &Submission) {
        let mut lines: HashMap<&str, u64> = HashMap::new();
        for turn in &submission.turns {
            if let Some(first) = lines.insert(&turn.id, turn.line) {
                let found =
                    format!("{} again, which is on line {first} already", shorten(&turn.id));
                self.note(
                    turn.line,
                    DuplicateId,
                    "every turn once",
                    &found,
                    "remove one of the two",
                );
            }
        }
        if submission.year == Year::Y2025 {
            return;
        }
        let topics = self.topics;
        for (_, turn) in topics.turns().filter(|(_, turn)| !lines.contains_key(turn.id.as_str())) {
            let expected = format!("turn {}", turn.id);
            let hint = "a run answers every turn of the topics, by the name that it has there";
            self.note(1, EmptyField, &expected, "no such turn in the run", hint);
        }
    }

    fn turn_beyond(&mut self, submission: &Submission, turn: &SubmittedTurn) {
        if turn.responses.is_empty() {
            let found = format!("none in turn {}", turn.id);
            self.note(
                turn.line,
                EmptyField,
                "a response",
                &found,
                "a turn without one scores nothing",
            );
        }
        for pair in turn.responses.windows(2) {
            if let [before, response] = pair
                && response.rank <= before.rank
            {
                let found = format!("{} after {} in turn {}", response.rank, before.rank, turn.id);
                self.note(
                    response.line,
                    Contradiction,
                    "ranks of responses that rise",
                    &found,
                    "number responses from 1",
                );
            }
        }
        let topics = self.topics;
        let conversation =
            turn.id.rsplit_once('_').and_then(|(number, _)| topics.conversation(number));
        for response in &turn.responses {
            self.text_beyond(submission, turn, response);
            self.passages_beyond(turn, response);
            self.statements_beyond(submission.year, conversation, turn, response);
        }
    }

    fn text_beyond(&mut self, submission: &Submission, turn: &SubmittedTurn, response: &Response) {
        let tokens = (self.options.tokens)(&response.text);
        if tokens > MOST_TOKENS {
            let found = format!("about {tokens} in turn {}", turn.id);
            let hint = "the guidelines allow a response 250 tokens";
            self.note(response.line, WrongValue, "at most 250 tokens", &found, hint);
        }
        let judged_but_empty = submission.eval_response && submission.run_type == "only_response";
        let unchecked = judged_but_empty || submission.year == Year::Y2025;
        if response.text.trim().is_empty() && unchecked {
            let found = format!("none in turn {}", turn.id);
            let hint = "an empty response is judged as one";
            self.note(response.line, EmptyField, "the text of a response", &found, hint);
        }
    }

    fn passages_beyond(&mut self, turn: &SubmittedTurn, response: &Response) {
        let mut seen = HashSet::new();
        for passage in &response.passages {
            let id = shorten(&passage.id);
            if !seen.insert(passage.id.as_str()) {
                let found = format!("`{id}` again in turn {}", turn.id);
                let hint = "only the first one counts";
                self.note(passage.line, DuplicateId, "every passage once", &found, hint);
            }
            if !passage.score.is_finite() {
                let found = format!("{} for `{id}` in turn {}", passage.score, turn.id);
                let hint = "scores that are not finite cannot be ordered";
                self.note(passage.line, NotANumber, "a finite score", &found, hint);
            }
        }
    }

    fn statements_beyond(
        &mut self,
        year: Year,
        conversation: Option<&Conversation>,
        turn: &SubmittedTurn,
        response: &Response,
    ) {
        let mut seen = HashSet::new();
        for statement in &response.statements {
            let name = if year == Year::Y2025 { &statement.text } else { &statement.id };
            let found = format!("`{}` in turn {}", shorten(name), turn.id);
            if !seen.insert(name) {
                let found = format!("`{}` again in turn {}", shorten(name), turn.id);
                let hint = "only the first one counts";
                self.note(statement.line, DuplicateId, "every statement once", &found, hint);
            }
            if year == Year::Y2024 && name == "0" {
                let hint = "statements are numbered from 1";
                self.note(statement.line, UnknownId, "a statement from 1", &found, hint);
            }
            let is_known = |conversation: &Conversation| conversation.statements.contains(name);
            if year == Year::Y2025 && !conversation.is_some_and(is_known) {
                let hint = "statements are given by their text, as it is in the topics";
                self.note(statement.line, UnknownId, "a statement of this user", &found, hint);
            }
        }
    }

    /// 2025 repeats the head of the run on every line, and nobody compares them.
    fn metadata_beyond(&mut self, submission: &Submission) {
        let input = self.input;
        let head = [&submission.team, &submission.run_name, &submission.run_type];
        let mut differing = Vec::new();
        crate::json::for_each_line(input, &mut |_| {}, |line, node, _| {
            let metadata = node.get("metadata");
            for (key, first) in ["team_id", "run_id", "run_type"].into_iter().zip(head) {
                let value = metadata.and_then(|metadata| metadata.get(key)?.text());
                if let Some(value) = value.filter(|value| value != first) {
                    differing.push((line, key, first, value.to_owned()));
                }
            }
        });
        for (line, key, first, value) in differing {
            let expected = format!("the {key} of the first turn, `{}`", shorten(first));
            let found = format!("`{}`", shorten(&value));
            self.note(line, Contradiction, &expected, &found, "a file holds one run");
        }
    }
}
