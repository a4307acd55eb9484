//! The key `rewrite` of a pipeline: a model rewrites the last utterance of requests, so that it can be
//! understood alone, before the stages see them.

use crate::stage::{About, Batch};
use clariq_core::{Request, Result, Speaker};

/// The name of the key in configurations, overrides, descriptions and explanations.
pub const REWRITE: &str = "rewrite";

/// Rewrites requests before the stages see them.
pub(crate) trait Rewriter: Send + Sync {
    /// Describes the model and its parameters.
    fn about(&self) -> About;

    /// The requests of a batch as the stages see them.
    fn apply(&self, batch: &Batch) -> Result<Rewritten>;
}

/// The requests of a batch as the stages see them.
pub(crate) struct Rewritten {
    /// The requests with their last utterances rewritten.
    pub(crate) requests: Vec<Request>,
    /// For each request, the request once for each query that the model wrote, if it wrote several.
    pub(crate) queries: Option<Vec<Vec<Request>>>,
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
