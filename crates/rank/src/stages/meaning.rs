//! Similarities of documents to what a conversational encoder takes the last utterance to mean.

use crate::context::Context;
use crate::space::{Encoded, Space};
use clariq_core::{
    Doc, Embeddings, Explanation, History, ModelKind, ModelName, Result, untrained_vectors,
};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

#[derive(Clone, Copy)]
pub(super) struct Over<'a> {
    pub(super) context: &'a Context<'a>,
    pub(super) space: &'a Space,
    /// The documents, in ascending order.
    pub(super) docs: &'a [Doc],
}

/// A conversational encoder, and what similarity to its vector counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meaning {
    model: String,
    /// What the similarity counts where that to the last utterance counts 1.
    pub(super) weight: f64,
}

impl Meaning {
    pub(super) fn model(&self) -> ModelName {
        ModelName::new(&*self.model, ModelKind::ConversationEncoder)
    }

    pub(super) fn of<'a>(&self, over: Over<'a>, conversations: &[History]) -> Result<Meant<'a>> {
        let Over { context, space, .. } = over;
        let encoder = context.models.conversation_encoder(&self.model())?;
        let base = space.encoder(encoder.space())?;
        let encode = |texts: &[&str]| base.encode_each(context.documents, context.models, texts);
        let untrained = untrained_vectors(conversations, encoder.weights(), encode)?;
        let vectors =
            context.models.embed_conversations(&self.model(), conversations, &untrained)?;
        Ok(Meant { base, vectors, weight: self.weight as f32 })
    }

    pub(super) fn explain(&self, over: Over, said: History, doc: Doc) -> Result<Explanation> {
        let score = self.of(over, &[said])?.score(&[doc])?;
        let (score, weight) = (f64::from(score[[0, 0]]), self.weight);
        let likeness = if weight > 0.0 { score / weight } else { 0.0 };
        let what = format!("meaning by `{}`: {weight:.3} × {likeness:.6}", self.model);
        Ok(Explanation::value(score, what))
    }
}

/// What conversations were taken to mean: a vector each.
pub(super) struct Meant<'a> {
    base: &'a Encoded,
    vectors: Embeddings,
    weight: f32,
}

impl Meant<'_> {
    /// The vector of a conversation, and what similarity to it counts.
    pub(super) fn weighted(&self, conversation: usize) -> (f32, &[f32]) {
        (self.weight, self.vectors.row(conversation))
    }

    /// Weighted similarities of conversations (rows) to documents (columns).
    pub(super) fn score(&self, docs: &[Doc]) -> Result<Array2<f32>> {
        let mut score = Array2::zeros((self.vectors.len(), docs.len()));
        let all = 0..self.vectors.len();
        self.base.add_similarities(&self.vectors, all, docs, self.weight, &mut score)?;
        Ok(score)
    }
}
