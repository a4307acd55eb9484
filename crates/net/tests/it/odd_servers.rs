//! Servers that answer otherwise than the API is documented: parts, pieces, halves of characters, redirects.

use crate::stub::{Reply, completion};
use crate::{complete_at, parts, read_from, text_after};
use clariq_core::{Completion, Error, Thinking};
use serde_json::{Value, json};
use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::{Duration, Instant};

fn answer(body: &str) -> Result<Completion, Error> {
    read_from(Reply::status(200, body))
}

#[test]
fn a_text_in_parts_is_read_without_thoughts() {
    for (content, text) in [
        (
            json!([{ "type": "text", "text": "red " }, { "type": "text", "text": "tents" }]),
            "red tents",
        ),
        (json!([{ "type": "output_text", "text": "tents" }]), "tents"),
        (json!([{ "text": "tents" }]), "tents"),
        (
            json!([
                { "type": "thinking", "text": null, "thinking": [{ "type": "text", "text": "Hm" }] },
                { "type": "text", "text": "tents" },
            ]),
            "tents",
        ),
        (json!([{ "type": "reasoning", "text": "Hm" }]), ""),
        (json!([]), ""),
        (Value::Null, ""),
    ] {
        let body = json!({ "choices": [{ "message": { "content": content } }], "usage": null });
        let read = answer(&body.to_string()).unwrap();
        assert_eq!(read.text, text, "{content}");
    }
}

#[test]
fn an_answer_without_a_choice_is_shown() {
    let filtered = json!({ "choices": [], "prompt_filter_results": [{ "severity": "high" }] });
    let found = parts(answer(&filtered.to_string()));
    assert!(found.contains("0 items in `choices`") && found.contains("severity"), "{found}");
}

#[test]
fn an_answer_in_pieces_is_joined() {
    let piece =
        |choice: Value| format!("data: {}\n\n", json!({ "model": "m", "choices": [choice] }));
    let text = |text: &str| piece(json!({ "index": 0, "delta": { "content": text } }));
    let end = |reason: &str| piece(json!({ "index": 0, "delta": {}, "finish_reason": reason }));
    let pieces = format!(
        "{}{}{}{}data: [DONE]\n\n",
        text("<think>Hm, cars"),
        text("</think>red "),
        text("tents"),
        end("stop"),
    );
    let found = answer(&pieces).unwrap();
    assert_eq!((&*found.text, &*found.model), ("red tents", "m"));
    assert_eq!((found.thinking, found.cut), (Thinking::Ended, false));
    let comments = format!(": PROCESSING\n\n{pieces}");
    assert_eq!(answer(&comments).unwrap().text, "red tents");
    assert!(answer(&format!("{}{}", text("red te"), end("length"))).unwrap().cut);
    let found = parts(answer(&text("red te")));
    assert!(found.contains("without its end") && found.contains("`stream: false`"), "{found}");
    let error = json!({ "error": { "message": "the GPU is gone", "code": 400 } });
    let found = parts(answer(&format!("{}data: {error}\n\ndata: [DONE]\n\n", text("red te"))));
    assert!(found.contains("for request 0: the GPU is gone"), "{found}");
}

#[test]
fn comments_that_keep_a_connection_open_are_no_answer() {
    let body = completion("red tents").to_string();
    let read = answer(&format!(": PROCESSING\n\n: PROCESSING\n\n{body}")).unwrap();
    assert_eq!(read.text, "red tents");
}

#[test]
fn an_answer_of_another_form_has_the_hint_of_its_form() {
    for (body, says) in [
        ("", "one without a body"),
        ("<!DOCTYPE html><title>Sign in</title>", "this is a web page and no API"),
        (r#"{"message": {"content": "a"}, "done": false}"#, "`stream: false`"),
        (r#"{"choices": [{"delta": {"content": "a"}}]}"#, "`stream: false`"),
        ("null", "invalid type: null, expected an object"),
        ("[1]", "expected an object"),
    ] {
        let found = parts(answer(body));
        assert!(found.contains(says) && !found.contains("struct "), "{body}: {found}");
    }
}

#[test]
fn half_a_character_is_read() {
    let body = completion("red tents").to_string();
    for (text, read) in
        [("red tents \\ud83d", "red tents \u{fffd}"), ("<think>Hm</think>\\u2028tents", "tents")]
    {
        assert_eq!(answer(&body.replace("red tents", text)).unwrap().text, read, "{text}");
    }
}

#[test]
fn a_redirect_names_the_new_address() {
    let moved = "Location: https://example.org/v1/chat/completions\r\n".to_owned();
    let found = parts(read_from(Reply::Status(301, moved, "<html>".to_owned())));
    let expected = "status 301 Moved Permanently, to https://example.org/v1/chat/completions";
    assert!(found.contains(expected) && found.contains("redirects are not followed"), "{found}");
}

#[test]
fn a_packing_that_is_not_asked_for_is_named() {
    for packing in ["br", "deflate", "zstd", "gzip, gzip"] {
        let head = format!("Content-Encoding: {packing}\r\n");
        let found = parts(read_from(Reply::Status(200, head, "\u{1}\u{2}".to_owned())));
        assert!(found.contains(&format!("a body that is packed with {packing}")), "{found}");
    }
    let packed = "Content-Encoding: br\r\n".to_owned();
    assert_eq!(text_after(Reply::Status(503, packed, "\u{1}".to_owned())), "there");
    let head = "Content-Encoding: identity\r\n".to_owned();
    let whole = Reply::Status(200, head, completion("tents").to_string());
    assert_eq!(read_from(whole).unwrap().text, "tents");
}

#[test]
fn a_pause_may_be_named_in_milliseconds() {
    let wait = "retry-after-ms: 1200\r\n".to_owned();
    let began = Instant::now();
    assert_eq!(text_after(Reply::Status(429, wait, "slow down".to_owned())), "there");
    assert!(began.elapsed() >= Duration::from_millis(1200), "{:?}", began.elapsed());
}

#[test]
fn a_server_without_tls_is_not_asked_again() {
    let connections = |retries: usize| {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("https://{}", listener.local_addr().unwrap());
        let count = Arc::new(AtomicUsize::new(0));
        let counted = Arc::clone(&count);
        thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                counted.fetch_add(1, Ordering::SeqCst);
                let _ = stream.read(&mut [0; 1 << 14]);
                let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nContent-Length: 0\r\n\r\n");
            }
        });
        let found = parts(complete_at(&url, json!({ "retries": retries })));
        assert!(found.contains("does the address begin with http:// there?"), "{found}");
        count.load(Ordering::SeqCst)
    };
    assert_eq!(connections(2), connections(0));
}
