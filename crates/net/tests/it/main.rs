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

use clariq_core::{ChatMessage, ChatModel, ChatParameters, ChatRequest, ChatRole};
use clariq_core::{Encoder, Error, Model, ModelKind, ModelName, Observer, PairScorer, Silent};
use clariq_net::{CallOptions, EndpointConfig, Registry};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

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

pub(crate) fn encoder(config: &EndpointConfig) -> Arc<dyn Encoder> {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::default();
    let Model::Encoder(model) = open(config, ModelKind::Encoder, &registry, folder.path()) else {
        panic!()
    };
    model
}

pub(crate) fn reranker(config: &EndpointConfig) -> Arc<dyn PairScorer> {
    let folder = tempfile::tempdir().unwrap();
    let registry = Registry::default();
    let Model::CrossEncoder(model) =
        open(config, ModelKind::CrossEncoder, &registry, folder.path())
    else {
        panic!()
    };
    model
}

/// The models of a run.
pub(crate) fn session(options: CallOptions) -> Registry {
    let registry = Registry::new(options);
    registry.calls().begin_run();
    registry
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
