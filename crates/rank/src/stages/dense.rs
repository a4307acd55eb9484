//! Stage `dense`: ranks documents by their similarity to the conversation.
//!
//! Without `weights` and `history`, the whole conversation is one text. With `weights`, the score of a
//! document is the weighted mean of its similarities to the texts; with `history`, the weighted sum of
//! its similarities to the last utterance and to earlier texts.

mod explain;
mod search;
mod texts;

use crate::build::Build;
use crate::context::Context;
use crate::space::{Space, SpaceConfig};
use crate::stage::{About, Batch, Stage};
use crate::stages::conversation::{ConversationWeights, VectorHistory};
use clariq_core::{Doc, Explanation, Ranking, Request, Result, Role, WeightedText, bail};
use search::DenseSearch;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Retrieves documents; an earlier ranking is replaced. Documents without a text are left out.
#[derive(Serialize)]
struct Dense {
    #[serde(flatten)]
    keys: DenseKeys,
    #[serde(flatten)]
    conversation: Option<ConversationWeights<VectorHistory>>,
    space: SpaceConfig,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct DenseKeys {
    /// The maximum number of documents; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<NonZeroUsize>,
    /// With `weights`: rank nothing if the best similarity to a text of the user is below this.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_likeness: Option<f32>,
    /// With `weights`: leave out documents at least this similar to a question that was asked, because they are the
    /// same in other words.
    #[serde(skip_serializing_if = "Option::is_none")]
    repeat: Option<f32>,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let space = build.space()?;
    let conversation = ConversationWeights::take(&mut build.table)?;
    let min_likeness_at = build.table.at("min_likeness");
    let repeat_at = build.table.at("repeat");
    let keys: DenseKeys = build.table.read()?;
    if !matches!(conversation, Some(ConversationWeights::Weights(_))) {
        for (key, value, at) in [
            ("min_likeness", keys.min_likeness, min_likeness_at),
            ("repeat", keys.repeat, repeat_at),
        ] {
            if value.is_some() {
                let expected = format!("a table `weights`, whose texts `{key}` uses");
                let hint = "configs/dense-conversation.toml is an example";
                bail!(at, expected, "a stage without it", hint);
            }
        }
    }
    Ok(Box::new(Dense { keys, conversation, space }))
}

impl Dense {
    /// The texts that have a weight, and those that `repeat` compares documents with. With the
    /// table `weights`, a score is a mean: the weights above 0 sum to 1.
    fn texts<'a>(&self, request: &'a Request) -> Vec<WeightedText<'a>> {
        let Some(conversation) = &self.conversation else {
            return vec![WeightedText::new(Role::Opening, request.flatten(), 1.0)];
        };
        let mut texts = conversation.texts(request);
        if let ConversationWeights::Weights(_) = conversation {
            let compares_system = self.keys.repeat.is_some();
            texts.retain(|weighted| {
                let is_compared = compares_system
                    && weighted.role.is_system()
                    && !weighted.text.trim().is_empty();
                weighted.counts() || is_compared
            });
            let whole: f64 = texts.iter().map(|weighted| weighted.weight.max(0.0)).sum();
            for weighted in &mut texts {
                weighted.weight /= whole;
            }
        }
        texts
    }

    /// The search for a request, or for others with the same candidates.
    fn search<'a>(
        &self,
        context: &'a Context,
        space: &'a Space,
        request: &'a Request,
    ) -> DenseSearch<'a> {
        let depth = self.keys.depth.map_or(usize::MAX, NonZeroUsize::get);
        DenseSearch {
            models: context.models,
            space,
            docs: request.candidates.as_deref().unwrap_or(&space.with_text),
            depth: request.depth(depth),
            needs_user: matches!(self.conversation, Some(ConversationWeights::Weights(_))),
            min_likeness: self.keys.min_likeness,
            repeat: self.keys.repeat,
        }
    }
}

impl Stage for Dense {
    fn about(&self) -> About {
        let models = self.space.models();
        About { models, ..About::new("dense", self) }
    }

    fn apply(&self, batch: &Batch, _: Vec<Ranking>) -> Result<Vec<Ranking>> {
        // Opened before the first request, so that a run knows its weights before it ranks.
        let space = batch.context.space(&self.space)?;
        let mut rankings = Vec::with_capacity(batch.requests.len());
        for requests in batch.requests.chunk_by(|one, next| one.candidates == next.candidates) {
            let texts: Vec<Vec<WeightedText>> =
                requests.iter().map(|request| self.texts(request)).collect();
            let search = self.search(batch.context, &space, &requests[0]);
            rankings.extend(search.rank(&texts, batch.progress)?);
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let space = one.context.space(&self.space)?;
        let Some(request) = one.requests.first() else { return Ok(None) };
        let explained = if self.conversation.is_none() {
            space.explain(one.context.models, &request.flatten(), doc)
        } else {
            self.search(one.context, &space, request).explain(&self.texts(request), doc)
        };
        explained.map(Some)
    }
}
