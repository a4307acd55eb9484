//! The integration tests of this crate, a module per subject; all servers are local.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod cache;
mod calls;
mod download;
mod faults;
mod forms;
mod models;
mod odd_servers;
mod response_format;
mod service;
mod sparse;
mod stub;

use clariq_core::{ChatMessage, ChatModel, ChatParameters, ChatRequest, ChatRole, Completion};
use clariq_core::{Encoder, Error, Model, ModelKind, ModelName, Observer, PairScorer, Silent};
use clariq_files::Source;
use clariq_net::{CallOptions, EndpointConfig, Recording, Registry, write_exchanges};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};
use stub::{Received, Reply, Stub, completion};

/// The table of a model, with further keys.
pub(crate) fn config(kind: &str, url: &str, more: Value) -> EndpointConfig {
    let mut keys = json!({ "url": url, "model": "m", "retries": 0, "timeout": 5 });
    if let (Value::Object(keys), Value::Object(more)) = (&mut keys, more) {
        keys.extend(more);
    }
    serde_json::from_value(json!({ kind: keys })).unwrap()
}

/// Opens the model `far`.
pub(crate) fn open(
    config: &EndpointConfig,
    kind: ModelKind,
    registry: &Registry,
    cache: &Path,
) -> Model {
    assert!(registry.set("far", Some(config)), "each test has one model of a name");
    registry.open(&ModelName::new("far", kind), cache, &Silent).unwrap().unwrap()
}

pub(crate) fn chat(
    config: &EndpointConfig,
    registry: &Registry,
    cache: &Path,
) -> Arc<dyn ChatModel> {
    let Model::Chat(model) = open(config, ModelKind::Chat, registry, cache) else { panic!() };
    model
}

pub(crate) fn encoder_in(
    config: &EndpointConfig,
    registry: &Registry,
    cache: &Path,
) -> Arc<dyn Encoder> {
    let Model::Encoder(model) = open(config, ModelKind::Encoder, registry, cache) else { panic!() };
    model
}

pub(crate) fn encoder(config: &EndpointConfig) -> Arc<dyn Encoder> {
    let folder = tempfile::tempdir().unwrap();
    encoder_in(config, &Registry::default(), folder.path())
}

pub(crate) fn reranker_in(
    config: &EndpointConfig,
    registry: &Registry,
    cache: &Path,
) -> Arc<dyn PairScorer> {
    let model = open(config, ModelKind::CrossEncoder, registry, cache);
    let Model::CrossEncoder(model) = model else { panic!() };
    model
}

pub(crate) fn reranker(config: &EndpointConfig) -> Arc<dyn PairScorer> {
    let folder = tempfile::tempdir().unwrap();
    reranker_in(config, &Registry::default(), folder.path())
}

/// Completes a request by the chat model of a server.
pub(crate) fn complete_at(url: &str, more: Value) -> Result<Completion, Error> {
    let folder = tempfile::tempdir().unwrap();
    let config = config("chat", &format!("{url}/v1"), more);
    let model = chat(&config, &session(CallOptions::default()), folder.path());
    Ok(model.complete(&requests(&["hello"]), &|_, _| Ok(()))?.remove(0))
}

pub(crate) fn complete(stub: &Stub, more: Value) -> Result<Completion, Error> {
    complete_at(&stub.url, more)
}

/// What is read from a server that always answers so.
pub(crate) fn read_from(reply: Reply) -> Result<Completion, Error> {
    complete(&Stub::always(reply), json!({}))
}

/// The text that is read from a server which answers so once.
pub(crate) fn text_after(once: Reply) -> String {
    let replies = move |_: &Received, number: usize| match number {
        0 => once.clone(),
        _ => Reply::Json(completion("there")),
    };
    complete(&Stub::start(replies), json!({ "retries": 1 })).unwrap().text
}

/// The models of a run.
pub(crate) fn session(options: CallOptions) -> Registry {
    let registry = Registry::new(options);
    registry.calls().begin_run();
    registry
}

/// The models of a run with these recorded answers.
pub(crate) fn replaying(lines: &str) -> Registry {
    let lines = Source::memory("a.completions.jsonl", lines.as_bytes().to_vec());
    let replay = Some(Recording::read(&lines).unwrap());
    session(CallOptions { replay, ..CallOptions::default() })
}

/// The lines of a run's exchanges.
pub(crate) fn lines(registry: &Registry) -> String {
    let mut lines = Vec::new();
    write_exchanges(&mut lines, &registry.calls().take_exchanges()).unwrap();
    String::from_utf8(lines).unwrap()
}

/// Requests with these texts, named `request 0`, `request 1` and so on.
pub(crate) fn requests(texts: &[&str]) -> Vec<ChatRequest> {
    let request = |(number, text): (usize, &&str)| ChatRequest {
        about: format!("request {number}"),
        messages: vec![
            ChatMessage::new(ChatRole::System, "Write it in capitals."),
            ChatMessage::new(ChatRole::User, *text),
        ],
        parameters: ChatParameters::default(),
        form: None,
    };
    texts.iter().enumerate().map(request).collect()
}

/// Notes of an observer.
#[derive(Default)]
pub(crate) struct Notes(pub(crate) Mutex<Vec<String>>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push(text.to_owned());
    }
}

/// The parts of an error in one line.
pub(crate) fn parts<T>(result: Result<T, Error>) -> String {
    let problem = result.err().expect("an error").to_problem();
    format!("{} | {} | {} | {}", problem.title(), problem.expected, problem.found, problem.hint)
}
