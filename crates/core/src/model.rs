//! Learned models: what each kind can do, how one is run, and what opens them by name.

use crate::document::Documents;
use crate::embeddings::{DocumentVectors, Embeddings};
use crate::problem;
use crate::problem::{Error, Result};
use crate::processor::instruction_set;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroUsize;
use std::sync::Arc;

/// Called with the number of items finished since the last call, from any thread.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// The similarity of two vectors. Vectors for cosine have length 1, so both are dot products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Similarity {
    /// The cosine of the angle between them.
    Cosine,
    /// Their dot product.
    Dot,
}

/// A way to make one vector of the vectors of a text's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The vector of the first token.
    Cls,
    /// The largest value of each dimension.
    Max,
    /// The mean.
    Mean,
    /// The sum divided by the square root of the number of tokens.
    #[serde(rename = "mean_sqrt_len_tokens", alias = "mean_sqrt_len")]
    MeanSqrtLen,
    /// The mean with the weights 1, 2, 3 and so on (Muennighoff, arXiv 2202.08904).
    WeightedMean,
    /// The vector of the last token.
    LastToken,
}

/// Overrides of a model's folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reading {
    /// Where longer texts or pairs are cut, in tokens, and at most where the model's positions end.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,
    /// Text that an encoder puts before a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_prompt: Option<String>,
    /// Text that an encoder puts before a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_prompt: Option<String>,
    /// How an encoder makes one vector of those of tokens.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooling: Option<Pooling>,
    /// The similarity of an encoder's vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<Similarity>,
}

/// Texts in, vectors out: the dot product of two is their similarity.
pub trait Encoder: Send + Sync {
    /// Encodes requests, one row per text, in order. Each is computed by itself, so that its vector
    /// does not depend on the others. `progress` counts texts.
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings>;

    /// Encodes documents, one row per text, in order. Some models read them with another prompt than
    /// requests. Documents may be computed together, which is faster; the last digits of a vector
    /// then depend on the others.
    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode(texts, progress)
    }

    /// The meaning of the dot product of two vectors.
    fn similarity(&self) -> Similarity {
        Similarity::Cosine
    }

    /// Number of texts so far that exceeded the model's length and were cut.
    fn cut(&self) -> usize {
        0
    }

    /// Checksum of everything that determines the vectors.
    fn checksum(&self) -> &str;
}

/// Pairs of request and document in, logits out: the higher, the better the document fits.
pub trait PairScorer: Send + Sync {
    /// Scores pairs, one logit per pair, in order. `progress` counts pairs.
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>>;

    /// Number of pairs so far that exceeded the model's length and were cut.
    fn cut(&self) -> usize {
        0
    }

    /// Checksum of everything that determines the logits.
    fn checksum(&self) -> &str;
}

/// How a model writes a text: the best of some that it writes token by token.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decoding {
    /// Texts that are continued at each step; with 1, always the most probable token.
    pub beams: NonZeroUsize,
    /// The exponent of a text's length that its log-probability is divided by.
    pub length_penalty: f64,
    /// Tokens of a text at most, with the one that it begins behind.
    pub max_length: usize,
    /// Whether the search ends as soon as there are as many whole texts as beams.
    pub early_stopping: bool,
}

/// Conversations as texts in, their last utterances out, written so that each can be understood alone.
pub trait Rewriter: Send + Sync {
    /// Writes a text for each, in order; it does not depend on the others. `progress` counts texts.
    fn rewrite(
        &self,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>>;

    /// Number of texts so far that exceeded the model's length and were cut.
    fn cut(&self) -> usize {
        0
    }

    /// Checksum of everything that determines the texts.
    fn checksum(&self) -> &str;
}

/// The kinds of learned models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelKind {
    /// Texts to vectors.
    Encoder,
    /// Pairs to scores.
    CrossEncoder,
    /// Texts to texts.
    Rewriter,
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Encoder => "an encoder",
            Self::CrossEncoder => "a cross-encoder",
            Self::Rewriter => "a model that rewrites utterances",
        })
    }
}

/// A model that is open, by its kind.
#[derive(Clone)]
pub enum Model {
    /// See [`ModelKind::Encoder`].
    Encoder(Arc<dyn Encoder>),
    /// See [`ModelKind::CrossEncoder`].
    CrossEncoder(Arc<dyn PairScorer>),
    /// See [`ModelKind::Rewriter`].
    Rewriter(Arc<dyn Rewriter>),
}

impl Model {
    /// Checksum of everything that determines the output.
    pub fn checksum(&self) -> &str {
        match self {
            Self::Encoder(model) => model.checksum(),
            Self::CrossEncoder(model) => model.checksum(),
            Self::Rewriter(model) => model.checksum(),
        }
    }

    /// Number of texts or pairs that were cut so far.
    pub fn cut(&self) -> usize {
        match self {
            Self::Encoder(model) => model.cut(),
            Self::CrossEncoder(model) => model.cut(),
            Self::Rewriter(model) => model.cut(),
        }
    }
}

/// A model as a stage asks for it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName {
    /// The name that the configuration gives.
    pub name: String,
    /// The required kind.
    pub kind: ModelKind,
    /// Overrides of its folder.
    pub reading: Reading,
}

impl ModelName {
    /// A model of a kind that is read as its folder says.
    pub fn new(name: impl Into<String>, kind: ModelKind) -> Self {
        Self { name: name.into(), kind, reading: Reading::default() }
    }

    /// An encoder that is read as its folder says.
    pub fn encoder(name: impl Into<String>) -> Self {
        Self::new(name, ModelKind::Encoder)
    }

    /// The name by which a run's record knows the model.
    pub fn label(&self) -> String {
        match serde_json::to_string(&self.reading) {
            Ok(reading) if self.reading != Reading::default() => format!("{} {reading}", self.name),
            _ => self.name.clone(),
        }
    }

    fn mismatch(&self) -> Error {
        problem!(format!("model `{}`", self.name), (self.kind.to_string()), "another kind").into()
    }
}

/// Opens models by the names that configurations give them.
pub trait Models: Send + Sync {
    /// Opens the model of that name, which must be of that kind.
    fn open(&self, model: &ModelName) -> Result<Model>;

    /// Encodes all documents; may come from a cache.
    fn embed_documents(
        &self,
        model: &ModelName,
        documents: &dyn Documents,
        progress: Progress,
    ) -> Result<Arc<DocumentVectors>> {
        let encoder = self.encoder(model)?;
        Ok(Arc::new(DocumentVectors::encode(&*encoder, documents, progress)?))
    }

    /// Encodes requests ([`Encoder::encode`]); may come from a cache.
    fn embed_requests(&self, model: &ModelName, texts: &[&str]) -> Result<Embeddings> {
        self.encoder(model)?.encode(texts, &|_| {})
    }

    /// Rewrites what each text is of; may come from a cache.
    fn rewrite(
        &self,
        model: &ModelName,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>> {
        self.rewriter(model)?.rewrite(texts, decoding, progress)
    }

    /// Opens a model that must rewrite utterances.
    fn rewriter(&self, model: &ModelName) -> Result<Arc<dyn Rewriter>> {
        let Model::Rewriter(rewriter) = self.open(model)? else { return Err(model.mismatch()) };
        Ok(rewriter)
    }

    /// Opens a model that must be an encoder.
    fn encoder(&self, model: &ModelName) -> Result<Arc<dyn Encoder>> {
        let Model::Encoder(encoder) = self.open(model)? else { return Err(model.mismatch()) };
        Ok(encoder)
    }

    /// Opens a model that must be a cross-encoder.
    fn pair_scorer(&self, model: &ModelName) -> Result<Arc<dyn PairScorer>> {
        let Model::CrossEncoder(scorer) = self.open(model)? else { return Err(model.mismatch()) };
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
    /// 16-bit floats with 8 bits of mantissa: faster on some processors, and off by up to 1 %.
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
    /// Overrides of its folder.
    pub reading: Reading,
}

impl Default for ModelOptions {
    fn default() -> Self {
        Self {
            device: "cpu".to_owned(),
            precision: Precision::F32,
            threads: 1,
            reading: Reading::default(),
        }
    }
}

impl Reading {
    /// Cuts longer texts or pairs at so many tokens.
    pub fn cut_at(max_tokens: usize) -> Self {
        Self { max_tokens: Some(max_tokens), ..Self::default() }
    }
}

impl ModelOptions {
    /// The instruction set that a model computes with under these options, or `cuda`.
    pub fn computes_with(&self) -> &'static str {
        if self.device == "cpu" { instruction_set() } else { "cuda" }
    }
}
