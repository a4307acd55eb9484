//! The server of a model: its address, the key, and the reading of its answers.

use super::calls::{Caller, Calls};
use super::config::EndpointConfig;
use crate::http::CertificateAuthorities;
use crate::service::{Patience, Reply, Service, ServiceAccess};
use clariq_core::{Error, Observer, ProblemKind, Result, bail, printable, problem, sha256_hex};
use clariq_files::Source;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use std::env;
use std::path::Path;
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
/// Characters that a message shows of a text.
const SHOWN: usize = 60;

/// The server of one model.
pub(super) struct Server {
    pub(super) calls: Arc<Calls>,
    pub(super) caller: Caller,
    /// Checksum of everything that determines its answers, besides the requests.
    pub(super) checksum: String,
    /// The beginning of every request.
    identity: Map<String, Value>,
    service: Service,
}

impl Server {
    /// Prepares requests to a path, which carry a key. It does not connect yet.
    pub(super) fn open(
        name: &str,
        config: &EndpointConfig,
        path: &str,
        key: Option<String>,
        calls: Arc<Calls>,
        cache: &Path,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let identity = config.identity();
        let config = config.server();
        let url = format!("{}/{path}", config.url.trim_end_matches('/'));
        let authorities =
            config.ca.map(|path| CertificateAuthorities::read(&Source::new(path))).transpose()?;
        let access = ServiceAccess {
            authorization: key.map(|key| format!("Bearer {key}")),
            authorization_hint: format!("the environment variable {KEY} holds the key"),
            authorities,
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
        let caller = Caller { name: name.to_owned(), journal, concurrency: config.concurrency };
        let checksum = Value::Object(identity.clone()).to_string();
        Ok(Self {
            calls,
            caller,
            checksum: sha256_hex(checksum.as_bytes()),
            identity,
            service: Service::new(url, access, patience),
        })
    }

    /// A request with everything that its answer depends on.
    pub(super) fn request(&self, content: Map<String, Value>) -> Value {
        let mut request = self.identity.clone();
        request.extend(content);
        Value::Object(request)
    }

    /// Posts `body` and reads the answer, which `read` turns into a value, or into a description of
    /// its fault. Errors name `about`.
    pub(super) fn ask<A: DeserializeOwned, T>(
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
    pub(super) fn mask(&self, text: &str) -> String {
        self.service.mask(text)
    }
}

/// The key of a model in the environment: its own, or the common one.
pub(super) fn api_key(name: &str) -> Result<Option<String>> {
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

/// A text in quotation marks, shortened, to name a call in messages.
pub(super) fn name_of(text: &str) -> String {
    format!("\"{}\"", printable(text, SHOWN))
}

/// The values of so many texts in their order, which the server gives with their indices; an error if
/// one is missing or repeated. `what` names a value.
pub(super) fn in_order<T>(
    values: impl IntoIterator<Item = Result<(usize, T), String>>,
    count: usize,
    what: &str,
) -> Result<Vec<T>, String> {
    let mut all: Vec<Option<T>> = (0..count).map(|_| None).collect();
    for value in values {
        let (index, value) = value?;
        match all.get_mut(index) {
            None => return Err(format!("the index {index} for {count} texts")),
            Some(Some(_)) => return Err(format!("the index {index} twice")),
            Some(place) => *place = Some(value),
        }
    }
    match all.iter().position(Option::is_none) {
        Some(index) => Err(format!("no {what} for index {index} of {count} texts")),
        None => Ok(all.into_iter().flatten().collect()),
    }
}
