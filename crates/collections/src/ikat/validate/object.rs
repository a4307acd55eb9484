//! The checks of 2023 and 2024, turn by turn.

use super::Check;
use crate::ikat::run::{RankedPassage, RankedStatement, Response, Submission, SubmittedTurn};
use crate::ikat::topics::{Conversation, Topics, Year};
use clariq_core::ProblemKind::{Contradiction, EmptyField, UnknownId, WrongValue};
use clariq_files::table::shorten;
use std::collections::{HashMap, HashSet};

/// The score that the first passage of a response is compared with.
const FIRST: f64 = 1e9;
const MOST_PASSAGES: usize = 1000;
const PREFIX: &str = "clueweb22-";

/// Reports all errors and warnings, and returns the run as far as it could be read.
pub(super) fn check(check: &mut Check) -> Submission {
    let (input, year) = (check.input, check.topics.year);
    let submission = Submission::parse(input, year, &mut |problem| check.add(problem));
    if check.errors > 0 || submission.turns.is_empty() {
        return submission;
    }
    check.head(&submission);
    check.turn_counts(&submission);
    for turn in &submission.turns {
        check.turn(&submission, turn);
    }
    submission
}

/// The conversation and the number that a turn id names, by the rules of the year: 2024 reads both
/// as whole numbers.
fn split_turn_id(id: &str, year: Year) -> Option<(String, i64)> {
    let (conversation, turn) = id.split_once('_')?;
    let turn = whole_number(turn)?;
    match year {
        Year::Y2024 => Some((whole_number(conversation)?.to_string(), turn)),
        _ => Some((conversation.to_owned(), turn)),
    }
}

/// A whole number as Python's `int` reads it, blanks around it included.
fn whole_number(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

impl Check<'_> {
    fn head(&mut self, submission: &Submission) {
        let line = 1;
        if submission.run_name.is_empty() {
            self.warn(line, EmptyField, "a run_name", "an empty text", "name the run");
        }
        if submission.run_type.is_empty() {
            self.warn(
                line,
                EmptyField,
                "a run_type",
                "an empty text",
                "name the class of the system",
            );
        }
        let types: &[&str] = match submission.year {
            Year::Y2024 => &["automatic", "manual", "only_response"],
            _ => &["automatic", "manual"],
        };
        if !types.contains(&submission.run_type.as_str()) {
            let expected = format!("a run_type of {}", types.join(", "));
            let found = format!("`{}`", shorten(&submission.run_type));
            self.warn(line, WrongValue, &expected, &found, "use one of these names");
        }
    }

    /// The numbers of turns and conversations, and of turns in each conversation.
    fn turn_counts(&mut self, submission: &Submission) {
        const HINT: &str = "a run answers every turn of the topics once";
        let topics = self.topics;
        let expected = topics.turns().count();
        let mut counts: HashMap<String, usize> = HashMap::new();
        for turn in &submission.turns {
            if let Some((conversation, _)) = split_turn_id(&turn.id, submission.year) {
                *counts.entry(conversation).or_default() += 1;
            }
        }
        if submission.turns.len() != expected {
            let found = format!("{}", submission.turns.len());
            self.error(
                1,
                Contradiction,
                &format!("{expected} turns, as in the topics"),
                &found,
                HINT,
            );
        }
        if counts.len() != topics.conversations.len() {
            let expected =
                format!("{} conversations, as in the topics", topics.conversations.len());
            self.error(1, Contradiction, &expected, &counts.len().to_string(), HINT);
        }
        for conversation in &topics.conversations {
            let found = counts.get(&conversation.number).copied().unwrap_or_default();
            if found != conversation.turns.len() {
                let number = &conversation.number;
                let expected =
                    format!("{} turns of conversation {number}", conversation.turns.len());
                self.error(1, Contradiction, &expected, &found.to_string(), HINT);
            }
        }
    }

    fn turn(&mut self, submission: &Submission, turn: &SubmittedTurn) {
        let topics: &Topics = self.topics;
        let found = format!("`{}`", shorten(&turn.id));
        let Some((number, index)) = split_turn_id(&turn.id, submission.year) else {
            let expected = "a turn id `<conversation>_<turn>`";
            return self.error(
                turn.line,
                WrongValue,
                expected,
                &found,
                "such as 9-1_3, in 2024 0_3",
            );
        };
        let Some(conversation) = topics.conversation(&number) else {
            let hint = "a run answers the turns of these topics alone: is it of another year?";
            return self.error(turn.line, UnknownId, "a conversation of the topics", &found, hint);
        };
        let last = conversation.turns.len();
        if !usize::try_from(index).is_ok_and(|index| (1..=last).contains(&index)) {
            let expected = format!("a turn from 1 to {last} of conversation {number}");
            self.error(turn.line, UnknownId, &expected, &found, "turns are numbered from 1");
        }
        self.unknown_passages(turn);
        for response in &turn.responses {
            self.response(submission, turn, response);
            self.passages(turn, response);
            self.statements(submission.year, conversation, turn, response);
        }
    }

    /// A passage that does not exist is counted once a turn.
    fn unknown_passages(&mut self, turn: &SubmittedTurn) {
        let Some(ids) = self.options.passage_ids else { return };
        let mut seen = HashSet::new();
        let passages = turn.responses.iter().flat_map(|response| &response.passages);
        for passage in passages.filter(|passage| seen.insert(&passage.id)) {
            if !ids.contains(&passage.id) {
                let found = format!("`{}` in turn {}", shorten(&passage.id), turn.id);
                let hint = "ids are `page:number`, the number from 0";
                self.warn(passage.line, UnknownId, "a passage of the collection", &found, hint);
            }
        }
    }

    /// The previous rank is never remembered by the official validator, so every rank is compared
    /// with 0.
    fn response(&mut self, submission: &Submission, turn: &SubmittedTurn, response: &Response) {
        let (rank, line) = (response.rank, response.line);
        if rank == 0 {
            let found = format!("none, or 0, in turn {}", turn.id);
            self.warn(line, EmptyField, "a rank", &found, "the best response has rank 1");
        }
        if rank <= 0 {
            let found = format!("{rank} in turn {}", turn.id);
            self.warn(line, WrongValue, "a rank above 0", &found, "the best response has rank 1");
        }
        let needs_text = submission.year == Year::Y2023 || submission.run_type != "only_response";
        if response.text.is_empty() && needs_text {
            let found = format!("none in turn {}", turn.id);
            self.warn(
                line,
                EmptyField,
                "the text of a response",
                &found,
                "write what the user is told",
            );
        }
    }

    fn passages(&mut self, turn: &SubmittedTurn, response: &Response) {
        let mut previous = FIRST;
        for passage in &response.passages {
            self.passage(turn, passage, previous);
            previous = passage.score;
        }
        let (line, count) = (response.line, response.passages.len());
        if !response.passages.iter().any(|passage| passage.used) {
            let found = format!("none in turn {}", turn.id);
            let hint =
                "set `used` where the response rests on a passage; otherwise the first five count";
            self.warn(line, EmptyField, "a passage that is used", &found, hint);
        }
        if count == 0 {
            let found = format!("none in turn {}", turn.id);
            self.warn(line, EmptyField, "passages", &found, "give passage_provenance, best first");
        } else if count > MOST_PASSAGES {
            let found = format!("{count} in turn {}", turn.id);
            self.warn(line, WrongValue, "at most 1000 passages", &found, "leave out the last ones");
        }
    }

    fn passage(&mut self, turn: &SubmittedTurn, passage: &RankedPassage, previous: f64) {
        let (line, id) = (passage.line, shorten(&passage.id));
        if passage.score > previous {
            let found =
                format!("{} after {previous} for `{id}` in turn {}", passage.score, turn.id);
            let expected = "scores of passages that do not rise";
            self.warn(line, Contradiction, expected, &found, "order passages by score");
        }
        let found = format!("`{id}` in turn {}", turn.id);
        if !passage.id.starts_with(PREFIX) {
            let hint = "the passages of the track are those of ClueWeb22";
            self.warn(line, WrongValue, "an id that begins with `clueweb22-`", &found, hint);
        }
        if passage.id.matches(':').count() != 1 {
            let expected = "an id `page:number` with one colon";
            self.warn(line, WrongValue, expected, &found, "such as clueweb22-en0004-50-00170:0");
        }
    }

    fn statements(
        &mut self,
        year: Year,
        conversation: &Conversation,
        turn: &SubmittedTurn,
        response: &Response,
    ) {
        if response.statements.is_empty() {
            let found = format!("none for a response in turn {}", turn.id);
            let hint = "give ptkb_provenance, even if no statement seems to matter";
            return self.warn(response.line, EmptyField, "statements", &found, hint);
        }
        if year == Year::Y2024 {
            for statement in &response.statements {
                self.numbered_statement(conversation, turn, statement);
            }
            return;
        }
        let mut previous = FIRST;
        for statement in &response.statements {
            self.statement(conversation, turn, statement, previous);
            previous = statement.score;
        }
    }

    /// 2024: the number 0 is let through.
    fn numbered_statement(
        &mut self,
        conversation: &Conversation,
        turn: &SubmittedTurn,
        statement: &RankedStatement,
    ) {
        let last = conversation.statements.len();
        if statement.id.parse().is_ok_and(|number: usize| number <= last) {
            return;
        }
        let expected = format!("a statement from 1 to {last}");
        let found = format!("{} in turn {}", statement.id, turn.id);
        let hint = "statements are numbered from 1";
        self.error(statement.line, UnknownId, &expected, &found, hint);
    }

    /// 2023: the id has to be known, and the text has to be that of the topics.
    fn statement(
        &mut self,
        conversation: &Conversation,
        turn: &SubmittedTurn,
        statement: &RankedStatement,
        previous: f64,
    ) {
        let (line, id) = (statement.line, &statement.id);
        let last = conversation.statements.len();
        let number = id.parse::<usize>().ok().filter(|number| number.to_string() == *id);
        let text = number.and_then(|number| conversation.statements.get(number.checked_sub(1)?));
        let found = format!("`{}` in turn {}", shorten(id), turn.id);
        match text {
            None if id.is_empty() => {
                self.error(
                    line,
                    EmptyField,
                    "the id of a statement",
                    &found,
                    "ids are \"1\", \"2\", …",
                );
            }
            None => {
                let expected = format!("a statement from 1 to {last}");
                self.error(line, UnknownId, &expected, &found, "statements are numbered from 1");
            }
            Some(text) if *text != statement.text => {
                let expected = format!("the text of statement {id}, `{}`", shorten(text));
                let found = format!("`{}` in turn {}", shorten(&statement.text), turn.id);
                let hint = "give the text as it is in the topics";
                self.error(line, Contradiction, &expected, &found, hint);
            }
            Some(_) => {}
        }
        if statement.score > previous {
            let score = statement.score;
            let found = format!("{score} after {previous} for statement {id} in turn {}", turn.id);
            let expected = "scores of statements that do not rise";
            self.warn(line, Contradiction, expected, &found, "order statements by score");
        }
    }
}
