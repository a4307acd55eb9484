//! The keys that the tables of all models behind servers have, and what each kind of model adds.

use clariq_core::ModelKind;
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
    pub(super) fn tei() -> Self {
        Self::Tei
    }
}

/// A table with the keys of every server before those of its kind. Serde's `flatten` would do the same,
/// but forgets the line of an unknown key and the names of those that are known. The keys that determine the
/// output are serialized, and no others.
macro_rules! table {
    ($kind:expr; $(#[$about:meta])* $name:ident { $($own:tt)* }) => {
        $(#[$about])*
        #[derive(Clone, PartialEq, Deserialize, Serialize)]
        #[serde(deny_unknown_fields)]
        pub struct $name {
            /// The address that the paths are appended to, up to and including the version, without name, password or
            /// query: `http://localhost:8080/v1`.
            #[serde(skip_serializing)]
            url: String,
            /// The name of the model on the server; `default` stands for the only one that `GET url/models` lists. TEI
            /// serves one model and gets no name; the key then tells models apart in records.
            model: String,
            /// Calls that are sent at the same time, at most 256.
            #[serde(default = "positive::<8>", skip_serializing)]
            concurrency: NonZeroUsize,
            /// Seconds for a connection, and for a whole answer, at most 86,400.
            #[serde(default = "positive::<120>", skip_serializing)]
            timeout: NonZeroUsize,
            /// How often a call is repeated that has no answer, or the status 408, 429 or 5xx.
            #[serde(default = "number::<3, _>", skip_serializing)]
            retries: u32,
            /// PEM file with the authority of the server's certificate.
            #[serde(skip_serializing)]
            ca: Option<PathBuf>,
            $($own)*
        }

        impl ModelTable for $name {
            fn kind(&self) -> &'static ServedKind {
                &$kind
            }

            fn dialect(&self) -> Dialect {
                self.dialect
            }

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

            fn keys(&self) -> Value {
                serde_json::to_value(self).expect("plain data")
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

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form")]
pub(super) fn is_yes(value: &bool) -> bool {
    *value
}

/// True for `false` and texts that are empty: they change no output, and are left out of requests.
pub(super) fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
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

/// A kind of model that servers have.
pub(super) struct ServedKind {
    /// The value of the key `kind`.
    pub(super) name: &'static str,
    pub(super) model: ModelKind,
    /// The dialects that have it, each with the path of its calls.
    pub(super) paths: &'static [(Dialect, &'static str)],
}

/// The table of a model of one kind.
pub(super) trait ModelTable {
    fn kind(&self) -> &'static ServedKind;

    fn dialect(&self) -> Dialect;

    fn server(&self) -> ServerConfig<'_>;

    /// The keys that determine the output.
    fn keys(&self) -> Value;

    /// See `EndpointConfig::identity`.
    fn identity(&self) -> Map<String, Value> {
        let mut identity = Map::new();
        identity.insert("kind".to_owned(), self.kind().name.into());
        identity.extend(self.keys().as_object().cloned().unwrap_or_default());
        identity
    }

    /// The path of calls; `None` in a dialect that has no models of this kind.
    fn path(&self) -> Option<&'static str> {
        let mut paths = self.kind().paths.iter();
        paths.find(|(dialect, _)| *dialect == self.dialect()).map(|(_, path)| *path)
    }
}
