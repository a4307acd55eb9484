//! Traits for learned models, and for whatever opens them by name. No engine is known here.

use crate::history::{History, HistoryWeights, Said};
use crate::problem::{Error, Location, Problem, ProblemKind};
use std::fmt;
use std::sync::Arc;

/// Called with the number of items finished since the last call, from any thread.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// Vectors of one length, one row per text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embeddings {
    /// The length of a vector.
    pub dim: usize,
    /// All rows, one after the other.
    pub values: Vec<f32>,
}

impl Embeddings {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dim).unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// One row.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.dim..(index + 1) * self.dim]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dim.max(1))
    }
}

/// Texts in, vectors of length 1 out: the dot product of two is their cosine similarity.
pub trait Encoder: Send + Sync {
    /// Encodes texts, one row per text, in order. `progress` counts texts.
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings, Error>;

    /// Encodes each text by itself: its vector is the same to the last bit, whatever else is
    /// encoded. Slower, because texts of one length are not computed together.
    fn encode_apart(&self, texts: &[&str], progress: Progress) -> Result<Embeddings, Error> {
        let mut all = Embeddings::default();
        for &text in texts {
            let one = self.encode(&[text], progress)?;
            all.dim = one.dim;
            all.values.extend(one.values);
        }
        Ok(all)
    }

    /// What identifies the weights and everything else that the vectors depend on.
    fn checksum(&self) -> &str;
}

/// Conversations in, vectors of length 1 out, in the space of an encoder of texts: near to the
/// vector that it would give to the last utterance, were it written so that it can be understood
/// alone.
pub trait ConversationEncoder: Send + Sync {
    /// The encoder of texts whose space the vectors are in, by the name that stages give it.
    fn space(&self) -> &str;

    /// How the encoder of texts gives a conversation the vector that this model begins with.
    fn weights(&self) -> &HistoryWeights;

    /// Encodes each conversation by itself, so that its vector is the same to the last bit,
    /// whatever else is encoded. `untrained` has a row per conversation, made with
    /// [`weights`](Self::weights) by [`untrained_vectors`](crate::untrained_vectors).
    fn encode(
        &self,
        conversations: &[History],
        untrained: &Embeddings,
    ) -> Result<Embeddings, Error>;

    /// What identifies the weights and everything else that the vectors depend on.
    fn checksum(&self) -> &str;
}

/// The sum of vectors by their weights, of length 1; zeros where nothing is summed.
pub fn weighted_sum<'v>(
    dim: usize,
    vectors: impl IntoIterator<Item = (&'v [f32], f64)>,
) -> Vec<f32> {
    let mut sum = vec![0.0_f32; dim];
    for (vector, weight) in vectors {
        let weight = weight as f32;
        for (sum, value) in sum.iter_mut().zip(vector) {
            *sum += weight * value;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in &mut sum {
            *value /= length;
        }
    }
    sum
}

/// The vector of each conversation by an encoder that knows nothing of conversations: the weighted
/// sum of the vectors of its texts. `encode` is called once, with all texts.
pub fn untrained_vectors<E>(
    conversations: &[History],
    weights: &HistoryWeights,
    encode: impl FnOnce(&[&str]) -> Result<Embeddings, E>,
) -> Result<Embeddings, E> {
    let said: Vec<Vec<Said>> = conversations.iter().map(|history| history.said(weights)).collect();
    let texts: Vec<&str> = said.iter().flatten().map(|said| said.text.as_ref()).collect();
    let encoded = encode(&texts)?;
    let mut rows = encoded.rows();
    let mut values = Vec::with_capacity(conversations.len() * encoded.dim);
    for said in &said {
        let weights = said.iter().map(|said| said.weight);
        // The weights come first, so that no row is taken after the last of them.
        let weighted = weights.zip(rows.by_ref()).map(|(weight, row)| (row, weight));
        values.extend(weighted_sum(encoded.dim, weighted));
    }
    Ok(Embeddings { dim: encoded.dim, values })
}

/// Pairs of request and document in, logits out: the higher, the better the document fits.
pub trait PairScorer: Send + Sync {
    /// Scores pairs, one logit per pair, in order. `progress` counts pairs.
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>, Error>;

    /// What identifies the weights and everything else that the logits depend on.
    fn checksum(&self) -> &str;
}

/// The kinds of learned models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelKind {
    /// Texts to vectors.
    Encoder,
    /// Conversations to vectors.
    ConversationEncoder,
    /// Pairs to scores.
    CrossEncoder,
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Encoder => "an encoder",
            Self::ConversationEncoder => "a conversational encoder",
            Self::CrossEncoder => "a cross-encoder",
        })
    }
}

/// A model as a stage asks for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName {
    /// The name that the configuration gives.
    pub name: String,
    /// What it must be.
    pub kind: ModelKind,
}

/// Opens models by the names that configurations give them.
pub trait Models: Send + Sync {
    /// Opens the encoder of that name.
    fn encoder(&self, name: &str) -> Result<Arc<dyn Encoder>, Error>;

    /// Opens the conversational encoder of that name.
    fn conversation_encoder(&self, name: &str) -> Result<Arc<dyn ConversationEncoder>, Error> {
        Err(NoModels::refusal(name))
    }

    /// Opens the cross-encoder of that name.
    fn pair_scorer(&self, name: &str) -> Result<Arc<dyn PairScorer>, Error>;

    /// Trains whatever has to be trained before the model can be opened, so that the progress of a
    /// run does not include it. Opening a model does the same where this was not called.
    fn prepare(&self, _model: &ModelName) -> Result<(), Error> {
        Ok(())
    }

    /// What identifies the weights of an opened model, for the record of a run.
    fn checksum(&self, _name: &str) -> Option<String> {
        None
    }

    /// Encodes all documents, in the order of their numbers; may come from a cache.
    fn embed_documents(
        &self,
        encoder: &str,
        texts: &[&str],
        progress: Progress,
    ) -> Result<Arc<Embeddings>, Error> {
        Ok(Arc::new(self.encoder(encoder)?.encode(texts, progress)?))
    }
}

/// For programs without learned models: opening one is an error that says how to get them.
pub struct NoModels;

impl NoModels {
    /// The error that there is no such model.
    pub fn refusal(name: &str) -> Error {
        let at = Location::file(format!("model `{name}`"));
        let (expected, found) = ("a clariq with learned stages", "one that was built without them");
        Problem::new(at, ProblemKind::Model, expected, found)
            .hint(
                "`pip install clariq-learned` adds them, or `scripts/install` in a clone; \
                 `clariq setup` installs libtorch where it is missing",
            )
            .into()
    }
}

impl Models for NoModels {
    fn encoder(&self, name: &str) -> Result<Arc<dyn Encoder>, Error> {
        Err(Self::refusal(name))
    }

    fn pair_scorer(&self, name: &str) -> Result<Arc<dyn PairScorer>, Error> {
        Err(Self::refusal(name))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Utterance;

    #[test]
    fn a_vector_is_the_sum_of_its_texts_by_weight() {
        let said =
            [Utterance::user("first"), Utterance::system("A. B? C"), Utterance::user("third")];
        let histories = [History::of(&said[..1]), History::of(&said)];
        let weights = HistoryWeights { context: 0.0, system: 0.5, decay: 0.0 };
        let encode = |texts: &[&str]| {
            assert_eq!(texts, ["first", "third", "A. B? C"]);
            Ok::<_, ()>(Embeddings { dim: 2, values: vec![1.0, 0.0, 0.0, 2.0, 2.0, 0.0] })
        };
        let vectors = untrained_vectors(&histories, &weights, encode).unwrap();
        assert_eq!(vectors.row(0), [1.0, 0.0]);
        let length = 5.0_f32.sqrt();
        assert_eq!(vectors.row(1), [1.0 / length, 2.0 / length]);
    }
}
