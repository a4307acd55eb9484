//! Stage `dense`: ranks documents by their similarity to what was said.
//!
//! Without `weights` and `history`, everything said is one text. With `weights`, a document's score
//! is the weighted mean of its similarities to what was said; with `history`, the sum of those to
//! the last utterance and to what led to it.

use crate::build::Build;
use crate::space::SpaceConfig;
use crate::stage::{About, Batch, Stage};
use crate::stages::conversation::Conversation;
use crate::stages::dense_conversation::DenseConversation;
use crate::stages::meaning::Over;
use clariq_core::{Doc, Explanation, Ranking, Request, Result, bail, rank_by_score};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroUsize;

/// Retrieves: whatever ranking comes in is replaced. Documents without a text are left out.
#[derive(Serialize)]
struct Dense {
    /// How many documents are kept; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<NonZeroUsize>,
    #[serde(flatten)]
    conversation: Option<DenseConversation>,
    space: SpaceConfig,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    depth: Option<NonZeroUsize>,
    min_likeness: Option<f32>,
    repeat: Option<f32>,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let space = build.space()?;
    let conversation = Conversation::take(&mut build.table)?;
    let locations = ["min_likeness", "repeat"].map(|key| (key, build.table.at(key)));
    let Given { depth, min_likeness, repeat } = build.table.read()?;
    if !matches!(conversation, Some(Conversation::Weights(_))) {
        let given = [min_likeness, repeat].into_iter().zip(locations);
        if let Some((_, (key, at))) = given.into_iter().find(|(value, _)| value.is_some()) {
            let expected = format!("a table `weights`, whose texts `{key}` looks at");
            let hint = "configs/dense-conversation.toml is an example";
            bail!(at, expected, "a stage without it", hint);
        }
    }
    let conversation =
        conversation.map(|conversation| DenseConversation { conversation, min_likeness, repeat });
    Ok(Box::new(Dense { depth, conversation, space }))
}

impl Dense {
    /// Ranks the same documents for several requests.
    fn rank(&self, batch: &Batch, requests: &[Request], docs: &[Doc]) -> Result<Vec<Ranking>> {
        let context = batch.context;
        let space = context.space(&self.space)?;
        let depth = self.depth.map_or(usize::MAX, NonZeroUsize::get);
        // All have the same candidates, or none has any.
        let depth = requests.first().map_or(depth, |request| request.depth(depth));
        if let Some(conversation) = &self.conversation {
            let over = Over { context, space: &space, docs };
            return conversation.rank(over, requests, depth, batch.progress);
        }
        let texts: Vec<Cow<str>> = requests.iter().map(Request::flatten).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let scores = space.to_documents(context.models, &texts, docs)?;
        (batch.progress)(requests.len() as u64);
        let rank = |row: ndarray::ArrayView1<f32>| rank_by_score(docs, row.iter().copied(), depth);
        Ok(scores.rows().into_iter().map(rank).collect())
    }
}

impl Stage for Dense {
    fn about(&self) -> About {
        let mut models = self.space.models();
        models.extend(self.conversation.as_ref().and_then(DenseConversation::model));
        About { models, ..About::new("dense", self) }
    }

    fn apply(&self, batch: &Batch, _: Vec<Ranking>) -> Result<Vec<Ranking>> {
        // Opened before the first request, so that a run knows its weights before it ranks.
        batch.context.space(&self.space)?;
        let all = batch.context.documents_with_text()?;
        let mut rankings = Vec::with_capacity(batch.requests.len());
        for requests in batch.requests.chunk_by(|one, next| one.candidates == next.candidates) {
            let own = requests.first().and_then(|request| request.candidates.as_deref());
            rankings.extend(self.rank(batch, requests, own.unwrap_or(all))?);
        }
        Ok(rankings)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let space = one.context.space(&self.space)?;
        let Some(request) = one.requests.first() else { return Ok(None) };
        let Some(conversation) = &self.conversation else {
            return space.explain(one.context.models, &request.flatten(), doc).map(Some);
        };
        let docs = match &request.candidates {
            Some(own) => own,
            None => one.context.documents_with_text()?,
        };
        let over = Over { context: one.context, space: &space, docs };
        conversation.explain(over, request, doc).map(Some)
    }
}
