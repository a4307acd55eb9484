//! Stages, which turn rankings into better ones, and the batches that they rank.

#![deny(missing_docs)]

use crate::context::Context;
use crate::prompt::Prompt;
use clariq_core::{Doc, Explanation, ModelName, Progress, Ranking, Request, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::fmt;

/// Inputs of a system beyond one request and the documents. Every table of results shows them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Uses {
    /// Labels of other requests.
    TrainLabels,
    /// Labels of dev, only for requests of test.
    DevLabels,
    /// The other requests of the batch.
    Batch,
    /// Utterances that a model rewrote elsewhere.
    RewritesByModel,
    /// Utterances that people rewrote.
    RewritesByPeople,
    /// Utterances and statements of the same user in earlier conversations.
    EarlierConversations,
    /// Labels of the statements that are relevant to this turn and to earlier ones.
    RelevantStatements,
    /// Texts that a language model writes.
    LanguageModel,
    /// Random choices of a language model (a temperature above 0).
    Sampling,
}

impl fmt::Display for Uses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TrainLabels => "train-labels",
            Self::DevLabels => "dev-labels",
            Self::Batch => "batch",
            Self::RewritesByModel => "rewrites-by-model",
            Self::RewritesByPeople => "rewrites-by-people",
            Self::EarlierConversations => "earlier-conversations",
            Self::RelevantStatements => "relevant-statements",
            Self::LanguageModel => "language-model",
            Self::Sampling => "sampling",
        })
    }
}

/// A stage's description of itself.
#[derive(Debug, Clone)]
pub struct About {
    /// The name in configurations.
    pub name: &'static str,
    /// The parameters with their defaults filled in, as they are written beside a run.
    pub parameters: Value,
    /// Inputs beyond one request and the documents.
    pub uses: Vec<Uses>,
    /// The models that it needs.
    pub models: Vec<ModelName>,
    /// The prompts of its language models; the record of a run lists them.
    pub prompts: Vec<Prompt>,
    /// True if it uses the predicted need; without such a stage, none is predicted first.
    pub sees_need: bool,
}

impl About {
    /// A stage that looks at nothing but the request and the documents.
    ///
    /// # Panics
    ///
    /// If the parameters cannot be written as JSON.
    pub fn new(name: &'static str, parameters: &impl Serialize) -> Self {
        let parameters = serde_json::to_value(parameters).expect("plain data");
        let models = Vec::new();
        Self { name, parameters, uses: Vec::new(), models, prompts: Vec::new(), sees_need: false }
    }
}

/// Requests that are ranked together.
#[derive(Clone, Copy)]
pub struct Batch<'a> {
    /// Objects that stages share.
    pub context: &'a Context<'a>,
    /// The requests, in the order of their rankings.
    pub requests: &'a [Request],
    /// Counts the requests that a stage has finished.
    pub progress: Progress<'a>,
}

impl<'a> Batch<'a> {
    /// A batch without reports of progress.
    pub fn new(context: &'a Context<'a>, requests: &'a [Request]) -> Self {
        Self { context, requests, progress: &|_| {} }
    }

    /// An empty ranking for each request, for a pipeline to begin with.
    pub fn unranked(&self) -> Vec<Ranking> {
        vec![Ranking::new(); self.requests.len()]
    }
}

/// A step of a pipeline: it takes the rankings of all requests of a batch, and returns new ones.
pub trait Stage: Send + Sync {
    /// Describes the stage and its parameters.
    fn about(&self) -> About;

    /// Ranks. A stage that takes long calls `batch.progress` with the number of requests finished
    /// since the last call; the pipeline counts the others.
    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>>;

    /// Explains the score that this stage gives a document of a batch of one request, whose ranking
    /// so far is `before`; `None` if the rank is all there is to say.
    fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let _ = (one, doc, before);
        Ok(None)
    }
}

/// Refuses scores that are infinite or NaN: they can be neither compared nor written.
pub(crate) fn check_finite(stage: &dyn Stage, batch: &Batch, rankings: &[Ranking]) -> Result<()> {
    for (request, ranking) in batch.requests.iter().zip(rankings) {
        let Some(hit) = ranking.iter().find(|hit| !hit.score.is_finite()) else { continue };
        let about = stage.about();
        let document = batch.context.documents.id(hit.doc);
        let found = format!("{} for `{document}` and request `{}`", hit.score, request.id);
        let hint = format!("a parameter or a weight is too large: {}", about.parameters);
        bail!(format!("stage `{}`", about.name), "finite scores", found, hint);
    }
    Ok(())
}
