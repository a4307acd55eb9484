//! What the official validators let through although no run should have it.

use super::{Check, MOST_TOKENS};
use crate::ikat::run::{Response, Submission, SubmittedTurn};
use crate::ikat::topics::{Conversation, Year};
use clariq_core::problem;
use clariq_files::shorten;
use std::collections::{HashMap, HashSet};
use std::iter;

/// Reports what is let through of a run as far as it could be read.
pub(super) fn check(check: &mut Check, submission: &Submission) {
    if submission.turns.is_empty() {
        return;
    }
    check.names(submission);
    for turn in &submission.turns {
        check.turn_beyond(submission, turn);
    }
}

impl Check<'_> {
    /// A turn given twice, and one that is missing: the validators of 2023 and 2024 compare numbers
    /// of turns alone, and that of 2025 does not see the first.
    fn names(&mut self, submission: &Submission) {
        let mut lines: HashMap<&str, u64> = HashMap::new();
        for SubmittedTurn { id, line, .. } in &submission.turns {
            if let Some(first) = lines.insert(id, *line) {
                let found = format!("{} again, which is on line {first} already", shorten(id));
                let hint = "remove one of the two";
                self.note(problem!(self.at(*line), "every turn once", found, hint));
            }
        }
        if submission.year == Year::Y2025 {
            return;
        }
        let topics = self.topics;
        for (_, turn) in topics.turns().filter(|(_, turn)| !lines.contains_key(turn.id.as_str())) {
            let expected = format!("turn {}", turn.id);
            let hint = "a run answers every turn of the topics, by the name that it has there";
            self.note(problem!(self.at(1), expected, "no such turn in the run", hint));
        }
    }

    fn turn_beyond(&mut self, submission: &Submission, turn: &SubmittedTurn) {
        let SubmittedTurn { id, responses, .. } = turn;
        if responses.is_empty() {
            let hint = "a turn without one scores nothing";
            self.note(problem!(self.at(turn.line), "a response", "none in turn {id}", hint));
        }
        for (before, response) in responses.iter().zip(responses.iter().skip(1)) {
            if response.rank <= before.rank {
                let found = format!("{} after {} in turn {id}", response.rank, before.rank);
                let expected = "ranks of responses that rise";
                let hint = "number responses from 1";
                self.note(problem!(self.at(response.line), expected, found, hint));
            }
        }
        let topics = self.topics;
        let conversation = id.rsplit_once('_').and_then(|(number, _)| topics.conversation(number));
        for response in responses {
            self.text_beyond(submission, id, response);
            self.passages_beyond(id, response);
            self.statements_beyond(submission.year, conversation, id, response);
        }
    }

    fn text_beyond(&mut self, submission: &Submission, turn: &str, response: &Response) {
        let tokens = (self.options.tokens)(&response.text);
        if tokens > MOST_TOKENS {
            let hint = "the guidelines allow a response 250 tokens";
            let found = format!("about {tokens} in turn {turn}");
            self.note(problem!(self.at(response.line), "at most 250 tokens", found, hint));
        }
        let judged_but_empty = submission.eval_response && submission.run_type == "only_response";
        let unchecked = judged_but_empty || submission.year == Year::Y2025;
        if response.text.trim().is_empty() && unchecked {
            let hint = "an empty response is judged as one";
            let found = format!("none in turn {turn}");
            self.note(problem!(self.at(response.line), "the text of a response", found, hint));
        }
    }

    fn passages_beyond(&mut self, turn: &str, response: &Response) {
        let mut seen = HashSet::new();
        for passage in &response.passages {
            let (line, id, score) = (passage.line, shorten(&passage.id), passage.score);
            if !seen.insert(passage.id.as_str()) {
                let found = format!("`{id}` again in turn {turn}");
                let hint = "only the first one counts";
                self.note(problem!(self.at(line), "every passage once", found, hint));
            }
            if !score.is_finite() {
                let found = format!("{score} for `{id}` in turn {turn}");
                let hint = "scores that are not finite cannot be ordered";
                self.note(problem!(self.at(line), "a finite score", found, hint));
            }
        }
    }

    fn statements_beyond(
        &mut self,
        year: Year,
        conversation: Option<&Conversation>,
        turn: &str,
        response: &Response,
    ) {
        let (mut seen, topics) = (HashSet::new(), self.topics);
        for statement in &response.statements {
            let line = statement.line;
            let name = if year == Year::Y2025 { &statement.text } else { &statement.id };
            let found = format!("`{}` in turn {turn}", shorten(name));
            if !seen.insert(name) {
                let found = format!("`{}` again in turn {turn}", shorten(name));
                let hint = "only the first one counts";
                self.note(problem!(self.at(line), "every statement once", found, hint));
            }
            let is_known = |conversation: &Conversation| {
                let mut all = iter::once(conversation).chain(topics.before(&conversation.number));
                all.any(|one| one.statements.contains(name))
            };
            if year == Year::Y2024 && name == "0" {
                let hint = "statements are numbered from 1";
                self.note(problem!(self.at(line), "a statement from 1", found, hint));
            } else if year == Year::Y2025
                && conversation.map_or(!topics.conversations.is_empty(), |it| !is_known(it))
            {
                let hint = "statements are given by their text, as it is in the topics";
                self.note(problem!(self.at(line), "a statement of this user", found, hint));
            }
        }
    }
}
