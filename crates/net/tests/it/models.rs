//! The model that a server really has, what it thinks, and how it is asked.

use crate::stub::{Received, Reply, Stub, completion};
use crate::{
    Notes, chat, config, encoder, encoder_in, lines, parts, read_from, replaying, requests, session,
};
use clariq_core::{ChatModel, Completion, Location, Model, ModelKind, ModelName, Silent, Thinking};
use clariq_net::{CallOptions, EndpointConfig, Registry};
use serde_json::{Value, json};
use std::path::Path;
use std::sync::{Arc, Mutex};

pub(crate) fn chat_config(stub: &Stub, more: Value) -> EndpointConfig {
    config("chat", &format!("{}/v1", stub.url), more)
}

pub(crate) fn ask(model: &dyn ChatModel) -> Completion {
    model.complete(&requests(&["hello"]), &|_, _| Ok(())).unwrap().remove(0)
}

/// A server that answers with the name of its model.
fn named(model: &'static str, models: Result<Vec<&'static str>, u16>) -> Stub {
    let reply = move |_: &Received, _: usize| {
        let mut answer = completion(&format!("I am {model}"));
        answer["model"] = model.into();
        Reply::Json(answer)
    };
    Stub::with_models(reply, move || models.clone())
}

#[test]
fn what_a_model_thinks_is_no_part_of_its_answer_and_is_recorded() {
    let marked = "<think>\ncoffee\n</think>\n\ntents";
    for (text, more, answer, thinking) in [
        ("tents", json!({}), "tents", Thinking::None),
        (marked, json!({}), "tents", Thinking::Ended),
        ("<think>\n\n</think>\n\ntents", json!({}), "tents", Thinking::Ended),
        ("coffee\n</think>\n\ntents", json!({}), "tents", Thinking::Ended),
        ("<think>\ncoffee", json!({}), "", Thinking::Unended),
        ("<|channel|>analysis<|message|>coffee<|end|>tents", json!({}), "tents", Thinking::Ended),
        (marked, json!({ "thinking": [] }), marked, Thinking::None),
        ("{coffee} tents", json!({ "thinking": [["{", "}"]] }), "tents", Thinking::Ended),
    ] {
        let stub = Stub::always(Reply::Json(completion(text)));
        let folder = tempfile::tempdir().unwrap();
        let registry = session(CallOptions::default());
        let config = chat_config(&stub, more);
        let read = ask(&*chat(&config, &registry, folder.path()));
        assert_eq!((read.text.as_str(), read.thinking), (answer, thinking), "{text}");
        let recording = lines(&registry);
        let whole: Value = serde_json::from_str(&recording).unwrap();
        assert_eq!(whole["answer"]["text"], text, "the recording is whole");
        let again = ask(&*chat(&config, &replaying(&recording), folder.path()));
        assert_eq!((again.text.as_str(), again.thinking), (answer, thinking), "{text}");
    }
    // Mistral's form, and that of servers which take the thinking out.
    let parts =
        json!([{ "type": "thinking", "thinking": [] }, { "type": "text", "text": "tents" }]);
    for (content, reasoning) in [(parts, Value::Null), (json!("tents"), json!("coffee"))] {
        let mut answer = completion("");
        answer["choices"][0]["message"]["content"] = content;
        answer["choices"][0]["message"]["reasoning_content"] = reasoning;
        assert_eq!(read_from(Reply::Json(answer)).unwrap().text, "tents");
    }
}

#[test]
fn log_probabilities_are_those_of_the_first_token_of_the_answer() {
    let token = |text: &str, log: f64| json!({ "token": text, "logprob": log });
    let at = |text: &str| json!({ "token": text, "top_logprobs": [token(text, -0.1)] });
    for (tokens, first) in [
        (vec!["Yes", "."], "Yes"),
        (vec!["<think>", "No", "</think>", "\n\n", "Yes"], "Yes"),
        (vec!["<think>", "\n\n", "</think>\n\n", "Yes"], "Yes"),
        (vec!["<think>", "No"], ""),
        (vec!["<|START_RESPONSE|>", "Yes", "<|END_RESPONSE|>"], "Yes"),
        (vec!["<|channel|>", "final", "<|message|>", "Yes", "<|return|>"], "Yes"),
        (vec!["<think>", "</think>", "\n", "<|begin_of_box|>", "\n", "Yes"], "Yes"),
    ] {
        let mut answer = completion(&tokens.concat());
        answer["choices"][0]["logprobs"]["content"] = tokens.iter().map(|text| at(text)).collect();
        let expected: &[_] = &[(first.to_owned(), -0.1)];
        let expected = if first.is_empty() { &[] } else { expected };
        assert_eq!(read_from(Reply::Json(answer)).unwrap().first_token, expected, "{tokens:?}");
    }
}

#[test]
fn parameters_are_set_renamed_and_left_out() {
    let stub = Stub::working();
    let folder = tempfile::tempdir().unwrap();
    let body = |parameters: Value| {
        let config = chat_config(&stub, json!({ "parameters": parameters }));
        let registry = session(CallOptions::default());
        ask(&*chat(&config, &registry, folder.path()));
        let mut body = stub.received().pop().unwrap().body;
        let body = body.as_object_mut().unwrap();
        body.shift_remove("messages");
        body.shift_remove("model");
        (Value::Object(body.clone()), lines(&registry))
    };
    let (plain, _) = body(json!({}));
    let usual = json!({ "max_tokens": 512, "temperature": 0.0, "seed": 42, "stream": false });
    assert_eq!(plain, usual);
    let openai = json!({
        "max_completion_tokens": 200, "reasoning_effort": "low", "seed": false, "temperature": false,
    });
    let (sent, lines) = body(openai);
    let expected =
        json!({ "stream": false, "max_completion_tokens": 200, "reasoning_effort": "low" });
    assert_eq!(sent, expected);
    let request: Value = serde_json::from_str(&lines).unwrap();
    assert_eq!(request["request"]["server_parameters"]["reasoning_effort"], "low");
    let (sent, _) = body(json!({ "seed": "random_seed", "max_tokens": "max_completion_tokens" }));
    let expected = json!({
        "temperature": 0.0, "stream": false, "max_completion_tokens": 512, "random_seed": 42,
    });
    assert_eq!(sent, expected);
    assert_eq!(body(json!({ "stream": true })).0["stream"], true);
    let (sent, _) = body(json!({ "chat_template_kwargs": { "enable_thinking": false } }));
    assert_eq!(sent["chat_template_kwargs"]["enable_thinking"], false);
}

#[test]
fn parameters_that_change_another_part_of_the_request_are_refused() {
    let stub = Stub::working();
    for parameters in [
        json!({ "max_tokens": 9 }),
        json!({ "temperature": 1.0 }),
        json!({ "model": "x" }),
        json!({ "stream": false }),
        json!({ "stream": "true" }),
        json!({ "max_tokens": "messages" }),
        json!({ "max_tokens": "temperature" }),
        json!({ "seed": "stream" }),
        json!({ "seed": "model" }),
        json!({ "temperature": "n" }),
        json!({ "seed": "" }),
        json!({ "": 1 }),
        json!({ "max_tokens": "a", "seed": "a" }),
        json!({ "max_tokens": "top_k", "top_k": 5 }),
        json!({ "max_completion_tokens": false }),
        json!({ "max_completion_tokens": 0 }),
        json!({ "max_completion_tokens": "x" }),
        json!({ "x": null }),
        json!({ "x": [{ "y": null }] }),
    ] {
        let config = chat_config(&stub, json!({ "parameters": parameters }));
        let found = parts(config.check(&Location::file("x.toml")));
        assert!(found.contains("in `parameters`: "), "{parameters}: {found}");
    }
    for (parameters, samples) in [
        (json!({ "seed": "low", "reasoning_effort": "low", "do_sample": false }), false),
        (json!({ "max_tokens": "max_completion_tokens" }), false),
        (json!({ "max_tokens": false, "max_completion_tokens": 9 }), false),
        (json!({ "stream": true, "stream_options": { "include_usage": true } }), false),
        (json!({ "temperature": false }), true),
        (json!({ "temperature": "temp" }), true),
    ] {
        let config = chat_config(&stub, json!({ "parameters": parameters }));
        config.check(&Location::file("x.toml")).unwrap();
        assert_eq!(config.samples(), samples, "{parameters}");
    }
}

#[test]
fn a_limit_on_tokens_may_be_as_large_as_a_number() {
    let stub = Stub::working();
    for key in ["max_completion_tokens", "max_new_tokens"] {
        let folder = tempfile::tempdir().unwrap();
        let config = chat_config(&stub, json!({ "parameters": { key: i64::MAX } }));
        ask(&*chat(&config, &Registry::default(), folder.path()));
        let registry = session(CallOptions { dry_run: true, ..CallOptions::default() });
        let absent = folder.path().join("absent");
        let model = chat(&config, &registry, &absent);
        model.complete(&requests(&["a", "b", "c"]), &|_, _| Ok(())).unwrap();
        assert_eq!(registry.calls().planned()["far"].completion_tokens, u64::MAX);
    }
}

#[test]
fn values_that_no_server_has_are_refused_by_their_key() {
    for (kind, key, value) in [
        ("chat", "timeout", 9_000_000_000_000_000_000_u64),
        ("embed", "dimensions", 1 << 62),
        ("embed", "concurrency", 257),
    ] {
        let config = config(kind, "http://127.0.0.1:1", json!({ key: value }));
        let found = parts(config.check(&Location::file("x.toml")));
        assert!(found.contains(&format!("| {key} from 1 to ")), "{found}");
        assert!(found.contains(&value.to_string()), "{found}");
    }
}

#[test]
fn recorded_vectors_without_numbers_are_refused() {
    let stub = Stub::working();
    let folder = tempfile::tempdir().unwrap();
    let registry = session(CallOptions::default());
    let config = config("embed", &stub.url, json!({ "dialect": "tei" }));
    let model = encoder_in(&config, &registry, folder.path());
    model.encode(&["a"], &|_| {}).unwrap();
    let line = lines(&registry);
    let (request, _) = line.split_once("\"answer\"").unwrap();
    for answer in [
        "\"answer\":{\"dimensions\":0,\"base64\":\"\"}}",
        "\"answer\":{\"dimensions\":4611686018427387904,\"base64\":\"\"}}",
    ] {
        let registry = replaying(&format!("{request}{answer}\n"));
        let model = encoder_in(&config, &registry, folder.path());
        let found = parts(model.encode(&["a"], &|_| {}));
        assert!(found.contains("1 vectors of length "), "{found}");
    }
}

#[test]
fn a_dry_run_has_short_vectors_whatever_their_length() {
    let folder = tempfile::tempdir().unwrap();
    for more in [json!({}), json!({ "dimensions": 65_536 })] {
        let config = config("embed", "http://127.0.0.1:1/v1", more);
        let registry = session(CallOptions { dry_run: true, ..CallOptions::default() });
        let model = encoder_in(&config, &registry, folder.path());
        let vectors = model.encode_documents(&["a", "", "b"], &|_| {}).unwrap();
        assert_eq!((vectors.dim, &vectors.values[..]), (1, &[0.0; 3][..]));
        assert_eq!(registry.calls().planned()["far"].calls, 1);
    }
}

#[test]
fn default_stands_for_the_only_model_of_a_server() {
    let folder = tempfile::tempdir().unwrap();
    let stub = named("qwen", Ok(vec!["qwen"]));
    let config = chat_config(&stub, json!({ "model": "default" }));
    let registry = session(CallOptions::default());
    ask(&*chat(&config, &registry, folder.path()));
    assert_eq!(stub.received()[0].body["model"], "qwen");
    let line: Value = serde_json::from_str(&lines(&registry)).unwrap();
    assert_eq!(line["request"]["model"], "default", "the request is that of the system");
    let two = named("qwen", Ok(vec!["qwen", "llama"]));
    let two_config = chat_config(&two, json!({ "model": "default" }));
    let registry = session(CallOptions::default());
    assert!(registry.set("far", Some(&two_config)));
    let name = ModelName::new("far", ModelKind::Chat);
    let found = parts(registry.open(&name, folder.path(), &Silent));
    assert!(found.contains("| 2, such as qwen, llama |"), "{found}");
    assert!(found.contains("--set models.far.model=NAME"), "{found}");
    let unlisted = named("qwen", Err(404));
    let config = chat_config(&unlisted, json!({ "model": "default" }));
    ask(&*chat(&config, &Registry::default(), folder.path()));
    assert!(unlisted.received()[0].body["model"].is_null(), "no server has a model of that name");
}

/// Opens the model `far` and tells what there is to tell.
pub(crate) fn opened(
    config: &EndpointConfig,
    registry: &Registry,
    cache: &Path,
    notes: &Notes,
) -> Arc<dyn ChatModel> {
    assert!(registry.set("far", Some(config)));
    let name = ModelName::new("far", ModelKind::Chat);
    let Model::Chat(model) = registry.open(&name, cache, notes).unwrap().unwrap() else { panic!() };
    model
}

/// A server at one address whose model changes.
pub(crate) fn changing(lists: bool) -> (Stub, Arc<Mutex<&'static str>>) {
    let model = Arc::new(Mutex::new("one"));
    let now = Arc::clone(&model);
    let reply = move |_: &Received, _: usize| {
        let name = *now.lock().unwrap();
        let mut answer = completion(&format!("I am {name}"));
        answer["model"] = name.into();
        Reply::Json(answer)
    };
    let listed = Arc::clone(&model);
    let models = move || lists.then(|| vec![*listed.lock().unwrap()]).ok_or(404);
    (Stub::with_models(reply, models), model)
}

#[test]
fn a_server_that_is_busy_is_asked_again_for_its_models() {
    let folder = tempfile::tempdir().unwrap();
    let asked = Arc::new(Mutex::new(0));
    let stub = {
        let asked = Arc::clone(&asked);
        let models = move || {
            let mut asked = asked.lock().unwrap();
            *asked += 1;
            if *asked == 2 { Err(503) } else { Ok(vec!["one"]) }
        };
        Stub::with_models(|_, _| Reply::Json(completion("tents")), models)
    };
    let config = chat_config(&stub, json!({ "retries": 1 }));
    for _ in 0..2 {
        let notes = Notes::default();
        let registry = session(CallOptions::default());
        ask(&*opened(&config, &registry, folder.path(), &notes));
        assert_eq!(notes.0.into_inner().unwrap(), [""; 0], "the model is the same");
    }
    assert_eq!((*asked.lock().unwrap(), stub.received().len()), (3, 1));
}

#[test]
fn encoders_are_asked_for_the_model_that_the_server_lists() {
    let stub = Stub::working();
    let config = config("embed", &format!("{}/v1", stub.url), json!({ "model": "default" }));
    encoder(&config).encode(&["a"], &|_| {}).unwrap();
    assert_eq!(stub.received()[0].body["model"], "stub");
}
