//! The stage `elasticsearch` against answers that were written down beforehand, in the form that
//! the documentation of `_msearch` gives: no server of either make was asked.

use crate::common::{Earlier, ids, system, with_context};
use clariq_core::{Doc, Ranking, Request};
use clariq_rank::{Batch, Error, System};
use serde_json::Value;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;

/// A question as the server got it: the first line, the headers in lower case, the body.
type Question = (String, Vec<String>, String);

/// A server on this machine that gives written answers, one after the other, and then none.
struct Recorded {
    url: String,
    questions: Arc<Mutex<Vec<Question>>>,
}

impl Recorded {
    fn with(answers: &[(u16, &str)]) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let answers: Vec<(u16, String)> =
            answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        let questions = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&questions);
        // The thread ends when everything is answered; whoever asks then is refused.
        thread::spawn(move || {
            for (status, body) in answers {
                let (mut stream, _) = listener.accept().unwrap();
                let question = read(&stream);
                log.lock().unwrap().push(question);
                let length = body.len();
                let head = format!("HTTP/1.1 {status} Said\r\nContent-Length: {length}\r\n");
                let whole = format!("{head}Connection: close\r\n\r\n{body}");
                let _ = stream.write_all(whole.as_bytes());
            }
        });
        Self { url, questions }
    }

    fn system(&self, more: &str) -> System {
        let url = &self.url;
        system(&format!(
            "stage = \"elasticsearch\"\nurl = \"{url}\"\nindex = \"bank\"\nfield = \"body\"\n{more}"
        ))
    }

    fn questions(&self) -> Vec<Question> {
        self.questions.lock().unwrap().clone()
    }
}

fn read(stream: &TcpStream) -> Question {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).unwrap();
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let headers: Vec<String> = lines[1..].iter().map(|line| line.to_lowercase()).collect();
    let length = headers.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body).unwrap();
    (lines[0].clone(), headers, String::from_utf8(body).unwrap())
}

fn rank(system: &System, requests: &[Request]) -> Result<Vec<Ranking>, Error> {
    with_context(&Earlier::new(&[]), |context| {
        let batch = Batch::new(context, requests);
        system.pipeline.run(&batch, batch.unranked())
    })
}

fn refusal(system: &System) -> String {
    let error = rank(system, &[Request::new("1", "red fox")]).unwrap_err();
    let report = clariq_core::Report::from(&error);
    format!("{} | {} | {} | {}", report.title, report.expected, report.found, report.hint)
}

const FOXES: &str = r#"{"responses": [
    {"hits": {"hits": [{"_id": "Q3", "_score": 0.5}, {"_id": "Q2", "_score": 1.25}]}, "status": 200},
    {"hits": {"hits": []}, "status": 200}]}"#;
const BOAT: &str = r#"{"responses": [
    {"hits": {"hits": [{"_id": "Q5", "_score": 2.0}, {"_id": "Q4", "_score": 2.0}]}, "status": 200}]}"#;
const BUSY: &str = r#"{"responses": [
    {"error": {"type": "es_rejected_execution_exception", "reason": "queue"}, "status": 429}]}"#;

#[test]
fn requests_are_asked_in_batches_and_ranked_as_the_server_scores() {
    let server = Recorded::with(&[(200, FOXES), (200, BOAT)]);
    let system = server.system("size = 50\nbatch = 2");
    let mut requests = [("1", "a \"red\" fox"), ("2", "nothing"), ("3", "boat")]
        .map(|(id, text)| Request::new(id, text));
    requests[2].candidates = Some(vec![Doc(3), Doc(4)]);
    let rankings = rank(&system, &requests).unwrap();
    // Equal scores by descending id, as everywhere.
    assert_eq!(
        rankings.iter().map(ids).collect::<Vec<_>>(),
        [vec!["Q2", "Q3"], vec![], vec!["Q5", "Q4"]]
    );
    assert_eq!(rankings[0][0].score, 1.25);
    let questions = server.questions();
    assert_eq!(questions.len(), 2);
    let (first, headers, body) = &questions[0];
    assert!(first.starts_with("POST /_msearch?filter_path=responses.status,"), "{first}");
    assert!(headers.iter().any(|line| line == "content-type: application/x-ndjson"), "{headers:?}");
    let lines: Vec<Value> = body.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(lines.len(), 4);
    assert_eq!(lines[0], serde_json::json!({ "index": "bank" }));
    assert_eq!(lines[1]["query"]["match"]["body"]["query"], "a \"red\" fox");
    assert_eq!((&lines[1]["size"], &lines[1]["_source"]), (&50.into(), &false.into()));
    let last: Value = serde_json::from_str(questions[1].2.lines().nth(1).unwrap()).unwrap();
    assert_eq!(last["query"]["bool"]["filter"]["ids"]["values"], serde_json::json!(["Q4", "Q5"]));
}

#[test]
fn a_server_that_is_busy_is_asked_again() {
    let one = [Request::new("1", "boat")];
    let server = Recorded::with(&[(503, "starting"), (200, BUSY), (200, BOAT)]);
    assert_eq!(ids(&rank(&server.system("retries = 2"), &one).unwrap()[0]), ["Q5", "Q4"]);
    assert_eq!(server.questions().len(), 3);
    let server = Recorded::with(&[(503, "starting"), (429, "slow down")]);
    let found = refusal(&server.system("retries = 1"));
    assert!(found.contains("status 429 Too Many Requests: slow down, 2 times"), "{found}");
    // Nobody listens there any more.
    let found = refusal(&server.system("retries = 0"));
    assert!(found.contains("connection refused, 1 times"), "{found}");
}

#[test]
fn whatever_is_not_the_whole_answer_is_refused() {
    for (status, body, says) in [
        (404, "no such page", "status 404 Not Found: no such page"),
        (200, "<html>", "expected value at line 1"),
        (200, r#"{"responses": []}"#, "1 answers of `_msearch` | 0"),
        (
            200,
            r#"{"responses": [{"error": {"type": "index_not_found_exception", "reason": "no such index [bank]"}, "status": 404}]}"#,
            "for request 1: index_not_found_exception: no such index [bank]",
        ),
        (200, r#"{"responses": [{"timed_out": true, "status": 200}]}"#, "cut short"),
        (
            200,
            r#"{"responses": [{"_shards": {"failed": 2}, "status": 200}]}"#,
            "2 of its shards failed",
        ),
        (
            200,
            r#"{"responses": [{"hits": {"hits": [{"_id": "Q2"}]}}]}"#,
            "documents without a score",
        ),
        (
            200,
            r#"{"responses": [{"hits": {"hits": [{"_id": "Q9", "_score": 1.0}]}}]}"#,
            "ids of documents of this collection | `Q9`",
        ),
    ] {
        let server = Recorded::with(&[(status, body)]);
        let found = refusal(&server.system(""));
        assert!(found.contains(says), "{found}");
        assert!(found.contains(&server.url), "{found}");
    }
}

#[test]
fn an_address_is_checked_before_anything_is_asked() {
    for url in ["localhost:9200", "http://", "ftp://host", "http://me:secret@host"] {
        let text = format!(
            "name = \"one\"\n[[stages]]\nstage = \"elasticsearch\"\nurl = {url:?}\nindex = \"i\"\nfield = \"f\""
        );
        let error = System::parse("one.toml", &text, &[]).err().unwrap().to_string();
        assert!(error.contains("one.toml:4") && !error.contains("secret"), "{error}");
    }
}
