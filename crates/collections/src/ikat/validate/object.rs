//! The checks of 2023 and 2024, turn by turn.

use super::Check;
use crate::ikat::run::{RankedStatement, Response, Submission, SubmittedTurn};
use crate::ikat::topics::{Conversation, Year};
use clariq_core::problem;
use clariq_files::shorten;
use std::collections::HashMap;

/// The score that the first passage of a response is compared with.
const FIRST: f64 = 1e9;
const MOST_PASSAGES: usize = 1000;
const PREFIX: &str = "clueweb22-";

/// Reports all errors and warnings, and returns the run as far as it could be read.
pub(super) fn check(check: &mut Check) -> Submission {
    let (input, year) = (check.input, check.topics.year);
    let submission = Submission::parse(input, Some(year), &mut |problem| check.add(problem));
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
        let Submission { run_name, run_type, .. } = submission;
        if run_name.is_empty() {
            self.warn(problem!(self.at(1), "a run_name", "an empty text", "name the run"));
        }
        if run_type.is_empty() {
            let hint = "name the class of the system";
            self.warn(problem!(self.at(1), "a run_type", "an empty text", hint));
        }
        let types: &[&str] = match submission.year {
            Year::Y2024 => &["automatic", "manual", "only_response"],
            _ => &["automatic", "manual"],
        };
        if !types.contains(&run_type.as_str()) {
            let expected = format!("a run_type of {}", types.join(", "));
            let found = format!("`{}`", shorten(run_type));
            self.warn(problem!(self.at(1), expected, found, "use one of these names"));
        }
    }

    /// The numbers of turns and conversations, and of turns in each conversation.
    fn turn_counts(&mut self, submission: &Submission) {
        let topics = self.topics;
        let mut counts: HashMap<String, usize> = HashMap::new();
        for turn in &submission.turns {
            if let Some((conversation, _)) = split_turn_id(&turn.id, submission.year) {
                *counts.entry(conversation).or_default() += 1;
            }
        }
        let mut compare = |found: usize, count: usize, what: String| {
            if found != count {
                let hint = "a run answers every turn of the topics once";
                self.add(problem!(self.at(1), "{count} {what}", "{found}", hint));
            }
        };
        let turns = submission.turns.len();
        compare(turns, topics.turns().count(), "turns, as in the topics".to_owned());
        let conversations = topics.conversations.len();
        compare(counts.len(), conversations, "conversations, as in the topics".to_owned());
        for Conversation { number, turns, .. } in &topics.conversations {
            let found = counts.get(number).copied().unwrap_or_default();
            compare(found, turns.len(), format!("turns of conversation {number}"));
        }
    }

    fn turn(&mut self, submission: &Submission, turn: &SubmittedTurn) {
        let topics = self.topics;
        let found = format!("`{}`", shorten(&turn.id));
        let Some((number, index)) = split_turn_id(&turn.id, submission.year) else {
            let expected = "a turn id `<conversation>_<turn>`";
            let hint = "such as 9-1_3, in 2024 0_3";
            return self.add(problem!(self.at(turn.line), expected, found, hint));
        };
        let Some(conversation) = topics.conversation(&number) else {
            let expected = "a conversation of the topics";
            let hint = "a run answers the turns of these topics alone: is it of another year?";
            return self.add(problem!(self.at(turn.line), expected, found, hint));
        };
        let last = conversation.turns.len();
        if !usize::try_from(index).is_ok_and(|index| (1..=last).contains(&index)) {
            let expected = format!("a turn from 1 to {last} of conversation {number}");
            self.add(problem!(self.at(turn.line), expected, found, "turns are numbered from 1"));
        }
        for response in &turn.responses {
            self.response(submission, &turn.id, response);
            self.passages(&turn.id, response);
            self.statements(conversation, &turn.id, response);
        }
    }

    /// The previous rank is never remembered by the official validator, so every rank is compared
    /// with 0.
    fn response(&mut self, submission: &Submission, turn: &str, response: &Response) {
        let Response { rank, line, .. } = *response;
        let hint = "the best response has rank 1";
        if rank == 0 {
            self.warn(problem!(self.at(line), "a rank", "none, or 0, in turn {turn}", hint));
        }
        if rank <= 0 {
            self.warn(problem!(self.at(line), "a rank above 0", "{rank} in turn {turn}", hint));
        }
        let needs_text = submission.year == Year::Y2023 || submission.run_type != "only_response";
        if response.text.is_empty() && needs_text {
            let (expected, hint) = ("the text of a response", "write what the user is to read");
            self.warn(problem!(self.at(line), expected, "none in turn {turn}", hint));
        }
    }

    fn passages(&mut self, turn: &str, response: &Response) {
        let mut previous = FIRST;
        for passage in &response.passages {
            let (line, id, score) = (passage.line, shorten(&passage.id), passage.score);
            if score > previous {
                let found = format!("{score} after {previous} for `{id}` in turn {turn}");
                let expected = "scores of passages that do not rise";
                self.warn(problem!(self.at(line), expected, found, "order passages by score"));
            }
            if !passage.id.starts_with(PREFIX) {
                let expected = "an id that begins with `clueweb22-`";
                let hint = "the passages of the track are those of ClueWeb22";
                self.warn(problem!(self.at(line), expected, "`{id}` in turn {turn}", hint));
            }
            if passage.id.matches(':').count() != 1 {
                let expected = "an id `page:number` with one colon";
                let hint = "such as clueweb22-en0004-50-00170:0";
                self.warn(problem!(self.at(line), expected, "`{id}` in turn {turn}", hint));
            }
            previous = score;
        }
        let (line, count) = (response.line, response.passages.len());
        let none = format!("none in turn {turn}");
        if !response.passages.iter().any(|passage| passage.used) {
            let hint =
                "set `used` where the response rests on a passage; otherwise the first five count";
            self.warn(problem!(self.at(line), "a passage that is used", (&*none), hint));
        }
        if count == 0 {
            let hint = "give passage_provenance, best first";
            self.warn(problem!(self.at(line), "passages", none, hint));
        } else if count > MOST_PASSAGES {
            let (found, hint) = (format!("{count} in turn {turn}"), "leave out the last ones");
            self.warn(problem!(self.at(line), "at most 1000 passages", found, hint));
        }
    }

    /// 2023: the id has to be known, and the text has to be that of the topics. 2024: the number 0
    /// is let through.
    fn statements(&mut self, conversation: &Conversation, turn: &str, response: &Response) {
        if response.statements.is_empty() {
            let found = format!("none for a response in turn {turn}");
            let hint = "give ptkb_provenance, even if no statement seems to matter";
            return self.warn(problem!(self.at(response.line), "statements", found, hint));
        }
        let last = conversation.statements.len();
        let mut previous = FIRST;
        for RankedStatement { id, line, score, text } in &response.statements {
            let expected = format!("a statement from 1 to {last}");
            let hint = "statements are numbered from 1";
            if self.topics.year == Year::Y2024 {
                if !id.parse().is_ok_and(|number: usize| number <= last) {
                    self.add(problem!(self.at(*line), expected, "{id} in turn {turn}", hint));
                }
                continue;
            }
            let number = id.parse::<usize>().ok().filter(|number| number.to_string() == *id);
            let known =
                number.and_then(|number| conversation.statements.get(number.checked_sub(1)?));
            let found = format!("`{}` in turn {turn}", shorten(id));
            match known {
                None if id.is_empty() => {
                    let hint = "ids are \"1\", \"2\", …";
                    self.add(problem!(self.at(*line), "the id of a statement", found, hint));
                }
                None => self.add(problem!(self.at(*line), expected, found, hint)),
                Some(known) if known != text => {
                    let expected = format!("the text of statement {id}, `{}`", shorten(known));
                    let found = format!("`{}` in turn {turn}", shorten(text));
                    let hint = "give the text as it is in the topics";
                    self.add(problem!(self.at(*line), expected, found, hint));
                }
                Some(_) => {}
            }
            if *score > previous {
                let found = format!("{score} after {previous} for statement {id} in turn {turn}");
                let expected = "scores of statements that do not rise";
                self.warn(problem!(self.at(*line), expected, found, "order statements by score"));
            }
            previous = *score;
        }
    }
}
