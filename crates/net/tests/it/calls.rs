//! Calls are cached, replayed, counted and limited, whatever the concurrency.

use crate::stub::{Received, Reply, Stub, dialects};
use crate::{chat, config, encoder_in, lines, parts, replaying, requests, reranker_in, session};
use clariq_core::{ChatModel, Embeddings, Error};
use clariq_files::Source;
use clariq_net::{CallOptions, EndpointConfig, Planned, Recording, Registry};
use serde_json::json;
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

fn texts(model: &dyn ChatModel, texts: &[&str]) -> Result<Vec<String>, Error> {
    let completions = model.complete(&requests(texts), &|_, _| Ok(()))?;
    Ok(completions.into_iter().map(|completion| completion.text).collect())
}

fn config_of(stub: &Stub, concurrency: usize) -> EndpointConfig {
    config("chat", &format!("{}/v1", stub.url), json!({ "concurrency": concurrency }))
}

const TEXTS: [&str; 6] = ["f", "b", "e", "b", "a", "d"];

#[test]
fn the_order_and_the_bytes_do_not_depend_on_the_concurrency() {
    let mut all = Vec::new();
    for concurrency in [1, 5] {
        let folder = tempfile::tempdir().unwrap();
        // The first is answered last.
        let stub = Stub::start(|received, _| {
            let is_first = received.body["messages"][1]["content"] == "f";
            thread::sleep(Duration::from_millis(if is_first { 200 } else { 10 }));
            dialects(received)
        });
        let registry = session(CallOptions::default());
        let model = chat(&config_of(&stub, concurrency), &registry, folder.path());
        assert_eq!(texts(&*model, &TEXTS).unwrap(), ["F", "B", "E", "B", "A", "D"]);
        assert_eq!(stub.received().len(), 5, "the same request is sent once");
        assert!(
            stub.most_at_once() <= concurrency && (concurrency == 1) == (stub.most_at_once() == 1)
        );
        all.push(lines(&registry));
    }
    assert_eq!(all[0], all[1]);
    assert_eq!(all[0].lines().count(), 5);
    assert!(
        all[0].starts_with(r#"{"about":"request 0","request":{"kind":"chat","model":"m","#),
        "{}",
        all[0]
    );
    assert!(!all[0].contains("127.0.0.1"));
}

#[test]
fn a_restarted_run_sends_only_unanswered_calls() {
    let folder = tempfile::tempdir().unwrap();
    // Only the third request fails.
    let stub = Stub::start(|received, number| match number {
        2 => Reply::status(400, "no more"),
        _ => dialects(received),
    });
    let config = config_of(&stub, 1);
    let found = parts(texts(&*chat(&config, &Registry::default(), folder.path()), &TEXTS));
    assert!(found.contains("for request 2: status 400"), "{found}");
    let registry = session(CallOptions::default());
    let again = chat(&config, &registry, folder.path());
    assert_eq!(texts(&*again, &TEXTS).unwrap(), ["F", "B", "E", "B", "A", "D"]);
    assert_eq!(stub.received().len(), 3 + 3, "two answers were kept");
    assert_eq!(lines(&registry).lines().count(), 5, "those of the cache are recorded as well");
    // Another server may have another model of that name.
    let other = Stub::working();
    texts(&*chat(&config_of(&other, 1), &Registry::default(), folder.path()), &["f"]).unwrap();
    assert_eq!(other.received().len(), 1);
    for entry in std::fs::read_dir(folder.path()).unwrap() {
        let path = entry.unwrap().path();
        let text = std::fs::read_to_string(&path).unwrap();
        assert!(!text.contains("127.0.0.1") && !path.display().to_string().contains("127.0"));
    }
}

#[test]
fn a_replay_needs_no_server_and_refuses_unrecorded_requests() {
    let folder = tempfile::tempdir().unwrap();
    let stub = Stub::working();
    let registry = session(CallOptions::default());
    texts(&*chat(&config_of(&stub, 8), &registry, folder.path()), &TEXTS).unwrap();
    let recording = lines(&registry);
    let nowhere = config("chat", "http://127.0.0.1:1", json!({}));
    let registry = replaying(&recording);
    let absent = folder.path().join("absent");
    assert_eq!(texts(&*chat(&nowhere, &registry, &absent), &TEXTS[..2]).unwrap(), ["F", "B"]);
    assert_eq!(
        lines(&registry).lines().collect::<Vec<_>>(),
        recording.lines().take(2).collect::<Vec<_>>()
    );
    let found = parts(texts(&*chat(&nowhere, &replaying(&recording), &absent), &["f", "z"]));
    assert!(found.contains("a.completions.jsonl | the answer for request 1 | none"), "{found}");
    let mut other = requests(&["f"]);
    other[0].parameters.seed = 7;
    let model = chat(&nowhere, &replaying(&recording), &absent);
    assert!(model.complete(&other, &|_, _| Ok(())).is_err(), "another seed is another request");
    assert!(!absent.exists(), "nothing is cached");
    let error = Recording::read(&Source::memory("x", b"{\"about\": 3}\n".to_vec()));
    assert!(parts(error).starts_with("x:1 | "), "a line of another form");
}

#[test]
fn scores_are_recorded_and_replayed() {
    let stub = Stub::working();
    let folder = tempfile::tempdir().unwrap();
    let score = |url: &str, registry: &Registry| {
        let config = config("rerank", url, json!({}));
        let model = reranker_in(&config, registry, folder.path());
        model.score(&[("a b", "a"), ("a b", "a b")], &|_| {}).unwrap()
    };
    let registry = session(CallOptions::default());
    let url = format!("{}/v1", stub.url);
    assert_eq!(score(&url, &registry), [1.0, 2.0]);
    let text = lines(&registry);
    assert!(text.contains(r#""documents":["a","a b"]},"answer":[1.0,2.0]}"#), "{text}");
    assert_eq!(score(&url, &registry), [1.0, 2.0]);
    assert_eq!(stub.received().len(), 1, "the second time, it is in the cache");
    assert_eq!(score("http://127.0.0.1:1", &replaying(&text)), [1.0, 2.0]);
}

#[test]
fn vectors_are_recorded_and_replayed_bit_for_bit() {
    for (dialect, path) in [("v1", "/v1"), ("tei", "")] {
        let stub = Stub::working();
        let folder = tempfile::tempdir().unwrap();
        let encode = |url: &str, registry: &Registry| {
            let keys = json!({
                "dialect": dialect, "batch": 2, "query_prompt": "q ", "document_prompt": "d ",
            });
            let config = config("embed", url, keys);
            let model = encoder_in(&config, registry, folder.path());
            let counted = AtomicU64::new(0);
            let count = |texts| {
                counted.fetch_add(texts, Ordering::Relaxed);
            };
            let documents = ["aeon", "", "roar", "error"];
            let vectors = [
                model.encode(&["oar", "ear"], &count).unwrap(),
                model.encode_documents(&documents, &count).unwrap(),
                model.encode_documents_alone(&documents, &count).unwrap(),
            ];
            assert_eq!(counted.into_inner(), 2 + 4 + 4);
            let bits = |one: &Embeddings| {
                one.values.iter().map(|value| value.to_bits()).collect::<Vec<_>>()
            };
            assert_eq!(bits(&vectors[1]), bits(&vectors[2]), "both behind the documents' prompt");
            assert!(vectors[1].row(1).iter().all(|&value| value == 0.0), "an empty text");
            [bits(&vectors[0]), bits(&vectors[1])]
        };
        let registry = session(CallOptions::default());
        let url = format!("{}{path}", stub.url);
        let first = encode(&url, &registry);
        assert_eq!(stub.received().len(), 2 + 2 + 2, "the third document was a call before");
        let text = lines(&registry);
        assert!(
            text.contains(r#""texts":["d aeon","d roar"]},"answer":{"dimensions":4,"#),
            "{text}"
        );
        assert_eq!(encode(&url, &registry), first);
        assert_eq!(stub.received().len(), 6, "the second time, they are in the cache");
        let registry = replaying(&text);
        assert_eq!(encode("http://127.0.0.1:1", &registry), first);
        assert_eq!(lines(&registry), text);
        // A vector that was shortened by hand.
        let shortened = text.replacen("\"dimensions\":4", "\"dimensions\":3", 1);
        let registry = replaying(&shortened);
        let keys = json!({ "dialect": dialect, "query_prompt": "q ", "document_prompt": "d " });
        let config = config("embed", "http://127.0.0.1:1", keys);
        let model = encoder_in(&config, &registry, folder.path());
        let found = parts(model.encode(&["oar"], &|_| {}));
        assert!(found.contains("1 vectors of length 3"), "{found}");
    }
}

#[test]
fn calls_are_limited_and_the_answers_so_far_are_kept() {
    let folder = tempfile::tempdir().unwrap();
    let stub = Stub::working();
    let bounded = || session(CallOptions { max_calls: Some(3), ..CallOptions::default() });
    let found = parts(texts(&*chat(&config_of(&stub, 8), &bounded(), folder.path()), &TEXTS));
    assert!(found.contains("--max-calls | at most 3 calls | one more, for request 4"), "{found}");
    assert_eq!(stub.received().len(), 3);
    let again = bounded();
    let model = chat(&config_of(&stub, 8), &again, folder.path());
    assert_eq!(texts(&*model, &TEXTS).unwrap().len(), 6);
    assert_eq!(stub.received().len(), 5);
    assert!(texts(&*model, &["x"]).is_ok() && texts(&*model, &["y"]).is_err(), "3 in all");
}

#[test]
fn a_dry_run_counts_and_sends_nothing() {
    let folder = tempfile::tempdir().unwrap();
    let stub = Stub::working();
    texts(&*chat(&config_of(&stub, 1), &Registry::default(), folder.path()), &["b"]).unwrap();
    let registry = session(CallOptions { dry_run: true, ..CallOptions::default() });
    let model = chat(&config_of(&stub, 1), &registry, folder.path());
    let written = texts(&*model, &TEXTS).unwrap();
    assert_eq!(written, ["", "B", "", "B", "", ""], "those in the cache are known");
    texts(&*model, &["f", "another"]).unwrap();
    assert_eq!(stub.received().len(), 1);
    let planned = registry.calls().planned()["far"];
    // 21 bytes of instructions and those of the text.
    let prompt_tokens = 4 * 6 + 7;
    let completion_tokens = 5 * 512;
    let expected = Planned { calls: 5, cached: 2, prompt_tokens, completion_tokens, dependent: 1 };
    assert_eq!(planned, expected);
}

#[test]
fn damaged_answers_in_the_cache_are_ignored() {
    let folder = tempfile::tempdir().unwrap();
    let stub = Stub::working();
    let ask = |words: &[&str]| {
        texts(&*chat(&config_of(&stub, 1), &Registry::default(), folder.path()), words)
    };
    ask(&["a", "b"]).unwrap();
    let path = std::fs::read_dir(folder.path()).unwrap().next().unwrap().unwrap().path();
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, text.replacen("\"text\":\"A\"", "\"text\":\"Z\"", 1)).unwrap();
    assert_eq!(ask(&["a", "b"]).unwrap(), ["A", "B"]);
    assert_eq!(stub.received().len(), 3);
}

/// `scripts/bench-endpoint` runs it and prints the figures.
#[test]
#[ignore = "a measurement"]
fn throughput_of_two_hundred_requests() {
    let words: Vec<String> = (0..200).map(|number| format!("request {number}")).collect();
    let words: Vec<&str> = words.iter().map(String::as_str).collect();
    let slow = |received: &Received, _: usize| {
        thread::sleep(Duration::from_millis(200));
        dialects(received)
    };
    for concurrency in [1, 8] {
        let folder = tempfile::tempdir().unwrap();
        let stub = Stub::start(slow);
        let model = chat(&config_of(&stub, concurrency), &Registry::default(), folder.path());
        let began = Instant::now();
        texts(&*model, &words).unwrap();
        let seconds = began.elapsed().as_secs_f64();
        println!("200 requests, concurrency {concurrency}: {seconds:.1} s");
    }
}
