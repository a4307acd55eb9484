//! The table `[models.NAME]` of a system: a model of one of the kinds that servers have.

use super::chat::ChatConfig;
use super::embed::EmbedConfig;
use super::endpoint::Endpoint;
use super::rerank::RerankConfig;
use super::server::Server;
use super::sparse::SparseConfig;
use super::table::{Dialect, ModelTable};
use super::thinking::Marks;
use crate::service::{LONGEST_TIMEOUT, check_address};
use clariq_core::{Location, Model, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};
use std::fmt;
use std::sync::Arc;

/// A model behind a server, as the table `[models.NAME]` declares it: `kind` names the variant.
#[derive(Clone, PartialEq, Deserialize)]
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
/// The kinds that stages take.
pub(super) const TAKEN: &str = "stages with a space take `embed`, `rerank` and `cross_encode` take `rerank`, \
     `sparse` takes `sparse`";

impl EndpointConfig {
    /// The table, as its kind reads it.
    pub(super) fn table(&self) -> &dyn ModelTable {
        match self {
            Self::Chat(config) => config,
            Self::Embed(config) => config,
            Self::Sparse(config) => config,
            Self::Rerank(config) => config,
        }
    }

    /// The model on its server.
    pub(super) fn open(self, server: Server) -> Model {
        match self {
            Self::Chat(keys) => Model::Chat(Arc::new(Endpoint::new(server, keys))),
            Self::Embed(keys) => Model::Encoder(Arc::new(Endpoint::new(server, keys))),
            Self::Sparse(keys) => Model::Sparse(Arc::new(Endpoint::new(server, keys))),
            Self::Rerank(keys) => Model::CrossEncoder(Arc::new(Endpoint::new(server, keys))),
        }
    }

    /// True if the server itself chooses the temperature, which may be above 0: none is sent, or under
    /// another name that it may not know.
    pub fn samples(&self) -> bool {
        matches!(self, Self::Chat(keys) if keys.parameters.samples())
    }

    /// Refuses an address with secrets, and values that no server has.
    pub fn check(&self, at: &Location) -> Result<()> {
        let table = self.table();
        let server = table.server();
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
        match self {
            Self::Chat(keys) => keys.check(at)?,
            Self::Embed(keys) => keys.check(at)?,
            Self::Sparse(_) | Self::Rerank(_) => {}
        }
        if table.path().is_none() {
            let kind = table.kind();
            let known: Vec<String> =
                kind.paths.iter().map(|(dialect, _)| json!(dialect).to_string()).collect();
            let expected = format!("dialect = {} for kind = \"{}\"", known.join(" or "), kind.name);
            let hint = "the documentation lists the dialects of each kind (reference, Models)";
            bail!(at, expected, (json!(table.dialect()).to_string()), hint);
        }
        let truncates = match self {
            Self::Embed(keys) => keys.truncate,
            Self::Rerank(keys) => keys.truncate,
            Self::Chat(_) | Self::Sparse(_) => false,
        };
        if truncates && table.dialect() != Dialect::Tei {
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
        self.table().identity()
    }
}

/// As in the record of a run.
impl Serialize for EndpointConfig {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let mut described = self.identity();
        if let Self::Chat(config) = self {
            if config.thinking != Marks::default() {
                described.insert("thinking".to_owned(), json!(config.thinking));
            }
            if let Some(share) = config.unread {
                described.insert("unread".to_owned(), share.into());
            }
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
