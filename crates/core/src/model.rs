//! Learned models: what each kind can do, how one is run, and whatever opens them by name. No engine
//! is known here.

use crate::embeddings::Embeddings;
use crate::history::{History, HistoryWeights};
use crate::isa::Isa;
use crate::problem;
use crate::problem::{Error, Result};
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// Called with the number of items finished since the last call, from any thread.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// Texts in, vectors of length 1 out: the dot product of two is their cosine similarity.
pub trait Encoder: Send + Sync {
    /// Encodes texts, one row per text, in order. `progress` counts texts.
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings>;

    /// Encodes each text by itself: its vector is the same to the last bit, whatever else is
    /// encoded. Slower, because texts of one length are not computed together.
    fn encode_apart(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
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
    fn encode(&self, conversations: &[History], untrained: &Embeddings) -> Result<Embeddings>;

    /// What identifies the weights and everything else that the vectors depend on.
    fn checksum(&self) -> &str;
}

/// Pairs of request and document in, logits out: the higher, the better the document fits.
pub trait PairScorer: Send + Sync {
    /// Scores pairs, one logit per pair, in order. `progress` counts pairs.
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>>;

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

/// A model that is open, by its kind.
#[derive(Clone)]
pub enum Model {
    /// See [`ModelKind::Encoder`].
    Encoder(Arc<dyn Encoder>),
    /// See [`ModelKind::ConversationEncoder`].
    ConversationEncoder(Arc<dyn ConversationEncoder>),
    /// See [`ModelKind::CrossEncoder`].
    CrossEncoder(Arc<dyn PairScorer>),
}

impl Model {
    /// What identifies the weights and everything else that the model's numbers depend on.
    pub fn checksum(&self) -> &str {
        match self {
            Self::Encoder(model) => model.checksum(),
            Self::ConversationEncoder(model) => model.checksum(),
            Self::CrossEncoder(model) => model.checksum(),
        }
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

impl ModelName {
    /// A name of a kind.
    pub fn new(name: impl Into<String>, kind: ModelKind) -> Self {
        Self { name: name.into(), kind }
    }

    /// The error that the model of this name is of another kind.
    fn mismatch(&self) -> Error {
        problem!(format!("model `{}`", self.name), (self.kind.to_string()), "another kind").into()
    }
}

/// Opens models by the names that configurations give them.
pub trait Models: Send + Sync {
    /// Opens the model of that name, which must be of that kind.
    fn open(&self, model: &ModelName) -> Result<Model>;

    /// Encodes all documents, in the order of their numbers; may come from a cache.
    fn embed_documents(
        &self,
        encoder: &str,
        texts: &[&str],
        progress: Progress,
    ) -> Result<Arc<Embeddings>> {
        Ok(Arc::new(self.encoder(encoder)?.encode(texts, progress)?))
    }

    /// Opens the encoder of that name.
    fn encoder(&self, name: &str) -> Result<Arc<dyn Encoder>> {
        let model = ModelName::new(name, ModelKind::Encoder);
        let Model::Encoder(encoder) = self.open(&model)? else { return Err(model.mismatch()) };
        Ok(encoder)
    }

    /// Opens the conversational encoder of that name.
    fn conversation_encoder(&self, name: &str) -> Result<Arc<dyn ConversationEncoder>> {
        let model = ModelName::new(name, ModelKind::ConversationEncoder);
        match self.open(&model)? {
            Model::ConversationEncoder(encoder) => Ok(encoder),
            _ => Err(model.mismatch()),
        }
    }

    /// Opens the cross-encoder of that name.
    fn pair_scorer(&self, name: &str) -> Result<Arc<dyn PairScorer>> {
        let model = ModelName::new(name, ModelKind::CrossEncoder);
        let Model::CrossEncoder(scorer) = self.open(&model)? else { return Err(model.mismatch()) };
        Ok(scorer)
    }
}

/// For programs without learned models: opening one is an error that says how to get them.
pub struct NoModels;

impl NoModels {
    /// The error that there is no such model.
    pub fn refusal(name: &str) -> Error {
        problem!(
            format!("model `{name}`"),
            "a clariq with learned models",
            "one that was built without them",
            "`pip install clariq-learned` adds them, or `scripts/install` in a clone; `clariq \
             setup` installs libtorch where it is missing"
        )
        .into()
    }
}

impl Models for NoModels {
    fn open(&self, model: &ModelName) -> Result<Model> {
        Err(Self::refusal(&model.name))
    }
}

/// The numbers that a network computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Precision {
    /// 32-bit floats.
    #[default]
    F32,
    /// 16-bit floats with 8 bits of mantissa: faster on processors that multiply them, and off by
    /// up to 1 %.
    Bf16,
}

impl fmt::Display for Precision {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::F32 => "f32",
            Self::Bf16 => "bf16",
        })
    }
}

/// How a model is run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ModelOptions {
    /// `cpu`, or `cuda:0` and so on.
    pub device: String,
    /// The numbers it computes with.
    pub precision: Precision,
    /// Threads on the CPU.
    pub threads: usize,
    /// Where longer texts are cut, in tokens; without it they are refused if the model cannot read
    /// them.
    pub max_tokens: Option<usize>,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self { device: "cpu".to_owned(), precision: Precision::F32, threads: 1, max_tokens: None }
    }
}

impl ModelOptions {
    /// The instruction set that a model computes with under these options, or `cuda`.
    pub fn computes_with(&self) -> String {
        if self.device == "cpu" { Isa::effective() } else { "cuda".to_owned() }
    }
}
