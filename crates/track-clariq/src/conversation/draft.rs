//! Drafts of records: the content of a file, before it is checked.

use super::{BankTexts, ClariqConversation, ClariqTurn, ConversationRecord, MOST_TURNS};
use clariq_collections::text_or_number::IdOrNumber;
use clariq_core::{Location, Problem, problem};
use clariq_files::shorten;
use serde::Deserialize;

pub(super) const HINT: &str = "the documentation shows a record (reference, Formats); --skip-bad leaves bad records out and counts them";

/// The expected and the found content.
type ExpectedAndFound = (String, String);

/// The keys of the released dictionaries, and `record_id`, which JSON lines may have.
#[derive(Debug, Default, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Draft {
    pub(super) record_id: Option<IdOrNumber>,
    pub(super) topic_id: Option<IdOrNumber>,
    pub(super) facet_id: Option<String>,
    pub(super) initial_request: Option<String>,
    pub(super) question: Option<String>,
    pub(super) answer: Option<String>,
    pub(super) conversation_context: Option<Vec<ClariqTurn>>,
    pub(super) context_id: Option<i64>,
}

impl Draft {
    /// Checks the draft and makes a record of it. Questions must be among `texts`, if there are any.
    pub(super) fn finish(
        self,
        id: String,
        at: Location,
        texts: Option<&BankTexts>,
    ) -> Result<ConversationRecord, Box<Problem>> {
        self.check(id, texts)
            .map_err(|(expected, found)| Box::new(problem!(at, expected, found, HINT)))
    }

    fn check(
        self,
        id: String,
        texts: Option<&BankTexts>,
    ) -> Result<ConversationRecord, ExpectedAndFound> {
        let request = self.initial_request.filter(|request| !request.trim().is_empty());
        let request = request.ok_or_else(|| missing("initial_request", "a request"))?;
        let turns = self.conversation_context;
        let turns = turns.ok_or_else(|| missing("conversation_context", "a list of turns"))?;
        let context = self.context_id.ok_or_else(|| missing("context_id", "a whole number"))?;
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
            (Some(question), Some(answer)) => Some(ClariqTurn { question, answer }),
            (Some(_), None) => return Err(missing("answer", "the answer to `question`")),
            (None, Some(_)) => return Err(missing("question", "the question of `answer`")),
        };
        if let Some(next) = &next {
            check_turn(next, "the record", texts)?;
        }
        let conversation = ClariqConversation {
            id: context,
            topic: self.topic_id.map_or_else(String::new, IdOrNumber::into_text).as_str().into(),
            facet: self.facet_id.unwrap_or_default().as_str().into(),
            request,
            turns,
        };
        Ok(ConversationRecord { id, conversation, next, again: false })
    }
}

fn missing(key: &str, what: &str) -> ExpectedAndFound {
    (format!("a key `{key}` with {what}"), "a record without it".to_owned())
}

/// Checks that a question has an answer and is in the bank. The empty question needs no answer.
fn check_turn(
    turn: &ClariqTurn,
    place: &str,
    texts: Option<&BankTexts>,
) -> Result<(), ExpectedAndFound> {
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
