//! The server of a model: its address, the key, and the reading of its answers.

use super::calls::{Call, CallAnswer, Caller, Calls};
use super::fault::Fault;
use super::identity::Identity;
use super::json::{hint_of_form, plain, read_json, without_comments};
use super::stream::joined;
use super::table::{Dialect, ModelTable, ServerConfig};
use crate::http::CertificateAuthorities;
use crate::service::{Patience, Reply, Service, ServiceAccess};
use clariq_core::{
    Checksum, Error, Observer, ProblemKind, Result, bail, count_of, printable, problem,
};
use clariq_files::Source;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};
use std::env;
use std::fmt::Display;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

/// The environment variable with the key of all models. The key of a single model is in the
/// variable with the model's name appended. No secret belongs in a file that is shared, or into the
/// record of a run.
const KEY: &str = "CLARIQ_API_KEY";
/// Shorter keys are refused: masking them would change texts.
const SHORTEST_KEY: usize = 8;
/// The maximum size of vectors and scores in bytes.
pub(super) const MOST_OF_AN_ANSWER: u64 = 64 << 20;
/// Bytes of an answer in another form, of which a message shows the first.
const SHOWN_OF_AN_ANSWER: usize = 64 << 10;
/// Names of models that a message shows.
const NAMES_SHOWN: usize = 5;
/// The name in a configuration that stands for the only model of a server.
const ONLY_MODEL: &str = "default";
/// Characters that a message shows of a text.
const SHOWN: usize = 60;

/// The server of one model.
pub(super) struct Server {
    pub(super) calls: Arc<Calls>,
    pub(super) caller: Caller,
    /// Checksum of everything that determines its answers, besides the requests.
    pub(super) checksum: Checksum,
    /// The name of the model as the server is asked for it; `None` for the only one of a server that lists none.
    model: Option<String>,
    /// The beginning of every request.
    identity: Map<String, Value>,
    service: Service,
}

/// The answer to `GET /models`.
#[derive(Deserialize)]
struct ModelList {
    data: Vec<ListedModel>,
}

#[derive(Deserialize)]
struct ListedModel {
    id: String,
    /// vLLM: the folder or repository, if `id` is another name of it.
    root: Option<String>,
}

/// The answer of text-embeddings-inference to `GET /info`.
#[derive(Deserialize)]
struct TeiInfo {
    model_id: String,
    model_sha: Option<String>,
}

impl Server {
    /// Prepares requests, which carry a key, and asks the server for the name of its model.
    pub(super) fn open(
        name: &str,
        table: &dyn ModelTable,
        key: Option<String>,
        calls: Arc<Calls>,
        cache: &Path,
        observer: &dyn Observer,
    ) -> Result<Self> {
        let identity = table.identity();
        let is_tei = table.dialect() == Dialect::Tei;
        let path = table.path().unwrap_or_default();
        let config = table.server();
        let base = config.url.trim_end_matches('/');
        let url = format!("{base}/{path}");
        let service = service_of(name, config, &url, key)?;
        // Another server may have another model of the same name.
        let journal = cache.join(format!("{}.jsonl", Checksum::of(url.as_bytes())));
        calls.open_cache(&journal, observer);
        let mut model = Some(config.model).filter(|name| *name != ONLY_MODEL).map(str::to_owned);
        let mut served = None;
        if calls.asks_servers() {
            if is_tei {
                served = served_by_tei(&service, base);
            } else if let Some(list) = listed_by(&service, base) {
                let asked = find_model(name, &service, config.model, &list)?;
                served = served_as(&asked, &list);
                model = Some(asked);
            }
        }
        let caller = Caller {
            name: name.to_owned(),
            journal,
            // The server may repeat the key in it.
            identity: Identity::new(config.model, served.map(|name| service.mask(&name))),
            concurrency: config.concurrency,
        };
        if let Some(served) = caller.identity.served() {
            calls.meet(&caller, served);
            for note in calls.take_notes() {
                observer.note(&note);
            }
        }
        let checksum = Value::Object(identity.clone()).to_string();
        Ok(Self {
            calls,
            caller,
            checksum: Checksum::of(checksum.as_bytes()),
            model,
            identity,
            service,
        })
    }

    /// A request with everything that its answer depends on.
    pub(super) fn request(&self, content: Map<String, Value>) -> Value {
        let mut request = self.identity.clone();
        request.extend(content);
        Value::Object(request)
    }

    /// Names the model in a request.
    pub(super) fn name_model(&self, body: &mut Value) {
        if let Some(model) = &self.model {
            body["model"] = model.as_str().into();
        }
    }

    /// The calls for an encoder's output for texts, in batches.
    pub(super) fn calls_of_texts(&self, texts: &[String], batch: usize) -> Vec<Call> {
        let mut calls = Vec::new();
        for texts in texts.chunks(batch) {
            let mut content = Map::new();
            content.insert("texts".to_owned(), json!(texts));
            let bytes = texts.iter().map(String::len).sum::<usize>() as u64;
            let request = self.request(content);
            let items = texts.len() as u64;
            calls.push(Call { about: name_of(&texts[0]), request, items, bytes, most_tokens: 0 });
        }
        calls
    }

    /// Posts `body` and reads the answer, of at most so many bytes, which `read` turns into a value, or
    /// into a description of its fault. Errors name `about`.
    pub(super) fn ask<A: DeserializeOwned, T>(
        &self,
        about: &str,
        body: &Value,
        most: u64,
        read: impl Fn(A) -> Result<T, String>,
    ) -> Result<CallAnswer<T>> {
        let problem = |expected: &str, found: String, hint: &str| {
            problem!((self.service.location()), expected, found, hint).kind(ProblemKind::Server)
        };
        let read = |bytes: &[u8]| {
            let bytes = without_comments(bytes);
            let beginning = String::from_utf8_lossy(&bytes[..bytes.len().min(SHOWN_OF_AN_ANSWER)]);
            let beginning = beginning.trim();
            if beginning.is_empty() {
                let hint = hint_of_form(beginning);
                let found = "one without a body".to_owned();
                return Err(problem("an answer in the form of its API", found, hint).into());
            }
            let json = joined(bytes).unwrap_or_else(|| read_json(bytes));
            if let Some(fault) = json.as_ref().ok().and_then(Fault::in_answer) {
                if fault.is_busy {
                    return Ok(Reply::Busy(fault.message));
                }
                let hint = "the server is there, and says why it refuses the request";
                let problem = problem("an answer of the server", fault.message, hint);
                return Err(if fault.is_about_request {
                    problem.kind(ProblemKind::Other).into()
                } else {
                    problem.into()
                });
            }
            let answer = json.and_then(|json| {
                let model = self.mask(json["model"].as_str().unwrap_or_default());
                let answer = A::deserialize(json).map_err(|error| plain(error.to_string()))?;
                Ok((answer, model))
            });
            let answer = match answer {
                Ok((answer, model)) => read(answer).map(|value| CallAnswer { value, model }),
                Err(error) => Err(format!("{error}: {beginning}")),
            };
            answer.map(Reply::Whole).map_err(|found| {
                problem("an answer in the form of its API", found, hint_of_form(beginning)).into()
            })
        };
        let answer = self.service.ask("application/json", &body.to_string(), most, read);
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

/// The service at an address, with the hints of the model's table.
fn service_of(name: &str, config: ServerConfig, url: &str, key: Option<String>) -> Result<Service> {
    let authorities =
        config.ca.map(|path| CertificateAuthorities::read(&Source::new(path))).transpose()?;
    let access = ServiceAccess {
        authorization: key.map(|key| format!("Bearer {key}")),
        authorization_hint: format!("the environment variable {KEY} holds the key"),
        authorities,
        authorities_hint: "`ca` names the PEM file of a private authority, and the certificate \
                           must be for the host in `url`"
            .to_owned(),
        address_hint: format!(
            "is the server there, with the model `{}`, and does it answer `curl` on this \
             machine? `--set models.{name}.url=URL` names another",
            config.model
        ),
        slow_hint: format!(
            "the server is there, and slower than `timeout` ({} s) allows: it may answer fewer than {} calls \
             at once (`--set models.{name}.concurrency=1`), or need a longer `timeout`",
            config.timeout, config.concurrency
        ),
    };
    let patience = Patience {
        timeout: Duration::from_secs(config.timeout.get() as u64),
        retries: config.retries,
    };
    Ok(Service::new(url, access, patience))
}

/// The models that a server lists; `None` if it lists none.
fn listed_by(service: &Service, base: &str) -> Option<Vec<ListedModel>> {
    let answer = service.get(&format!("{base}/models"), MOST_OF_AN_ANSWER)?;
    let list: ModelList = serde_json::from_slice(&answer).ok()?;
    Some(list.data).filter(|list| !list.is_empty())
}

/// The name by which a server is asked for its model. `default` stands for the only one.
fn find_model(
    name: &str,
    service: &Service,
    declared: &str,
    list: &[ListedModel],
) -> Result<String> {
    if declared != ONLY_MODEL || list.iter().any(|model| model.id == ONLY_MODEL) {
        return Ok(declared.to_owned());
    }
    if let [only] = list {
        return Ok(only.id.clone());
    }
    let names: Vec<&str> = list.iter().take(NAMES_SHOWN).map(|model| model.id.as_str()).collect();
    let found = service.mask(&format!("{}, such as {}", list.len(), names.join(", ")));
    let hint = format!("`--set models.{name}.model=NAME` names one of them");
    bail!((service.location()), "a server with one model, for `model = \"default\"`", found, hint)
}

/// The name that a server gives to one of its models, or to its only one.
fn served_as(model: &str, list: &[ListedModel]) -> Option<String> {
    let listed = list.iter().find(|listed| listed.id == model);
    let only = (list.len() == 1).then(|| &list[0]);
    let found = listed.or(only)?;
    Some(found.root.clone().unwrap_or_else(|| found.id.clone()))
}

/// The name of a model without the folder of its file: llama.cpp names a model by its path.
pub(super) fn without_folder(model: &str) -> &str {
    let is_path = model.starts_with(['/', '\\', '~', '.'])
        || model.get(1..3) == Some(":\\")
        || Path::new(model).extension().is_some_and(|ending| ending.eq_ignore_ascii_case("gguf"));
    let name = model.rsplit(['/', '\\']).next().filter(|_| is_path);
    name.unwrap_or(model)
}

/// The model of text-embeddings-inference, with its revision.
fn served_by_tei(service: &Service, base: &str) -> Option<String> {
    let answer = service.get(&format!("{base}/info"), MOST_OF_AN_ANSWER)?;
    let TeiInfo { model_id, model_sha } = serde_json::from_slice(&answer).ok()?;
    Some(model_sha.map_or(model_id.clone(), |sha| format!("{model_id} {sha}")))
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
            None => return Err(format!("the index {index} for {}", count_of(count, "text"))),
            Some(Some(_)) => return Err(format!("the index {index} twice")),
            Some(place) => *place = Some(value),
        }
    }
    match all.iter().position(Option::is_none) {
        Some(index) => Err(format!("no {what} for index {index} of {}", count_of(count, "text"))),
        None => Ok(all.into_iter().flatten().collect()),
    }
}

/// A number of an answer in 32 bits; an error if it is none, or none of 32 bits. `what` names it.
pub(super) fn in_32_bits(what: &str, value: f64, index: impl Display) -> Result<f32, String> {
    let narrow = value as f32;
    if !narrow.is_finite() {
        return Err(format!("a {what} that is no finite number, for index {index}"));
    }
    if narrow == 0.0 && value != 0.0 {
        return Err(format!("the {what} {value:e}, which is 0 in 32 bits, for index {index}"));
    }
    Ok(narrow)
}
