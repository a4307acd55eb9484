//! The table `[models.NAME]` of a system.

use crate::calls::Calls;
use crate::chat::ChatEndpoint;
use crate::embed::EmbedEndpoint;
use crate::rerank::RerankEndpoint;
use crate::server::{Server, key_of};
use clariq_core::{
    Location, Model, ModelKind, ModelName, Observer, ReadingOverrides, Result, bail,
};
use clariq_files::check_address;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The task of a model behind an endpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointKind {
    /// Conversations to texts.
    Chat,
    /// Texts to vectors.
    Embed,
    /// Pairs of request and document to scores.
    Rerank,
}

impl EndpointKind {
    fn name(self) -> &'static str {
        match self {
            Self::Chat => "chat",
            Self::Embed => "embed",
            Self::Rerank => "rerank",
        }
    }

    /// The kind of model that it is for stages.
    pub fn model_kind(self) -> ModelKind {
        match self {
            Self::Chat => ModelKind::Chat,
            Self::Embed => ModelKind::Encoder,
            Self::Rerank => ModelKind::CrossEncoder,
        }
    }
}

/// The paths and JSON forms of a server's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Dialect {
    /// The API of `OpenAI`; for reranking, the API of vLLM, llama.cpp, Jina and Cohere.
    #[default]
    V1,
    /// The API of text-embeddings-inference.
    Tei,
}

/// The table `[models.NAME]` of a system: a model behind an endpoint.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EndpointConfig {
    pub kind: EndpointKind,
    /// The address, up to and including the version: `http://localhost:8080/v1`.
    #[serde(skip_serializing)]
    pub(crate) url: String,
    /// The name of the model on the server.
    pub(crate) model: String,
    #[serde(default)]
    pub(crate) dialect: Dialect,
    /// The number of concurrent calls.
    #[serde(default = "eight", skip_serializing)]
    pub(crate) concurrency: NonZeroUsize,
    /// Seconds for a connection and for a whole answer.
    #[serde(default = "two_minutes", skip_serializing)]
    pub(crate) timeout: NonZeroUsize,
    /// Number of retries for a call without an answer, or while the server is too busy.
    #[serde(default = "three", skip_serializing)]
    pub(crate) retries: u32,
    /// A PEM file with the authority of the server's certificate.
    #[serde(skip_serializing)]
    pub(crate) ca: Option<PathBuf>,
    /// Documents of a call (`embed`, `rerank`).
    #[serde(skip_serializing)]
    pub(crate) batch: Option<NonZeroUsize>,
    /// True if the server truncates texts that are too long instead of refusing them (`tei`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) truncate: Option<bool>,
    /// The length that vectors must have (`embed`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) dimensions: Option<NonZeroUsize>,
    /// Text before every request (`embed`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) query_prompt: Option<String>,
    /// Text before every document (`embed`).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) document_prompt: Option<String>,
    /// True if vectors are scaled to length 1 and compared by cosine, and not by dot product
    /// (`embed`; the default is true).
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) normalise: Option<bool>,
}

fn eight() -> NonZeroUsize {
    const { NonZeroUsize::new(8).unwrap() }
}

fn two_minutes() -> NonZeroUsize {
    const { NonZeroUsize::new(120).unwrap() }
}

fn three() -> u32 {
    3
}

/// The address may be private: it appears only in error messages about the server.
impl fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.describe())
    }
}

/// More connections than this are a mistake.
const MOST_CONCURRENT: usize = 256;

impl EndpointConfig {
    /// Refuses an address with secrets, and keys that the kind or the dialect does not have.
    pub fn check(&self, at: &Location) -> Result<()> {
        let hint = "the environment variable CLARIQ_API_KEY holds the key";
        check_address(at, &self.url, hint)?;
        let is_embed = self.kind == EndpointKind::Embed;
        let is_tei = self.is_tei();
        let keys = [
            ("batch", self.batch.is_some(), self.kind != EndpointKind::Chat),
            ("truncate", self.truncate.is_some(), is_tei),
            ("dimensions", self.dimensions.is_some(), is_embed),
            ("query_prompt", self.query_prompt.is_some(), is_embed),
            ("document_prompt", self.document_prompt.is_some(), is_embed),
            ("normalise", self.normalise.is_some(), is_embed),
        ];
        for (key, is_there, is_known) in keys {
            if is_there && !is_known {
                let found = format!("the key `{key}`");
                let dialect = if is_tei { "tei" } else { "v1" };
                let kind = self.kind.name();
                let hint = "the documentation lists the keys of each kind (reference, Models)";
                bail!(at, "keys of kind `{kind}` and dialect `{dialect}`", found, hint);
            }
        }
        if is_tei && self.kind == EndpointKind::Chat {
            let hint = "text-embeddings-inference has no chat models";
            bail!(at, "dialect = \"v1\" for kind = \"chat\"", "\"tei\"", hint);
        }
        if self.concurrency.get() > MOST_CONCURRENT {
            let found = self.concurrency.to_string();
            bail!(at, "concurrency from 1 to {MOST_CONCURRENT}", found);
        }
        Ok(())
    }

    pub(crate) fn is_tei(&self) -> bool {
        self.dialect == Dialect::Tei
    }

    /// Everything that determines the output, as JSON: no address and no key.
    pub fn describe(&self) -> String {
        serde_json::to_string(self).unwrap_or_default()
    }

    /// Opens the model. `cache` is the folder of answers.
    ///
    /// # Errors
    ///
    /// Another kind of model, overrides of a model's folder, and a key that cannot be sent.
    pub fn open(
        &self,
        model: &ModelName,
        calls: &Arc<Calls>,
        cache: &Path,
        observer: &dyn Observer,
    ) -> Result<Model> {
        let at = format!("model `{}`", model.name);
        if self.kind.model_kind() != model.kind {
            let found = format!("kind = \"{}\" in [models]", self.kind.name());
            let hint =
                "stages with a space take `embed`, `rerank` and `cross_encode` take `rerank`";
            bail!(at, (model.kind.to_string()), found, hint);
        }
        if model.reading != ReadingOverrides::default() {
            let found = model.label();
            let hint = "only the server's own options change how it reads texts; prompts are keys of [models.NAME]";
            bail!(at, "a model behind an endpoint without overrides", found, hint);
        }
        let key = key_of(&model.name)?;
        let server = Server::open(&model.name, self, key, Arc::clone(calls), cache, observer)?;
        Ok(match self.kind {
            EndpointKind::Chat => Model::Chat(Arc::new(ChatEndpoint::new(server))),
            EndpointKind::Embed => Model::Encoder(Arc::new(EmbedEndpoint::new(server)?)),
            EndpointKind::Rerank => Model::CrossEncoder(Arc::new(RerankEndpoint { server })),
        })
    }
}
