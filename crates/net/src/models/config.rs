//! The table `[models.NAME]` of a system.

use super::parameters::Parameters;
use super::thinking::Marks;
use crate::service::{LONGEST_TIMEOUT, check_address};
use clariq_core::{Location, Result, bail, number, positive};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;
use std::num::NonZeroUsize;
use std::path::PathBuf;

/// The paths and JSON forms of a server's API.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum Dialect {
    /// The API of `OpenAI`; for reranking, the API of vLLM, llama.cpp, Jina and Cohere.
    #[default]
    V1,
    /// The API of text-embeddings-inference.
    Tei,
}

impl Dialect {
    pub(super) fn is_tei(self) -> bool {
        self == Self::Tei
    }
}

/// The dialect of chat models: text-embeddings-inference has none.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum ChatDialect {
    #[default]
    V1,
}

/// The dialect of sparse encoders.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum SparseDialect {
    #[default]
    Tei,
}

/// A table with the keys of every server before those of its kind. Serde's `flatten` would do the same,
/// but forgets the line of an unknown key and the names of those that are known.
macro_rules! table {
    ($(#[$about:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Eq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The address, up to and including the version: `http://localhost:8080/v1`.
            url: String,
            /// The name of the model on the server.
            model: String,
            /// The number of concurrent calls.
            #[serde(default = "positive::<8>")]
            concurrency: NonZeroUsize,
            /// Seconds for a connection and for a whole answer.
            #[serde(default = "positive::<120>")]
            timeout: NonZeroUsize,
            /// Number of retries for a call without an answer, or while the server is too busy.
            #[serde(default = "number::<3, _>")]
            retries: u32,
            /// A PEM file with the authority of the server's certificate.
            ca: Option<PathBuf>,
            $($own)*
        }

        impl $name {
            fn server(&self) -> ServerConfig<'_> {
                let Self { url, model, concurrency, timeout, retries, ca, .. } = self;
                ServerConfig {
                    url,
                    model,
                    concurrency: *concurrency,
                    timeout: *timeout,
                    retries: *retries,
                    ca: ca.as_ref(),
                }
            }
        }
    };
}

table! {
    /// A chat model behind a server.
    ChatConfig {
        #[serde(default)]
        dialect: ChatDialect,
        /// The marks around what the model thinks before it answers.
        #[serde(default)]
        pub(super) thinking: Marks,
        /// Parameters of requests: set, given another name, or left out.
        #[serde(default)]
        pub(super) parameters: Parameters,
    }
}

table! {
    /// An encoder behind a server.
    EmbedConfig {
        #[serde(default)]
        pub(super) dialect: Dialect,
        /// Documents of a call.
        #[serde(default = "positive::<DEFAULT_BATCH>")]
        pub(super) batch: NonZeroUsize,
        /// True if the server truncates texts that are too long instead of refusing them (`tei`).
        #[serde(default)]
        pub(super) truncate: bool,
        /// The length that vectors must have.
        pub(super) dimensions: Option<NonZeroUsize>,
        /// Text before every request.
        #[serde(default)]
        pub(super) query_prompt: String,
        /// Text before every document.
        #[serde(default)]
        pub(super) document_prompt: String,
        /// True if vectors are scaled to length 1 and compared by cosine, and not by dot product.
        #[serde(default = "yes")]
        pub(super) normalise: bool,
    }
}

table! {
    /// A sparse encoder behind a server: text-embeddings-inference alone has them.
    SparseConfig {
        #[serde(rename = "dialect", default)]
        _dialect: SparseDialect,
        /// Documents of a call.
        #[serde(default = "positive::<DEFAULT_BATCH>")]
        pub(super) batch: NonZeroUsize,
        /// True if the server truncates texts that are too long instead of refusing them.
        #[serde(default)]
        pub(super) truncate: bool,
        /// Text before every request.
        #[serde(default)]
        pub(super) query_prompt: String,
        /// Text before every document.
        #[serde(default)]
        pub(super) document_prompt: String,
    }
}

table! {
    /// A reranker behind a server.
    RerankConfig {
        #[serde(default)]
        pub(super) dialect: Dialect,
        /// Documents of a call.
        #[serde(default = "positive::<DEFAULT_BATCH>")]
        pub(super) batch: NonZeroUsize,
        /// True if the server truncates texts that are too long instead of refusing them (`tei`).
        #[serde(default)]
        pub(super) truncate: bool,
    }
}

/// The usual limit of text-embeddings-inference.
const DEFAULT_BATCH: usize = 32;

fn yes() -> bool {
    true
}

/// The keys of every server.
#[derive(Clone, Copy)]
pub(super) struct ServerConfig<'c> {
    pub(super) url: &'c str,
    pub(super) model: &'c str,
    pub(super) concurrency: NonZeroUsize,
    pub(super) timeout: NonZeroUsize,
    pub(super) retries: u32,
    pub(super) ca: Option<&'c PathBuf>,
}

/// A model behind a server, as the table `[models.NAME]` declares it: `kind` names the variant.
#[derive(Clone, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EndpointConfig {
    /// Conversations to texts.
    Chat(ChatConfig),
    /// Texts to vectors.
    Embed(EmbedConfig),
    /// Texts to weights of words.
    Sparse(SparseConfig),
    /// Pairs of request and document to scores.
    Rerank(RerankConfig),
}

/// More connections than this are a mistake.
const MOST_CONCURRENT: usize = 256;
/// Longer vectors than this are a mistake.
const MOST_DIMENSIONS: usize = 65_536;

impl EndpointConfig {
    /// The value of the key `kind`.
    pub(super) fn kind(&self) -> &'static str {
        match self {
            Self::Chat(_) => "chat",
            Self::Embed(_) => "embed",
            Self::Rerank(_) => "rerank",
            Self::Sparse(_) => "sparse",
        }
    }

    pub(super) fn server(&self) -> ServerConfig<'_> {
        match self {
            Self::Chat(config) => config.server(),
            Self::Embed(config) => config.server(),
            Self::Rerank(config) => config.server(),
            Self::Sparse(config) => config.server(),
        }
    }

    pub(super) fn is_tei(&self) -> bool {
        match self {
            Self::Chat(_) => false,
            Self::Embed(config) => config.dialect.is_tei(),
            Self::Rerank(config) => config.dialect.is_tei(),
            Self::Sparse(_) => true,
        }
    }

    /// True if the server itself chooses the temperature, which may be above 0: none is sent, or under
    /// another name that it may not know.
    pub fn samples(&self) -> bool {
        match self {
            Self::Chat(config) => config.parameters.samples(),
            Self::Embed(_) | Self::Sparse(_) | Self::Rerank(_) => false,
        }
    }

    /// Refuses an address with secrets, and values that no server has.
    pub fn check(&self, at: &Location) -> Result<()> {
        let server = self.server();
        let hint = "the environment variable CLARIQ_API_KEY holds the key";
        check_address(at, server.url, hint)?;
        // Gateways have servers below `/rerank` or `/embeddings`, and none below this path.
        if let Some(base) = server.url.trim_end_matches('/').strip_suffix("/chat/completions") {
            let found = format!("`{}`", server.url);
            let hint = format!("did you mean {base}? The path of each call is added to it");
            bail!(
                at,
                "an address up to its version, such as http://localhost:8080/v1",
                found,
                hint
            );
        }
        let truncates = match self {
            Self::Chat(config) => {
                config.parameters.check(at)?;
                false
            }
            Self::Embed(config) => {
                let dimensions = config.dimensions.map_or(1, usize::from);
                if dimensions > MOST_DIMENSIONS {
                    let found = dimensions.to_string();
                    bail!(at, "dimensions from 1 to {MOST_DIMENSIONS}", found);
                }
                config.truncate
            }
            Self::Rerank(config) => config.truncate,
            Self::Sparse(config) => config.truncate,
        };
        if truncates && !self.is_tei() {
            let hint = "other servers are told to truncate when they are started";
            bail!(at, "dialect = \"tei\" for `truncate`", "\"v1\"", hint);
        }
        if server.timeout.get() > LONGEST_TIMEOUT {
            let found = server.timeout.to_string();
            bail!(at, "timeout from 1 to {LONGEST_TIMEOUT} seconds", found);
        }
        if server.concurrency.get() > MOST_CONCURRENT {
            let found = server.concurrency.to_string();
            bail!(at, "concurrency from 1 to {MOST_CONCURRENT}", found);
        }
        Ok(())
    }

    /// Everything that determines the output, besides the requests: no address and no key. Every request
    /// begins with it, in the cache and in recordings.
    pub fn identity(&self) -> Map<String, Value> {
        let mut identity = Map::new();
        let mut set = |key: &str, value: Value| identity.insert(key.to_owned(), value);
        set("kind", self.kind().into());
        set("model", self.server().model.into());
        match self {
            Self::Chat(ChatConfig { dialect: ChatDialect::V1, parameters, .. }) => {
                set("dialect", "v1".into());
                if !parameters.is_empty() {
                    set("server_parameters", json!(parameters));
                }
            }
            Self::Embed(config) => {
                set("dialect", json!(config.dialect));
                if config.truncate {
                    set("truncate", true.into());
                }
                if let Some(dimensions) = config.dimensions {
                    set("dimensions", json!(dimensions));
                }
                if !config.query_prompt.is_empty() {
                    set("query_prompt", json!(config.query_prompt));
                }
                if !config.document_prompt.is_empty() {
                    set("document_prompt", json!(config.document_prompt));
                }
                if !config.normalise {
                    set("normalise", false.into());
                }
            }
            Self::Sparse(config) => {
                set("dialect", "tei".into());
                if config.truncate {
                    set("truncate", true.into());
                }
                if !config.query_prompt.is_empty() {
                    set("query_prompt", json!(config.query_prompt));
                }
                if !config.document_prompt.is_empty() {
                    set("document_prompt", json!(config.document_prompt));
                }
            }
            Self::Rerank(config) => {
                set("dialect", json!(config.dialect));
                if config.truncate {
                    set("truncate", true.into());
                }
            }
        }
        identity
    }
}

/// As in the record of a run.
impl Serialize for EndpointConfig {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut described = self.identity();
        if let Self::Chat(config) = self
            && config.thinking != Marks::default()
        {
            described.insert("thinking".to_owned(), json!(config.thinking));
        }
        described.serialize(serializer)
    }
}

/// The address may be private: it appears only in error messages about the server.
impl fmt::Debug for EndpointConfig {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        Value::Object(self.identity()).fmt(f)
    }
}
