//! The keys that the tables of all models behind servers have, and what each kind of model adds.

use clariq_core::{Location, ModelKind, Result};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
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

/// A table with the keys of every server before those of its kind. Serde's `flatten` would do the same,
/// but forgets the line of an unknown key and the names of those that are known.
macro_rules! table {
    ($(#[$about:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Deserialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The address that the paths are appended to, up to and including the version, without name, password or
            /// query: `http://localhost:8080/v1`.
            url: String,
            /// The name of the model on the server; `default` stands for the only one that `GET url/models` lists. TEI
            /// serves one model and gets no name; the key then tells models apart in records.
            model: String,
            /// Calls that are sent at the same time, at most 256.
            #[serde(default = "positive::<8>")]
            concurrency: NonZeroUsize,
            /// Seconds for a connection, and for a whole answer, at most 86,400.
            #[serde(default = "positive::<120>")]
            timeout: NonZeroUsize,
            /// How often a call is repeated that has no answer, or the status 408, 429 or 5xx.
            #[serde(default = "number::<3, _>")]
            retries: u32,
            /// PEM file with the authority of the server's certificate.
            ca: Option<PathBuf>,
            $($own)*
        }

        impl $name {
            fn keys_of_server(&self) -> ServerConfig<'_> {
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
pub(super) use table;

/// The usual limit of text-embeddings-inference.
pub(super) const DEFAULT_BATCH: usize = 32;

pub(super) fn yes() -> bool {
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

/// The table of a model of one kind.
pub(super) trait ModelTable {
    /// The value of the key `kind`.
    fn kind(&self) -> &'static str;

    fn server(&self) -> ServerConfig<'_>;

    /// The kind of model, and the path of its calls.
    fn opens(&self) -> (ModelKind, &'static str);

    fn is_tei(&self) -> bool;

    /// True if the server is told to truncate texts that are too long.
    fn truncates(&self) -> bool {
        false
    }

    /// See `EndpointConfig::samples`.
    fn samples(&self) -> bool {
        false
    }

    /// Refuses values that no server has.
    fn check(&self, at: &Location) -> Result<()> {
        let _ = at;
        Ok(())
    }

    /// Adds its keys that determine the output.
    fn identify(&self, identity: &mut Map<String, Value>);

    /// See `EndpointConfig::identity`.
    fn identity(&self) -> Map<String, Value> {
        let mut identity = Map::new();
        identity.insert("kind".to_owned(), self.kind().into());
        identity.insert("model".to_owned(), self.server().model.into());
        self.identify(&mut identity);
        identity
    }
}
