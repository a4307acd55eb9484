//! Requests with the statements of their users, and the outcomes of a system for them.

use clariq_collections::WrittenResponse;
use clariq_core::{Doc, Need, Ranking, Request};
use serde::Serialize;

/// A request, with the statements of its user.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct UserRequest {
    /// The conversation so far. Prompts get the statements below in place of its own.
    pub request: Request,
    /// The statements of its user, for systems that answer.
    pub statements: Statements,
}

/// The statements of a user about themselves.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Statements {
    /// Documents of the collection, in ascending order; `None` for all of them.
    Known(Option<Vec<Doc>>),
    /// Texts that come with the request.
    Own(Vec<String>),
}

impl UserRequest {
    /// A dummy request that checks whether a system works.
    pub fn dummy() -> Self {
        Self { request: Request::new("0", "hello"), statements: Statements::Own(Vec::new()) }
    }
}

impl From<Request> for UserRequest {
    fn from(request: Request) -> Self {
        Self { request, statements: Statements::Known(None) }
    }
}

/// The result of a system for a request.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct RankerOutcome {
    /// The predicted need, if the system predicts it.
    pub need: Option<Need>,
    /// The ranking of [`RankedPart::Documents`].
    pub ranking: Ranking,
    /// The answer, if the system answers.
    pub answer: Option<Answer>,
}

/// An answer, or a clarifying question, with its sources.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Answer {
    /// The responses, best first; none of a system that only ranks.
    pub responses: Vec<WrittenResponse>,
    /// The reason to ask, if the response is a clarifying question.
    pub asks: Option<String>,
    /// The ranking of the user's statements. Those of [`Statements::Own`] are numbered from 0.
    pub statements: Ranking,
    /// The statements that the answer uses, best first.
    pub chosen: Ranking,
}

impl Answer {
    /// The best response; an empty text of a system that only ranks.
    pub fn text(&self) -> &str {
        self.responses.first().map_or("", |response| &response.text)
    }

    /// The passages of all responses, each once.
    pub fn used(&self) -> Vec<Doc> {
        let mut all = Vec::new();
        for &doc in self.responses.iter().flat_map(|response| &response.used) {
            if !all.contains(&doc) {
                all.push(doc);
            }
        }
        all
    }
}

/// The documents that a system ranks.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RankedPart {
    /// The statements of the user; only in a system that answers.
    Statements,
    /// The documents of the collection; passages in a system that answers.
    Documents,
}

/// A document of a ranking with its text.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct RankedText {
    /// Its id, or the number of a statement.
    pub id: String,
    /// The complete text of the document or statement.
    pub text: String,
    /// Its score in the ranking; [`Ranker::list`](crate::Ranker::list) lowers equal scores so that
    /// they strictly decrease.
    pub score: f64,
}
