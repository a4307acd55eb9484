//! Similarities of documents to what a conversational encoder takes the last utterance of a
//! conversation to mean.

use crate::context::Context;
use crate::space::Space;
use clariq_core::Error;
use clariq_core::{Doc, Embeddings, Explanation, History, ModelKind, ModelName, untrained_vectors};
use ndarray::Array2;
use serde::{Deserialize, Serialize};

/// A conversational encoder, and what similarity to its vector counts.
#[derive(Debug, Clone, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Meaning {
    /// The encoder's name.
    model: String,
    /// What the similarity counts where that to the last utterance counts 1.
    pub(super) weight: f64,
}

impl Meaning {
    /// The model that it asks for.
    pub(super) fn model(&self) -> ModelName {
        ModelName { name: self.model.clone(), kind: ModelKind::ConversationEncoder }
    }

    /// Weighted similarities of conversations (rows) to documents (columns).
    pub(super) fn score(
        &self,
        context: &Context,
        space: &Space,
        conversations: &[History],
        docs: &[Doc],
    ) -> Result<Array2<f32>, Error> {
        let encoder = context.models.conversation_encoder(&self.model)?;
        let untrained = untrained_vectors(conversations, encoder.weights(), |texts| {
            let (documents, models) = (context.documents, context.models);
            let vectors = space.encode_each(documents, models, encoder.space(), texts)?;
            Ok::<_, Error>(Embeddings {
                dim: vectors.ncols(),
                values: vectors.into_iter().collect(),
            })
        })?;
        let vectors = encoder.encode(conversations, &untrained)?;
        let likeness = space.vectors_to_documents(encoder.space(), &vectors, docs)?;
        Ok(likeness * self.weight as f32)
    }

    /// Explains what it adds to the score of a document.
    pub(super) fn explain(
        &self,
        context: &Context,
        space: &Space,
        said: &History,
        doc: Doc,
    ) -> Result<Explanation, Error> {
        let score = self.score(context, space, std::slice::from_ref(said), &[doc])?;
        let (score, weight) = (f64::from(score[[0, 0]]), self.weight);
        let likeness = if weight > 0.0 { score / weight } else { 0.0 };
        let what = format!("meaning by `{}`: {weight:.3} × {likeness:.6}", self.model);
        Ok(Explanation::value(score, what))
    }
}
