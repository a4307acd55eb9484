//! The server of a model: its address, the key, and the reading of its answers.

use crate::calls::Calls;
use crate::config::{EndpointConfig, EndpointKind};
use clariq_core::{Error, Observer, ProblemKind, Result, bail, problem, sha256_hex};
use clariq_files::{CertificateAuthorities, Patience, Reply, Service, ServiceAccess, Source};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::env;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

/// The environment variable with the key of all models. The key of a single model is in the
/// variable with the model's name appended. No secret belongs in a file that is shared, or into the
/// record of a run.
const KEY: &str = "CLARIQ_API_KEY";
/// Shorter keys are refused: masking them would change texts.
const SHORTEST_KEY: usize = 8;
/// The maximum size of an answer in bytes.
const MOST_OF_AN_ANSWER: u64 = 64 << 20;

/// The server of one model.
pub(crate) struct Server {
    /// The name in `[models]`.
    pub(crate) name: String,
    pub(crate) config: EndpointConfig,
    /// Checksum of everything that determines its answers, besides the requests.
    pub(crate) checksum: String,
    pub(crate) calls: Arc<Calls>,
    /// The file of its answers in the cache.
    pub(crate) journal: PathBuf,
    service: Service,
}

impl Server {
    /// Prepares requests that carry a key. It does not connect yet.
    pub(crate) fn open(
        name: &str,
        config: &EndpointConfig,
        key: Option<String>,
        calls: Arc<Calls>,
        cache: &Path,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let path = match (config.kind, config.is_tei()) {
            (EndpointKind::Chat, _) => "chat/completions",
            (EndpointKind::Embed, false) => "embeddings",
            (EndpointKind::Embed, true) => "embed",
            (EndpointKind::Rerank, _) => "rerank",
        };
        let url = format!("{}/{path}", config.url.trim_end_matches('/'));
        let authorities =
            config.ca.as_ref().map(|path| CertificateAuthorities::read(&Source::new(path)));
        let access = ServiceAccess {
            authorization: key.map(|key| format!("Bearer {key}")),
            authorization_hint: format!("the environment variable {KEY} holds the key"),
            authorities: authorities.transpose()?,
            authorities_hint:
                "`ca` names the PEM file of a private authority, and the certificate \
                               must be for the host in `url`"
                    .to_owned(),
        };
        let patience = Patience {
            timeout: Duration::from_secs(config.timeout.get() as u64),
            retries: config.retries,
            most: MOST_OF_AN_ANSWER,
        };
        // Another server may have another model of the same name.
        let journal = cache.join(format!("{}.jsonl", sha256_hex(url.as_bytes())));
        calls.open_cache(&journal, observer);
        Ok(Self {
            name: name.to_owned(),
            config: config.clone(),
            checksum: sha256_hex(config.describe().as_bytes()),
            calls,
            journal,
            service: Service::new(url, access, patience),
        })
    }

    /// A request with everything that its answer depends on.
    pub(crate) fn request(&self, content: Map<String, Value>) -> Value {
        let mut request = serde_json::to_value(&self.config).unwrap_or_default();
        if let Value::Object(keys) = &mut request {
            keys.extend(content);
        }
        request
    }

    /// Posts `body` and reads the answer, which `read` turns into a value, or into a description of
    /// its fault. Errors name `about`.
    pub(crate) fn ask<A: DeserializeOwned, T>(
        &self,
        about: &str,
        body: &Value,
        read: impl Fn(A) -> Result<T, String>,
    ) -> Result<T> {
        let read = |bytes: &[u8]| {
            let answer = serde_json::from_slice(bytes).map_err(|error| error.to_string());
            match answer.and_then(&read) {
                Ok(value) => Ok(Reply::Whole(value)),
                Err(found) => {
                    let hint = "`url`, `dialect` and `kind` must be those of the server";
                    let expected = "an answer in the form of its API";
                    let problem = problem!((self.service.location()), expected, found, hint);
                    Err(problem.kind(ProblemKind::Server).into())
                }
            }
        };
        let answer = self.service.ask("application/json", &body.to_string(), read);
        answer.map_err(|error| match error {
            Error::Problem(mut problem) => {
                problem.found = format!("for {about}: {}", problem.found);
                Error::Problem(problem)
            }
            other @ Error::Io { .. } => other,
        })
    }

    /// A text of the server without the key, which the server may repeat.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.service.mask(text)
    }
}

/// The key of a model in the environment: its own, or the common one.
pub(crate) fn key_of(name: &str) -> Result<Option<String>> {
    let suffix: String = name
        .chars()
        .map(|c| if c.is_ascii_alphanumeric() { c.to_ascii_uppercase() } else { '_' })
        .collect();
    let own = format!("{KEY}_{suffix}");
    for variable in [own.as_str(), KEY] {
        let Some(key) = env::var_os(variable).filter(|key| !key.is_empty()) else { continue };
        let key = key.to_str().map(str::trim).unwrap_or_default();
        if key.len() < SHORTEST_KEY || !key.bytes().all(|byte| byte.is_ascii_graphic()) {
            let expected = format!("a key of at least {SHORTEST_KEY} visible ASCII characters");
            let hint = "unset it for a server without a key";
            bail!(format!("environment variable {variable}"), expected, "another text", hint);
        }
        return Ok(Some(key.to_owned()));
    }
    Ok(None)
}
