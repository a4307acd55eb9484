//! Errors of servers in every form, and which of them are tried again.

use crate::stub::{Reply, Stub, completion};
use crate::{chat, complete, config, parts, read_from, requests, session, text_after};
use clariq_core::Location;
use clariq_files::Source;
use clariq_net::{CallOptions, Recording};
use serde_json::json;
use std::io::Write;
use std::time::{Duration, Instant, SystemTime};

#[test]
fn an_error_in_an_answer_of_status_200_is_told_in_the_words_of_the_server() {
    let choice =
        json!({ "message": { "content": "" }, "error": { "message": "no GPU", "code": 400 } });
    for (body, says, tries) in [
        (
            json!({ "error": { "message": "the model is overloaded", "code": 429 } }),
            "the model is overloaded, 2 times",
            2,
        ),
        (
            json!({ "error": { "message": "slow down", "code": "rate_limit_exceeded" } }),
            "slow down, 2 times",
            2,
        ),
        (json!({ "error": { "message": "wait", "type": "overloaded_error" } }), "wait, 2 times", 2),
        (json!({ "error": { "message": "gone away", "code": "503" } }), "gone away, 2 times", 2),
        (json!({ "error": { "message": "too long", "code": 400 } }), "for request 0: too long", 1),
        (json!({ "error": "model not found" }), "for request 0: model not found", 1),
        (json!({ "object": "error", "message": "no such model", "code": 404 }), "no such model", 1),
        (json!({ "choices": [choice] }), "for request 0: no GPU", 1),
        (json!([{ "error": { "message": "no such key", "code": 400 } }]), ": no such key |", 1),
        (json!({ "code": 50505, "message": "overloaded", "data": null }), ": overloaded |", 1),
        (json!({ "code": 429, "message": "too many" }), "too many, 2 times", 2),
        (json!({ "statusCode": 429, "message": "in 3 s" }), "in 3 s, 2 times", 2),
        (json!({ "status": 429, "error": "Too Many", "path": "/" }), "Too Many, 2 times", 2),
        (
            json!({ "error": { "message": "wait", "code": "too_many_requests" } }),
            "wait, 2 times",
            2,
        ),
    ] {
        let wait = "Retry-After: 0\r\n".to_owned();
        let stub = Stub::always(Reply::Status(200, wait, body.to_string()));
        let found = parts(complete(&stub, json!({ "retries": 1 })));
        assert!(found.contains(says), "{body}: {found}");
        assert_eq!(stub.received().len(), tries, "{body}");
    }
    let busy = json!({ "error": { "message": "busy", "code": 429 } });
    assert_eq!(text_after(Reply::Json(busy)), "there");
}

#[test]
fn an_answer_of_another_form_is_shown() {
    let message = json!({ "base_resp": { "status_msg": "no money" }, "choices": null });
    for (body, says) in [
        (
            json!({ "detail": "is overloaded" }).to_string(),
            r#"`choices`: {"detail":"is overloaded"}"#,
        ),
        (message.to_string(), "no money"),
        (json!({ "errors": [{ "message": "gone" }] }).to_string(), "gone"),
        ("<html>Please log in</html>".to_owned(), "column 1: <html>Please log in</html>"),
        (format!("[{}", " ".repeat(100_000)), "EOF while parsing"),
    ] {
        let found = parts(read_from(Reply::status(200, &body)));
        assert!(found.contains("for request 0: ") && found.contains(says), "{body}: {found}");
        assert!(found.len() < 1000, "{found}");
    }
    for error in [json!(""), json!({}), json!({ "message": "", "code": null }), json!(null)] {
        let mut answer = completion("there");
        answer["error"] = error;
        let read = read_from(Reply::Json(answer)).unwrap();
        assert_eq!(read.text, "there");
    }
}

#[test]
fn a_server_that_answers_is_there() {
    let wait = "Retry-After: 3600\r\n".to_owned();
    let busy = json!({ "error": { "message": "slow down", "code": 429 } });
    for reply in [
        Reply::status(500, "out of memory"),
        Reply::status(429, "slow down"),
        Reply::Status(429, wait, "slow down".to_owned()),
        Reply::Json(busy),
        Reply::Endless,
    ] {
        let found = parts(read_from(reply.clone()));
        assert!(found.contains("| the server is there, and "), "{reply:?}: {found}");
    }
    let found = parts(read_from(Reply::Endless));
    assert!(found.contains("`max_tokens`"), "{found}");
    let found = parts(read_from(Reply::Cut));
    assert!(found.contains("is the server there"), "{found}");
}

#[test]
fn a_refusal_names_the_remedy_that_fits_it() {
    for (status, says) in [
        (400, "the server is there, and says why it refuses the request"),
        (
            404,
            "has nothing at this address: check its path, and the name of the index or the model",
        ),
        (401, "CLARIQ_API_KEY"),
    ] {
        let found = parts(read_from(Reply::status(status, "no")));
        assert!(found.contains(says), "{status}: {found}");
    }
    let folder = tempfile::tempdir().unwrap();
    let nowhere = config("chat", "http://127.0.0.1:1/v1", json!({}));
    let model = chat(&nowhere, &session(CallOptions::default()), folder.path());
    let found = parts(model.complete(&requests(&["hello"]), &|_, _| Ok(())));
    assert!(found.contains("connection refused, 1 time"), "{found}");
    assert!(found.contains("with the model `m`"), "{found}");
    assert!(found.contains("`--set models.far.url=URL` names another"), "{found}");
}

#[test]
fn a_date_in_retry_after_is_waited_for() {
    let wait = |seconds: u64| {
        let end = SystemTime::now() + Duration::from_secs(seconds);
        format!("Retry-After: {}\r\n", httpdate::fmt_http_date(end))
    };
    let began = Instant::now();
    assert_eq!(text_after(Reply::Status(408, wait(2), String::new())), "there");
    assert!(began.elapsed() >= Duration::from_millis(900), "{:?}", began.elapsed());
    let stub = Stub::always(Reply::Status(503, wait(4000), "closed".to_owned()));
    let found = parts(complete(&stub, json!({ "retries": 1 })));
    assert!(found.contains("(at most 60 s)"), "{found}");
}

#[test]
fn packed_answers_are_read_within_their_bound() {
    let complete = |text: &str| {
        let mut packed = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::fast());
        packed.write_all(text.as_bytes()).unwrap();
        let body = packed.finish().unwrap();
        let stub = Stub::start(move |received, _| {
            assert!(received.header("accept-encoding").is_some_and(|all| all.contains("gzip")));
            Reply::Bytes("Content-Encoding: gzip\r\n".to_owned(), body.clone())
        });
        complete(&stub, json!({}))
    };
    assert_eq!(complete(&completion("there").to_string()).unwrap().text, "there");
    let found = parts(complete(&" ".repeat(10 << 20)));
    assert!(found.contains("an answer of more than 320 KiB"), "{found}");
}

#[test]
fn two_answers_to_one_request_cannot_be_replayed() {
    let line = |text: &str| {
        format!("{{\"about\":\"request 7\",\"request\":{{\"a\":1}},\"answer\":\"{text}\"}}\n")
    };
    let read = |text: String| Recording::read(&Source::memory("x", text.into_bytes()));
    assert!(read(line("one") + &line("one")).is_ok());
    let found = parts(read(line("one") + &line("two")));
    assert!(
        found.starts_with("x:2 | one answer to a request | another one for request 7"),
        "{found}"
    );
}

#[test]
fn a_recorded_answer_has_one_value_for_a_key() {
    let read = |line: &str| Recording::read(&Source::memory("x", line.as_bytes().to_vec()));
    let exchange = |request: &str, answer: &str| {
        format!("{{\"about\":\"request 7\",\"request\":{request},\"answer\":{answer}}}\n")
    };
    let answer = r#"{"text":"A","cut":false,"none":null,"tokens":[["A",-0.5],["B",-3]],"count":18446744073709551615}"#;
    assert!(read(&exchange("{\"a\":1}", answer)).is_ok());
    for (line, key) in [
        (exchange("{}", r#"{"text":"A","text":"B"}"#), "text"),
        (exchange("{}", r#"{"text":"A","text":"A"}"#), "text"),
        (exchange("{}", r#"[{"a":{"b":1,"\u0062":2}}]"#), "b"),
        (exchange(r#"{"model":"x","model":"y"}"#, "1"), "model"),
    ] {
        let found = parts(read(&line));
        let expected = format!("x:1 | a request with its answer | duplicate field `{key}`");
        assert!(found.starts_with(&expected), "{found}");
    }
}

#[test]
fn an_address_ends_before_the_path_of_a_call() {
    for path in ["/v1/chat/completions", "/v1/chat/completions/"] {
        let url = format!("http://localhost:1{path}");
        let found = parts(config("chat", &url, json!({})).check(&Location::file("x")));
        let expected =
            format!("x | an address up to its version, such as http://localhost:8080/v1 | `{url}`");
        assert!(found.starts_with(&expected), "{found}");
        assert!(found.contains("did you mean http://localhost:1/v1?"), "{found}");
    }
    assert!(
        config("chat", "http://localhost:1/v1/", json!({})).check(&Location::file("x")).is_ok()
    );
}
