//! Models behind endpoints, against a local server.

mod calls;
mod forms;
mod stub;

use clariq_core::{ChatMessage, ChatModel, ChatParameters, ChatRequest, ChatRole};
use clariq_core::{Encoder, Error, Model, ModelKind, ModelName, PairScorer, Silent};
use clariq_endpoint::{CallOptions, Calls, EndpointConfig};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::Arc;

/// The table of a model, with further keys.
pub(crate) fn config(kind: &str, url: &str, more: Value) -> EndpointConfig {
    let mut keys = json!({ "kind": kind, "url": url, "model": "m", "retries": 0, "timeout": 5 });
    if let (Value::Object(keys), Value::Object(more)) = (&mut keys, more) {
        keys.extend(more);
    }
    serde_json::from_value(keys).unwrap()
}

fn open(config: &EndpointConfig, kind: ModelKind, calls: &Arc<Calls>, cache: &Path) -> Model {
    config.open(&ModelName::new("far", kind), calls, cache, &Silent).unwrap()
}

pub(crate) fn chat(
    config: &EndpointConfig,
    calls: &Arc<Calls>,
    cache: &Path,
) -> Arc<dyn ChatModel> {
    let Model::Chat(model) = open(config, ModelKind::Chat, calls, cache) else { panic!() };
    model
}

pub(crate) fn encoder(config: &EndpointConfig) -> Arc<dyn Encoder> {
    let folder = tempfile::tempdir().unwrap();
    let calls = Arc::default();
    let Model::Encoder(model) = open(config, ModelKind::Encoder, &calls, folder.path()) else {
        panic!()
    };
    model
}

pub(crate) fn reranker(config: &EndpointConfig) -> Arc<dyn PairScorer> {
    let folder = tempfile::tempdir().unwrap();
    let calls = Arc::default();
    let Model::CrossEncoder(model) = open(config, ModelKind::CrossEncoder, &calls, folder.path())
    else {
        panic!()
    };
    model
}

/// The calls of a run.
pub(crate) fn calls(options: CallOptions) -> Arc<Calls> {
    let calls = Calls::new(options);
    calls.begin_run();
    Arc::new(calls)
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
    };
    texts.iter().enumerate().map(request).collect()
}

/// The parts of an error in one line.
pub(crate) fn parts<T>(result: Result<T, Error>) -> String {
    let problem = result.err().expect("an error").to_problem();
    format!("{} | {} | {} | {}", problem.title(), problem.expected, problem.found, problem.hint)
}
