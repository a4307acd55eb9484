//! Drafts of records. Every form of file fills a draft, and the draft is checked once, here.

use super::{Conversation, MOST_TURNS, Record, Texts, Turn};
use clariq_core::{Location, Problem, problem};
use clariq_files::shorten;

const HINT: &str =
    "data/README.md shows what a record holds; --skip-bad leaves bad records out and counts them";

/// What is wrong with a record: what was expected, and what was found.
pub(super) type Wrong = (String, String);

/// A value of a record in some form of file.
pub(super) trait Raw {
    fn is_none(&self) -> bool;
    fn text(&self) -> Option<&str>;
    fn number(&self) -> Option<i64>;
    /// The turns; the error says what there is in their place.
    fn turns(&self) -> Result<Vec<Turn>, String>;
    /// What it is, for messages.
    fn describe(&self) -> String;
}

/// A record as its file has it.
#[derive(Debug, Default, Clone)]
pub(super) struct Draft {
    pub(super) id: String,
    pub(super) topic: Option<String>,
    pub(super) facet: Option<String>,
    pub(super) request: Option<String>,
    pub(super) question: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) turns: Option<Vec<Turn>>,
    pub(super) context: Option<i64>,
    /// The first thing that showed to be wrong while it was filled.
    pub(super) wrong: Option<Wrong>,
}

impl Draft {
    pub(super) fn wrong(&mut self, expected: impl Into<String>, found: impl Into<String>) {
        self.wrong.get_or_insert((expected.into(), found.into()));
    }

    pub(super) fn wrong_key(&mut self, key: &str) {
        self.wrong("the keys of a record and no others", format!("the key `{}`", shorten(key)));
    }

    /// Sets the field of that name; `false` if a record has none.
    pub(super) fn set(&mut self, name: &str, value: &impl Raw) -> bool {
        match name {
            "topic_id" => self.topic = self.id_of(name, value),
            "facet_id" => self.facet = self.id_of(name, value),
            "initial_request" => self.request = self.text_of(name, value),
            "question" => self.question = self.text_of(name, value),
            "answer" => self.answer = self.text_of(name, value),
            "context_id" => {
                let expected = "a whole number as `context_id`";
                self.context =
                    self.present(value, value.number().ok_or_else(|| value.describe()), expected);
            }
            "conversation_context" => {
                let expected = "`conversation_context` as a list, each item a turn `{\"question\": …, \"answer\": …}`";
                self.turns = self.present(value, value.turns(), expected);
            }
            _ => return false,
        }
        true
    }

    /// An id, which may be a number.
    pub(super) fn id_of(&mut self, name: &str, value: &impl Raw) -> Option<String> {
        match value.number() {
            Some(number) => Some(number.to_string()),
            None => self.text_of(name, value),
        }
    }

    pub(super) fn text_of(&mut self, name: &str, value: &impl Raw) -> Option<String> {
        let text = value.text().map(str::to_owned).ok_or_else(|| value.describe());
        self.present(value, text, &format!("a text as `{name}`"))
    }

    /// What a value was read as; nothing for a value that is none.
    fn present<T>(
        &mut self,
        value: &impl Raw,
        read: Result<T, String>,
        expected: &str,
    ) -> Option<T> {
        match read {
            Ok(value) => Some(value),
            Err(_) if value.is_none() => None,
            Err(found) => {
                self.wrong(expected, found);
                None
            }
        }
    }

    /// The record, if it is one. Questions must be among `texts`, where there are any.
    pub(super) fn finish(
        self,
        at: Location,
        texts: Option<&Texts>,
    ) -> Result<Record, Box<Problem>> {
        self.check(texts).map_err(|(expected, found)| Box::new(problem!(at, expected, found, HINT)))
    }

    fn check(self, texts: Option<&Texts>) -> Result<Record, Wrong> {
        if let Some(wrong) = self.wrong {
            return Err(wrong);
        }
        let request = self.request.filter(|request| !request.trim().is_empty());
        let request = request.ok_or_else(|| missing("initial_request", "a request"))?;
        let turns = self.turns.ok_or_else(|| missing("conversation_context", "a list of turns"))?;
        let id = self.context.ok_or_else(|| missing("context_id", "a whole number"))?;
        if turns.len() > MOST_TURNS {
            return Err((
                format!("at most {MOST_TURNS} turns in `conversation_context`"),
                turns.len().to_string(),
            ));
        }
        for (number, turn) in (1..).zip(&turns) {
            check_turn(turn, &format!("turn {number} of `conversation_context`"), texts)?;
        }
        let next = match (self.question, self.answer) {
            (None, None) => None,
            (Some(question), Some(answer)) => Some(Turn { question, answer }),
            (Some(_), None) => return Err(missing("answer", "the answer to `question`")),
            (None, Some(_)) => return Err(missing("question", "the question of `answer`")),
        };
        if let Some(next) = &next {
            check_turn(next, "the record", texts)?;
        }
        let (topic, facet) = (self.topic.unwrap_or_default(), self.facet.unwrap_or_default());
        let (topic, facet) = (topic.as_str().into(), facet.as_str().into());
        Ok(Record {
            id: self.id,
            conversation: Conversation { id, topic, facet, request, turns },
            next,
            again: false,
        })
    }
}

fn missing(key: &str, what: &str) -> Wrong {
    (format!("a key `{key}` with {what}"), "a record without it".to_owned())
}

/// A question has an answer and is one of the bank's. Where nothing was asked, nothing is answered.
fn check_turn(turn: &Turn, place: &str, texts: Option<&Texts>) -> Result<(), Wrong> {
    if turn.answer.trim().is_empty() && !turn.question.trim().is_empty() {
        let found = format!("an empty answer to `{}`", shorten(&turn.question));
        return Err((format!("an answer in {place}"), found));
    }
    if texts.is_some_and(|texts| !texts.has(&turn.question)) {
        let found = format!("`{}`, which is not in question_bank.tsv", shorten(&turn.question));
        return Err((format!("a question of the bank in {place}"), found));
    }
    Ok(())
}
