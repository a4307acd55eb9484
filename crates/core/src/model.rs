//! Learned models by kind, and the trait that opens them by name.

mod chat;
mod form;

use crate::checksum::Checksum;
use crate::document::Documents;
use crate::embeddings::Embeddings;
use crate::encoder::{Decoding, DocumentVectors, Encoder, PairScorer, Progress, TextGenerator};
use crate::problem;
use crate::problem::{Error, ProblemKind, Result};
use crate::reading::{CutTexts, ReadingOverrides};
use crate::sparse::SparseEncoder;
use std::fmt;
use std::io::Write;
use std::sync::Arc;

pub use chat::{
    ChatMessage, ChatModel, ChatParameters, ChatRequest, ChatRole, Completion, EachCompletion,
    Thinking,
};
pub use form::{Answer, AnswerForm, AnswerFormat, CitedSentence, DocumentOrder, is_json};

/// The kinds of learned models.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum ModelKind {
    /// Texts to vectors.
    Encoder,
    /// Texts to weights of words.
    Sparse,
    /// Pairs to scores.
    CrossEncoder,
    /// Texts to texts.
    TextGenerator,
    /// Conversations to texts.
    Chat,
}

impl ModelKind {
    /// The kinds of models that are folders.
    pub const OF_FOLDERS: [Self; 4] =
        [Self::Encoder, Self::Sparse, Self::CrossEncoder, Self::TextGenerator];

    /// The stage that usually has a model of this kind.
    pub fn usual_stage(self) -> &'static str {
        match self {
            Self::Encoder => "dense",
            Self::Sparse => "sparse",
            Self::CrossEncoder => "rerank",
            Self::TextGenerator => "rewrite",
            Self::Chat => "chat_rerank",
        }
    }
}

impl fmt::Display for ModelKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::Encoder => "an encoder",
            Self::Sparse => "a sparse encoder",
            Self::CrossEncoder => "a cross-encoder",
            Self::TextGenerator => "a model that generates text",
            Self::Chat => "a chat model",
        })
    }
}

/// A model that is open, by its kind.
#[derive(Clone)]
pub enum Model {
    /// See [`ModelKind::Encoder`].
    Encoder(Arc<dyn Encoder>),
    /// See [`ModelKind::Sparse`].
    Sparse(Arc<dyn SparseEncoder>),
    /// See [`ModelKind::CrossEncoder`].
    CrossEncoder(Arc<dyn PairScorer>),
    /// See [`ModelKind::TextGenerator`].
    TextGenerator(Arc<dyn TextGenerator>),
    /// See [`ModelKind::Chat`].
    Chat(Arc<dyn ChatModel>),
}

impl Model {
    /// Checksum of everything that determines the output.
    pub fn checksum(&self) -> &Checksum {
        match self {
            Self::Encoder(model) => model.checksum(),
            Self::Sparse(model) => model.checksum(),
            Self::CrossEncoder(model) => model.checksum(),
            Self::TextGenerator(model) => model.checksum(),
            Self::Chat(model) => model.checksum(),
        }
    }

    /// The texts or pairs that were cut so far.
    pub fn cut(&self) -> CutTexts {
        match self {
            Self::Encoder(model) => model.cut(),
            Self::Sparse(model) => model.cut(),
            Self::CrossEncoder(model) => model.cut(),
            Self::TextGenerator(model) => model.cut(),
            Self::Chat(_) => CutTexts::default(),
        }
    }
}

/// The name of a model, as a stage uses it.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ModelName {
    /// The name that the configuration gives.
    pub name: String,
    /// The kind that its user needs; a model of another kind is refused.
    pub kind: ModelKind,
    /// Overrides of its folder.
    pub reading: ReadingOverrides,
}

impl ModelName {
    /// A model of a kind, without overrides.
    pub fn new(name: impl Into<String>, kind: ModelKind) -> Self {
        Self { name: name.into(), kind, reading: ReadingOverrides::default() }
    }

    /// An encoder without overrides.
    pub fn encoder(name: impl Into<String>) -> Self {
        Self::new(name, ModelKind::Encoder)
    }

    /// The name of the model in the record of a run.
    pub fn label(&self) -> String {
        match serde_json::to_string(&self.reading) {
            Ok(reading) if self.reading != ReadingOverrides::default() => {
                format!("{} {reading}", self.name)
            }
            _ => self.name.clone(),
        }
    }

    fn mismatch(&self) -> Error {
        problem!(format!("model `{}`", self.name), (self.kind.to_string()), "another kind").into()
    }
}

/// Bytes in memory or of a file that is mapped into it.
pub type SharedBytes = Arc<dyn AsRef<[u8]> + Send + Sync>;

/// Something that is computed once from a model and documents, such as an index.
#[derive(Debug, Clone, Copy)]
pub struct Kept<'k> {
    /// The model that it is computed by.
    pub model: &'k ModelName,
    /// The folder of the cache.
    pub folder: &'k str,
    /// Its name for messages, in the plural.
    pub what: &'k str,
    /// Everything that it depends on.
    pub key: &'k str,
    /// The number of documents that it is computed from.
    pub documents: usize,
}

/// Writes what is kept, and counts the documents that it has finished.
pub type MakeKept<'m> = &'m dyn Fn(&mut dyn Write, Progress) -> Result<()>;

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

    /// The bytes that `make` writes; may come from a cache.
    fn keep(&self, kept: &Kept, make: MakeKept) -> Result<SharedBytes> {
        let _ = kept;
        let mut bytes = Vec::new();
        make(&mut bytes, &|_| {})?;
        Ok(Arc::new(bytes))
    }

    /// Encodes requests ([`Encoder::encode`]); may come from a cache.
    fn embed_requests(&self, model: &ModelName, texts: &[&str]) -> Result<Embeddings> {
        self.encoder(model)?.encode(texts, &|_| {})
    }

    /// Generates a text for each text ([`TextGenerator::generate`]); may come from a cache.
    fn generate(
        &self,
        model: &ModelName,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>> {
        self.text_generator(model)?.generate(texts, decoding, progress)
    }

    /// Opens a model that must be a chat model.
    fn chat_model(&self, model: &ModelName) -> Result<Arc<dyn ChatModel>> {
        let Model::Chat(chat) = self.open(model)? else { return Err(model.mismatch()) };
        Ok(chat)
    }

    /// Opens a model that must generate text.
    fn text_generator(&self, model: &ModelName) -> Result<Arc<dyn TextGenerator>> {
        let Model::TextGenerator(model) = self.open(model)? else { return Err(model.mismatch()) };
        Ok(model)
    }

    /// Opens a model that must be an encoder.
    fn encoder(&self, model: &ModelName) -> Result<Arc<dyn Encoder>> {
        let Model::Encoder(encoder) = self.open(model)? else { return Err(model.mismatch()) };
        Ok(encoder)
    }

    /// Opens a model that must be a sparse encoder.
    fn sparse_encoder(&self, model: &ModelName) -> Result<Arc<dyn SparseEncoder>> {
        let Model::Sparse(encoder) = self.open(model)? else { return Err(model.mismatch()) };
        Ok(encoder)
    }

    /// Opens a model that must be a cross-encoder.
    fn pair_scorer(&self, model: &ModelName) -> Result<Arc<dyn PairScorer>> {
        let Model::CrossEncoder(scorer) = self.open(model)? else { return Err(model.mismatch()) };
        Ok(scorer)
    }
}

/// The models of a program without learned models: opening one is an error with a hint.
pub struct NoModels;

impl NoModels {
    /// The error that there is no such model.
    pub fn refusal(name: &str) -> Error {
        problem!(
            format!("model `{name}`"),
            "a clariq with learned models",
            "one that was built without them",
            "`scripts/install` in a clone adds them; the page Install has all ways"
        )
        .kind(ProblemKind::NoEngine)
        .into()
    }
}

impl Models for NoModels {
    fn open(&self, model: &ModelName) -> Result<Model> {
        Err(Self::refusal(&model.name))
    }
}
