//! The key `rewrite` of a pipeline: a model rewrites the last utterance of requests, so that it can be
//! understood alone, before the stages see them.

mod t5;

use crate::stage::{About, Batch};
use crate::stages::REWRITERS;
use crate::table::Table;
use clariq_core::{Request, Result, Speaker};
use std::sync::Arc;

/// The name of the key in configurations, overrides, descriptions and explanations.
pub const REWRITE: &str = "rewrite";

/// Rewrites requests before the stages see them.
pub(crate) trait Rewriter: Send + Sync {
    /// Describes the model and its parameters.
    fn about(&self) -> About;

    /// The requests of a batch as the stages see them.
    fn apply(&self, batch: &Batch) -> Result<Rewritten>;

    /// The clarifying question that a batch of one request becomes, if it becomes one.
    fn question(&self, _one: &Batch) -> Result<Option<String>> {
        Ok(None)
    }
}

pub(crate) type RewriterFactory = fn(Table) -> Result<Arc<dyn Rewriter>>;

/// The requests of a batch as the stages see them.
pub(crate) struct Rewritten {
    /// The requests with their last utterances rewritten.
    pub(crate) requests: Vec<Request>,
    /// For each request, the request once for each query that the model wrote, if it wrote several.
    pub(crate) queries: Option<Vec<Vec<Request>>>,
}

/// Reads a table `rewrite`. It is a T5's if it has the key of no other model.
pub(crate) fn read(table: Table) -> Result<Arc<dyn Rewriter>> {
    let other = REWRITERS.iter().find(|(key, _)| table.has(key));
    other.map_or(t5::build as RewriterFactory, |(_, build)| *build)(table)
}

/// The request with `text` as the last utterance of the user.
pub(crate) fn with_last_utterance(request: &Request, text: String) -> Request {
    let mut request = request.clone();
    let mut said = request.said.iter_mut().rev();
    if let Some(last) = said.find(|said| said.speaker == Speaker::User) {
        last.text = text;
    }
    request
}
