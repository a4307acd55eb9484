//! `clariq simulate` as a participant runs it, against a server on this machine.

use crate::common::{Bench, Finished};
use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const TOKEN: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";
const SAID: [&str; 3] = ["Which tent is light?", "And which one is dry?", "Thank you, bye!"];

/// One topic of a user who knows what to say.
#[derive(Default)]
struct Talk {
    /// The bodies of the responses that were taken.
    responses: Vec<Value>,
    paths: Vec<String>,
    /// The number of the response to which the user does not react before the test is over.
    stalls: Option<usize>,
}

fn utterance(talk: &Talk) -> Value {
    let mut history = Vec::new();
    for (number, said) in SAID.iter().enumerate().take(talk.responses.len() + 1) {
        history.push(json!({ "role": "user", "content": said }));
        if let Some(body) = talk.responses.get(number) {
            history.push(json!({ "role": "assistant", "content": body["response"] }));
        }
    }
    let ends = talk.responses.len() + 1 == SAID.len();
    json!({
        "topic_id": "1-1", "user_id": "u1", "utterance": SAID[talk.responses.len()],
        "history": history, "last_response_of_session": ends, "last_response_of_run": ends,
        "user_meta": { "ptkb": ["My tent is red.", "I have a bicycle."] },
    })
}

fn dump(talk: &Talk) -> String {
    let line = |(number, said): (usize, &&str)| {
        let body = talk.responses.get(number).cloned().unwrap_or_default();
        let metadata = json!({ "team_id": "team", "run_id": "mine", "topic_id": format!("1-1_{}", number + 1) });
        let response = json!({
            "rank": 1, "user_utterance": said, "assistant_text": body["response"],
            "assistant_citations": body["citations"], "assistant_meta": body["meta"],
        });
        json!({ "metadata": metadata, "responses": [response] }).to_string()
    };
    SAID.iter().enumerate().map(line).collect::<Vec<_>>().join("\n")
}

fn serve(mut stream: TcpStream, talk: &Mutex<Talk>) {
    let mut reader = BufReader::new(&stream);
    let (mut head, mut length, mut is_known) = (String::new(), 0, false);
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).unwrap_or(0) == 0 || line.trim().is_empty() {
            break;
        }
        is_known |= line.trim().eq_ignore_ascii_case(&format!("Authorization: Bearer {TOKEN}"));
        if let Some(size) = line.to_lowercase().strip_prefix("content-length: ") {
            length = size.trim().parse().unwrap();
        }
        head += &line;
    }
    let mut body = vec![0; length];
    if reader.read_exact(&mut body).is_err() || head.is_empty() {
        return;
    }
    let path = head.split(' ').nth(1).unwrap().to_owned();
    let (mut talk, mut stalls) = (talk.lock().unwrap(), false);
    let (status, text) = match path.rsplit('/').next().unwrap().split('?').next().unwrap() {
        _ if !is_known => (401, json!({ "detail": "Token is invalid." }).to_string()),
        "verify" => (200, json!({ "team_id": "team" }).to_string()),
        "check" => {
            let left = json!({ "run": { "remaining": 6, "unit": "runs" } });
            (200, json!({ "remaining": left }).to_string())
        }
        "continue" => {
            talk.responses.push(serde_json::from_slice(&body).unwrap());
            let count = talk.responses.len();
            stalls = talk.stalls.take_if(|number| *number == count).is_some();
            (200, utterance(&talk).to_string())
        }
        "dump" => (200, dump(&talk)),
        _ => (200, utterance(&talk).to_string()),
    };
    talk.paths.push(path);
    drop(talk);
    if stalls {
        thread::sleep(Duration::from_secs(60));
    }
    let length = text.len();
    let head =
        format!("HTTP/1.1 {status} Said\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n");
    let _ = stream.write_all((head + &text).as_bytes());
}

fn server(stalls: Option<usize>) -> (String, Arc<Mutex<Talk>>) {
    let listener = TcpListener::bind("127.0.0.1:0").expect("a port");
    let url = format!("http://{}/simulation", listener.local_addr().expect("an address"));
    let talk = Arc::new(Mutex::new(Talk { stalls, ..Talk::default() }));
    let theirs = Arc::clone(&talk);
    thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let talk = Arc::clone(&theirs);
            thread::spawn(move || serve(stream, &talk));
        }
    });
    (url, talk)
}

fn line<'l>(url: &'l str, more: &[&'l str]) -> Vec<&'l str> {
    let usual = ["simulate", url, "ikat-bm25", "--run-id", "mine", "--description", "BM25."];
    [&usual[..], more].concat()
}

fn simulate(bench: &Bench, url: &str, more: &[&str]) -> Finished {
    let mut command = bench.command(&line(url, more));
    let output = command.env("CLARIQ_SIMULATE_TOKEN", TOKEN).stdin(Stdio::null()).output();
    Finished::from(output.expect("it starts"))
}

/// The token stands in no file and in nothing that was printed.
fn has_no_token(bench: &Bench, finished: &Finished) {
    assert!(!format!("{finished:?}").contains(TOKEN), "{finished:?}");
    for (path, content) in bench.snapshot() {
        let text = String::from_utf8_lossy(&content).into_owned();
        assert!(!text.contains(TOKEN), "{}", path.display());
    }
}

#[test]
fn a_talk_is_a_run_like_any_other() {
    let (bench, (url, talk)) = (Bench::new(), server(None));
    let finished = simulate(&bench, &url, &["--run", "--yes", "--format", "tsv", "-v"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    assert!(finished.stderr.contains("budget left: run: 6 runs"), "{}", finished.stderr);
    let row = finished.stdout.lines().nth(1).expect("a row");
    assert_eq!(row, "ikat-bm25\trun\t1\t2\t0\truns/mine.jsonl");
    has_no_token(&bench, &finished);
    let talk = std::mem::take(&mut *talk.lock().expect("the talk"));
    assert!(talk.paths.iter().all(|path| !path.contains("/debug/")), "{:?}", talk.paths);
    let body = &talk.responses[0];
    assert_eq!(body["citations"].as_object().map(serde_json::Map::len), Some(10));
    assert_eq!(body["meta"]["ptkb_provenance"], json!(["My tent is red."]));
    let record: Value = serde_json::from_slice(&bench.read("runs/mine.jsonl.json")).expect("JSON");
    assert_eq!(
        (&record["system"], &record["simulation"]["turns"]),
        (&json!("ikat-bm25"), &json!(2))
    );
    let found = bench.succeed("validate runs/mine.jsonl --format tsv").stdout;
    assert_eq!(found.lines().nth(1), Some("runs/mine.jsonl\taccepted\t2\t0\t0\t0"));
    let lines = bench.succeed("convert runs/mine.jsonl --to trec").stdout;
    assert!(lines.lines().count() == 20 && lines.starts_with("1-1_1\tQ0\t"), "{lines}");
    bench.succeed("report runs/mine.jsonl -o talks.html");
    let page = bench.text("talks.html");
    assert!(SAID.iter().all(|said| page.contains(said)) && page.contains("My tent is red."));
    // It has ended, and is neither begun again nor sent anything more.
    let finished = simulate(&bench, &url, &["--run", "--yes"]);
    assert_eq!(finished.status, Some(2));
    assert!(finished.stderr.contains("--resume"), "{}", finished.stderr);
}

#[cfg(unix)]
#[test]
fn a_command_that_is_killed_continues() {
    for stalls in [1, 2] {
        let (bench, (url, talk)) = (Bench::new(), server(Some(stalls)));
        let mut command = bench.command(&line(&url, &[]));
        command.env("CLARIQ_SIMULATE_TOKEN", TOKEN).stdout(Stdio::null()).stderr(Stdio::null());
        let mut child = command.spawn().expect("it starts");
        while talk.lock().expect("the talk").stalls.is_some() {
            assert!(child.try_wait().expect("a child").is_none(), "it waits for an answer");
            thread::sleep(Duration::from_millis(5));
        }
        child.kill().expect("killed");
        child.wait().expect("gone");
        assert!(!bench.path("runs/mine.jsonl").exists());
        let finished = simulate(&bench, &url, &["--resume", "--timeout", "6"]);
        assert_eq!(finished.status, Some(0), "{}", finished.stderr);
        let talk = talk.lock().expect("the talk");
        assert_eq!(talk.responses.len(), 2, "every response was given once: {:?}", talk.paths);
        assert_eq!(bench.text("runs/mine.jsonl").lines().count(), 3);
        has_no_token(&bench, &finished);
    }
}

#[test]
fn what_cannot_be_talked_about_is_refused() {
    let (bench, (url, talk)) = (Bench::new(), server(None));
    let refused = |finished: Finished, expected: &str| {
        assert_eq!(finished.status, Some(2), "{}", finished.stderr);
        assert!(finished.stderr.contains(expected), "{expected}: {}", finished.stderr);
        has_no_token(&bench, &finished);
    };
    refused(bench.run(&line(&url, &[])), "CLARIQ_SIMULATE_TOKEN");
    refused(simulate(&bench, "localhost:8888", &[]), "an address such as");
    refused(simulate(&bench, &url, &["--run"]), "standard input is no terminal");
    refused(simulate(&bench, &url, &["--run", "--debug"]), "--debug");
    refused(simulate(&bench, &url, &["-o", "-"]), "a file that is not packed");
    let mut other = bench.command(&line(&url, &[]));
    other.env("CLARIQ_SIMULATE_TOKEN", "b3RoZXI=");
    refused(Finished::from(other.output().expect("it starts")), "Token is invalid.");
    let named = |system: &'static str| {
        let mut line = line(&url, &[]);
        line[2] = system;
        let output = bench.command(&line).env("CLARIQ_SIMULATE_TOKEN", TOKEN).output();
        Finished::from(output.expect("it starts"))
    };
    refused(named("bm25"), "a system that answers");
    let no_port = simulate(&bench, "http://127.0.0.1:1", &["--retries", "0"]);
    refused(no_port, "connection refused, 1 times");
    let paths = &talk.lock().expect("the talk").paths;
    assert!(
        paths.iter().all(|path| path.contains("verify") || path.contains("check")),
        "{paths:?}"
    );
}
