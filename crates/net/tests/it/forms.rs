//! The dialects, and the faults of servers.
//!
//! The answers of known servers in `tests/data` are examples of their documentation, shortened to two
//! texts: `embed-openai` the API reference (`embed-gemini` leaves out the index 0), `embed-tei` and `rerank-tei` the schemas `EmbedResponse` and
//! `RerankResponse` of TEI's `docs/openapi.json`, `rerank-vllm` vLLM's page "Scoring" (`/v1/rerank`),
//! `rerank-jina`, `rerank-voyage` and `rerank-cohere` the references of `/v1/rerank` and `/v2/rerank`, `rerank-llama-cpp`
//! the server's README. `chat-llama-cpp` was recorded from llama-cpp-python 0.3.36 with `--logits_all`.

use crate::stub::{Received, Reply, Stub, completion};
use crate::{chat, complete, config, encoder, parts, read_from, requests, reranker, session};
use clariq_core::{Completion, Similarity};
use clariq_net::CallOptions;
use serde_json::{Value, json};
use std::num::NonZeroU32;
use std::time::{Duration, Instant};

#[test]
fn a_chat_request_is_sent_as_openai_documents_it() {
    let stub = Stub::working();
    let folder = tempfile::tempdir().unwrap();
    let config = config("chat", &format!("{}/v1/", stub.url), json!({}));
    let model = chat(&config, &session(CallOptions::default()), folder.path());
    let mut asked = requests(&["hello", "again"]);
    asked[1].parameters.top_logprobs = 2;
    asked[1].parameters.max_tokens = NonZeroU32::MIN;
    let completions = model.complete(&asked, &|_, _| Ok(())).unwrap();
    assert_eq!(completions[0].text, "HELLO");
    assert_eq!(completions[0].model, "upper-case-1");
    assert_eq!(
        (completions[0].prompt_tokens, completions[0].completion_tokens),
        (Some(7), Some(3))
    );
    assert!(!completions[0].cut);
    let expected = [("Yes".to_owned(), -0.25), ("No".to_owned(), -1.5)];
    assert_eq!(completions[1].first_token, expected);
    let mut received = stub.received();
    received.sort_by_key(|one| one.body["messages"][1]["content"] != "hello");
    assert_eq!(received[0].path, "/v1/chat/completions");
    assert_eq!(
        received[0].body,
        json!({
            "model": "m",
            "messages": [
                { "role": "system", "content": "Write it in capitals." },
                { "role": "user", "content": "hello" },
            ],
            "max_tokens": 512,
            "temperature": 0.0,
            "seed": 42,
            "stream": false,
        })
    );
    assert_eq!(received[1].body["logprobs"], true);
    assert_eq!(received[1].body["top_logprobs"], 2);
    assert_eq!(received[1].body["max_tokens"], 1);
    assert!(received[0].headers.contains(&"content-type: application/json".to_owned()));
}

#[test]
fn completions_of_known_servers_are_read() {
    let path = format!("{}/tests/data/chat-llama-cpp.json", env!("CARGO_MANIFEST_DIR"));
    let answer = Reply::status(200, &std::fs::read_to_string(path).unwrap());
    let read = read_from(answer).unwrap();
    assert_eq!((read.text.as_str(), read.cut, read.prompt_tokens), ("No", true, Some(40)));
    assert_eq!(read.first_token[2], ("Yes".to_owned(), -2.475_087_642_669_677_7));
    // Servers without log-probabilities leave them out or give null.
    let mut cut = completion("in the middle of");
    cut["choices"][0]["finish_reason"] = "length".into();
    cut["choices"][0]["logprobs"] = Value::Null;
    let read = read_from(Reply::Json(cut)).unwrap();
    assert!(read.cut && read.first_token.is_empty());
    // A model that reasons may have no tokens left for a text.
    let message = json!({ "role": "assistant", "content": null, "reasoning_content": "Hm." });
    let bare = json!({ "choices": [{ "message": message, "finish_reason": "length" }] });
    let read = read_from(Reply::Json(bare)).unwrap();
    assert_eq!(read, Completion { cut: true, ..Completion::default() });
}

#[test]
fn what_only_informs_is_read_in_any_form() {
    let answer = |key: &str, value: Value| {
        let mut answer = completion("tents");
        answer[key] = value;
        answer
    };
    for odd in [
        answer("usage", json!([])),
        answer("usage", json!({ "prompt_tokens": 7.5, "completion_tokens": -1 })),
        answer("usage", json!("7")),
        answer("model", json!(5)),
        answer("system_fingerprint", json!({})),
    ] {
        let read = read_from(Reply::Json(odd.clone())).unwrap();
        assert_eq!((read.text.as_str(), read.cut), ("tents", false), "{odd}");
    }
    for (status, before) in [(201, ""), (200, "\u{feff}"), (200, "\n\n")] {
        let body = format!("{before}{}", completion("tents"));
        let read = read_from(Reply::status(status, &body)).unwrap();
        assert_eq!(read.text, "tents", "{status} {before:?}");
    }
}

#[test]
fn the_answer_is_the_first_choice_and_no_refusal() {
    let choice =
        |index: Value, text: &str| json!({ "index": index, "message": { "content": text } });
    let refusal = |content: Value, why: Value| json!({ "message": { "content": content, "refusal": why }, "finish_reason": "stop" });
    for (choices, text) in [
        (json!([choice(json!(1), "cars"), choice(json!(0), "tents")]), "tents"),
        (json!([choice(Value::Null, "tents"), choice(Value::Null, "cars")]), "tents"),
        (json!([choice(json!(1), "tents")]), "tents"),
        (json!([refusal(json!("tents"), Value::Null)]), "tents"),
        (json!([refusal(json!("tents"), json!(""))]), "tents"),
        (json!([refusal(Value::Null, json!("I cannot."))]), ""),
        (json!([refusal(json!("I cannot, but tents"), json!("I cannot."))]), ""),
    ] {
        let answer = json!({ "choices": choices });
        let read = read_from(Reply::Json(answer)).unwrap();
        assert_eq!(read.text, text, "{choices}");
    }
}

#[test]
fn log_probabilities_are_at_most_0() {
    let answer = |alternatives: Value| {
        let mut answer = completion("Yes");
        let token = json!({ "token": "Yes", "top_logprobs": alternatives });
        answer["choices"][0]["logprobs"] = json!({ "content": [token] });
        read_from(Reply::Json(answer))
    };
    let yes = |log: f64| json!([{ "token": "Yes", "logprob": log }]);
    assert_eq!(answer(yes(1e-6)).unwrap().first_token, [("Yes".to_owned(), 1e-6)]);
    assert_eq!(answer(Value::Null).unwrap().first_token, []);
    let found = parts(answer(yes(800.0)));
    assert!(found.contains("the log-probability 800, which is above 0"), "{found}");
}

#[test]
fn only_what_the_model_has_ended_is_whole() {
    let whole = ["stop", "eos_token", "stop_sequence", ""];
    let at_max_tokens = ["length"];
    let other =
        ["content_filter", "tool_calls", "abort", "STOP", "end_turn", "max_tokens", "</s>", "null"];
    let all = whole.map(|reason| (reason, false, ""));
    let all = all.into_iter().chain(at_max_tokens.map(|reason| (reason, true, "")));
    for (reason, cut, cut_by) in all.chain(other.map(|reason| (reason, true, reason))) {
        let mut answer = completion("do you want tyre repair or bu");
        answer["choices"][0]["finish_reason"] = reason.into();
        let read = read_from(Reply::Json(answer)).unwrap();
        assert_eq!((read.cut, &*read.cut_by), (cut, cut_by), "{reason}");
    }
    // 512 tokens were allowed: a text of just as many is cut, whatever the server says.
    for reason in [Some("stop"), Some(""), None] {
        for (tokens, cut) in [(511, false), (512, true), (513, false)] {
            let mut answer = completion("do you want tyre repair?");
            answer["choices"][0]["finish_reason"] = json!(reason);
            answer["usage"]["completion_tokens"] = tokens.into();
            let read = read_from(Reply::Json(answer)).unwrap();
            assert_eq!((read.cut, &*read.cut_by), (cut, ""), "{reason:?} {tokens}");
        }
    }
}

#[test]
fn every_fault_is_an_error_that_names_the_request() {
    let html = Reply::status(200, "<html>");
    let text = Reply::Json(json!({ "choices": [{ "message": { "content": 3 } }] }));
    let nan = Reply::status(
        200,
        r#"{"choices": [{"message": {"content": "a"}, "logprobs": {"content": [{"top_logprobs": [{"token": "a", "logprob": NaN}]}]}}]}"#,
    );
    let moved = Reply::Status(302, "Location: http://example.org/\r\n".to_owned(), String::new());
    for (reply, says) in [
        (html, "expected value at line 1"),
        (Reply::Json(json!({})), "missing field `choices`"),
        (Reply::Json(json!({ "choices": [] })), "0 items in `choices`"),
        (text, "`content` that is no text"),
        (nan, "expected value at line 1"),
        (Reply::Cut, "1 time"),
        (Reply::Endless, "an answer of more than 320 KiB"),
        (moved, "redirects are not followed"),
        (Reply::status(400, "too long"), "status 400 Bad Request: too long"),
        (Reply::status(401, "who are you"), "CLARIQ_API_KEY holds the key"),
        (Reply::status(500, "oops"), "status 500 Internal Server Error: oops, 1 time"),
    ] {
        let stub = Stub::always(reply.clone());
        let found = parts(complete(&stub, json!({})));
        assert!(found.contains(says), "{reply:?}: {found}");
        assert!(found.contains("for request 0: "), "{reply:?}: {found}");
        assert_eq!(stub.received().len(), 1, "{reply:?}");
    }
}

#[test]
fn a_slow_answer_is_ended_by_the_timeout() {
    let found = parts(complete(&Stub::always(Reply::Drip), json!({ "timeout": 1 })));
    assert!(found.contains("for request 0: the server fell silent, 1 time"), "{found}");
}

#[test]
fn a_busy_server_is_asked_again_after_the_time_that_it_names() {
    let wait = |seconds: u64| format!("Retry-After: {seconds}\r\n");
    let busy = move |_: &Received, number: usize| match number {
        0 => Reply::Status(429, wait(1), "slow down".to_owned()),
        1 => Reply::Status(500, wait(0), "oops".to_owned()),
        2 => Reply::Status(503, wait(0), "starting".to_owned()),
        _ => Reply::Json(completion("there")),
    };
    let stub = Stub::start(busy);
    let began = Instant::now();
    assert_eq!(complete(&stub, json!({ "retries": 3 })).unwrap().text, "there");
    assert!(began.elapsed() >= Duration::from_secs(1));
    assert_eq!(stub.received().len(), 4);
    let stub = Stub::always(Reply::Status(429, wait(0), "slow down".to_owned()));
    let found = parts(complete(&stub, json!({ "retries": 2 })));
    assert!(found.contains("status 429 Too Many Requests: slow down, 3 times"), "{found}");
    assert_eq!(stub.received().len(), 3);
    // A wait of an hour is refused.
    let stub = Stub::always(Reply::Status(429, wait(3600), "come back".to_owned()));
    let found = parts(complete(&stub, json!({ "retries": 2 })));
    assert!(found.contains("to wait for 3600 s (at most 60 s)"), "{found}");
    assert_eq!(stub.received().len(), 1);
}

#[test]
fn texts_are_encoded_in_both_dialects() {
    let stub = Stub::working();
    let v1 = config(
        "embed",
        &format!("{}/v1", stub.url),
        json!({ "batch": 2, "query_prompt": "q: ", "document_prompt": "r: ", "dimensions": 4 }),
    );
    let tei = config("embed", &stub.url, json!({ "dialect": "tei", "normalise": false }));
    let (v1, tei) = (encoder(&v1), encoder(&tei));
    assert_eq!((v1.similarity(), tei.similarity()), (Similarity::Cosine, Similarity::Dot));
    assert_ne!(v1.checksum(), tei.checksum());
    // Four letters are counted, from 1 on.
    let plain = tei.encode(&["area", ""], &|_| {}).unwrap();
    assert_eq!(
        (plain.dim, plain.row(0), plain.row(1)),
        (4, &[3.0, 2.0, 1.0, 2.0][..], &[0.0; 4][..])
    );
    let length = 18f64.sqrt();
    let scaled = v1.encode(&["area"], &|_| {}).unwrap();
    assert_eq!(scaled.row(0), [3.0, 2.0, 1.0, 2.0].map(|value| (value / length) as f32));
    let documents = v1.encode_documents(&["a", "o", "area"], &|_| {}).unwrap();
    assert_eq!(documents.len(), 3);
    let length = 23f64.sqrt();
    assert_eq!(documents.row(2), [3.0, 2.0, 1.0, 3.0].map(|value| (value / length) as f32));
    let received = stub.received();
    let texts: Vec<&Value> = received.iter().map(|one| &one.body).collect();
    assert_eq!(texts[0], &json!({ "inputs": ["area"], "normalize": false, "truncate": false }));
    assert_eq!(
        texts[1],
        &json!({ "model": "m", "input": ["q: area"], "encoding_format": "float" })
    );
    let mut batches: Vec<&Value> = texts[2..].iter().map(|body| &body["input"]).collect();
    batches.sort_by_key(|batch| std::cmp::Reverse(batch.as_array().unwrap().len()));
    assert_eq!(batches, [&json!(["r: a", "r: o"]), &json!(["r: area"])]);
    assert_eq!(tei.encode(&[], &|_| {}).unwrap().len(), 0);
    // The length of a vector is known from a text if there is no other.
    let alone = encoder(&config("embed", &stub.url, json!({ "dialect": "tei" })));
    assert_eq!(alone.encode(&[""], &|_| {}).unwrap().row(0), [0.0; 4]);
}

#[test]
fn missing_repeated_and_malformed_vectors_are_refused() {
    let one = |vector: Value| json!({ "data": [{ "index": 0, "embedding": vector }] });
    let item = |index: usize| json!({ "index": index, "embedding": [1.0, 2.0] });
    let v1 = |body: Value| (body.to_string(), json!({}));
    let tei = |body: &str| (body.to_owned(), json!({ "dialect": "tei" }));
    for ((body, more), says) in [
        (v1(one(json!([1.0]))), "no vector for index 1 of 2 texts"),
        (v1(json!({ "data": [item(0), item(0)] })), "the index 0 twice"),
        (v1(json!({ "data": [item(0), item(2)] })), "the index 2 for 2 texts"),
        (v1(one(json!([]))), "a vector without numbers"),
        (v1(one(json!([0.0, 0.0]))), "zero or not finite"),
        (v1(one(json!("AAAA"))), "invalid type: string"),
        (tei("[[1.0, 2.0], [3.0]]"), "a vector of length 1 where 2 is expected"),
        (tei("[[1.0, NaN], [1.0, 2.0]]"), "expected value"),
        (tei("[[1.0, 1e999], [1.0, 2.0]]"), "number out of range"),
        (tei("[[1.0, null], [1.0, 2.0]]"), "invalid type: null"),
        (tei("[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]"), "the index 2 for 2 texts"),
        (tei("{}"), "invalid type: map"),
    ] {
        let stub = Stub::always(Reply::status(200, &body));
        let encoder = encoder(&config("embed", &stub.url, more));
        let found = parts(encoder.encode_documents(&["first text", "second"], &|_| {}));
        assert!(found.contains(says) && found.contains("for \"first text\": "), "{body}: {found}");
    }
    let stub = Stub::working();
    let wrong = config("embed", &format!("{}/v1", stub.url), json!({ "dimensions": 384 }));
    let found = parts(encoder(&wrong).encode(&["a"], &|_| {}));
    assert!(found.contains("a vector of length 4 where 384 is expected"), "{found}");
    // The square of this length is no number, and every value divided by it would be 0.
    let huge = Stub::always(Reply::status(200, "[[1e300, 1e300]]"));
    let found = parts(
        encoder(&config("embed", &huge.url, json!({ "dialect": "tei" }))).encode(&["a"], &|_| {}),
    );
    assert!(found.contains("a vector whose length is not finite"), "{found}");
    let large = Stub::always(Reply::status(200, "[[1e39, 0.0]]"));
    let plain = config("embed", &large.url, json!({ "dialect": "tei", "normalise": false }));
    let found = parts(encoder(&plain).encode(&["a"], &|_| {}));
    assert!(found.contains("zero or not finite"), "{found}");
    for vector in ["[[1e-60, -1e-60]]", "[[0.0, 0.0]]"] {
        let small = Stub::always(Reply::status(200, vector));
        let plain = config("embed", &small.url, json!({ "dialect": "tei", "normalise": false }));
        let found = parts(encoder(&plain).encode(&["a"], &|_| {}));
        assert!(found.contains("zero or not finite, in 32 bits"), "{vector}: {found}");
    }
}

#[test]
fn pairs_are_scored_in_both_dialects() {
    let stub = Stub::working();
    let pairs = [("a b", "a"), ("a b", "b a"), ("a b", "c"), ("c", "c c"), ("a b", "b")];
    for (url, more) in [
        (format!("{}/v1", stub.url), json!({ "batch": 2 })),
        (stub.url.clone(), json!({ "batch": 2, "dialect": "tei", "truncate": true })),
    ] {
        let reranker = reranker(&config("rerank", &url, more));
        assert_eq!(reranker.score(&pairs, &|_| {}).unwrap(), [1.0, 2.0, 0.0, 2.0, 1.0]);
    }
    let received = stub.received();
    let is_first = |one: &&Received| one.body.to_string().contains(r#"["a","b a"]"#);
    let bodies: Vec<Value> = received.iter().filter(is_first).map(|one| one.body.clone()).collect();
    assert_eq!(bodies[0], json!({ "model": "m", "query": "a b", "documents": ["a", "b a"] }));
    let tei =
        json!({ "query": "a b", "texts": ["a", "b a"], "raw_scores": true, "truncate": true });
    assert_eq!(bodies[1], tei);
    assert_eq!(received.len(), 8);
}

#[test]
fn scores_and_vectors_of_known_servers_are_read() {
    for (name, dialect) in [
        ("vllm", "v1"),
        ("llama-cpp", "v1"),
        ("jina", "v1"),
        ("cohere", "v1"),
        ("voyage", "v1"),
        ("tei", "tei"),
    ] {
        let path = format!("{}/tests/data/rerank-{name}.json", env!("CARGO_MANIFEST_DIR"));
        let stub = Stub::always(Reply::status(200, &std::fs::read_to_string(path).unwrap()));
        let reranker = reranker(&config("rerank", &stub.url, json!({ "dialect": dialect })));
        let scores = reranker.score(&[("q", "a"), ("q", "b")], &|_| {}).unwrap();
        assert!(scores[0] < scores[1], "{name}: {scores:?}");
    }
    for (name, dialect) in [("openai", "v1"), ("gemini", "v1"), ("tei", "tei")] {
        let path = format!("{}/tests/data/embed-{name}.json", env!("CARGO_MANIFEST_DIR"));
        let stub = Stub::always(Reply::status(200, &std::fs::read_to_string(path).unwrap()));
        let encoder = encoder(&config("embed", &stub.url, json!({ "dialect": dialect })));
        let vectors = encoder.encode_documents(&["a", "b"], &|_| {}).unwrap();
        assert!(vectors.row(0)[0] < 0.0 && vectors.row(1)[0] > 0.0, "{name}: {vectors:?}");
    }
}

#[test]
fn missing_repeated_and_malformed_scores_are_refused() {
    let results = |indices: &[usize]| {
        let score = |index| json!({ "index": index, "relevance_score": 0.5 });
        json!({ "results": indices.iter().map(score).collect::<Vec<_>>() }).to_string()
    };
    for (body, says) in [
        (results(&[0]), "no score for index 1 of 2 texts"),
        (results(&[1, 1]), "the index 1 twice"),
        (results(&[0, 1, 2]), "the index 2 for 2 texts"),
        (r#"{"results": [{"index": 0, "relevance_score": NaN}]}"#.to_owned(), "expected value"),
        (r#"{"results": [{"index": 0, "relevance_score": 1e300}]}"#.to_owned(), "no finite number"),
        (r#"{"results": [{"index": 0, "relevance_score": 2e-50}]}"#.to_owned(), "0 in 32 bits"),
        (r#"[{"index": 0, "score": 0.5}]"#.to_owned(), "invalid type"),
    ] {
        let stub = Stub::always(Reply::status(200, &body));
        let reranker = reranker(&config("rerank", &stub.url, json!({})));
        let found = parts(reranker.score(&[("query", "a"), ("query", "b")], &|_| {}));
        assert!(found.contains(says) && found.contains("for \"query\": "), "{body}: {found}");
    }
}
