//! The stage `elasticsearch` against answers that were written by hand after the documentation of
//! `_msearch`: no Elasticsearch or OpenSearch server was involved.

use crate::common::{Earlier, ids, system, with_context};
use clariq_core::{Doc, Error, Ranking, Request};
use clariq_rank::{Batch, SystemFile};
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::Value;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A request as the server received it: the first line, the headers in lower case, the body.
type Question = (String, Vec<String>, String);

/// A local server that gives prepared answers, one after the other, and then none.
struct Recorded {
    url: String,
    connections: Arc<AtomicUsize>,
    questions: Arc<Mutex<Vec<Question>>>,
}

impl Recorded {
    fn with(answers: &[(u16, &str)]) -> Self {
        Self::serve("http://127.0.0.1", answers, |stream| stream)
    }

    /// The same with TLS, and a certificate for `localhost` by the authority in [`AUTHORITY`].
    fn with_tls(answers: &[(u16, &str)]) -> Self {
        let certificate = include_bytes!("../data/tls/server.pem");
        let certificate = CertificateDer::from_pem_slice(certificate).unwrap();
        let key = PrivateKeyDer::from_pem_slice(include_bytes!("../data/tls/server.key")).unwrap();
        let config = ServerConfig::builder()
            .with_no_client_auth()
            .with_single_cert(vec![certificate], key)
            .unwrap();
        let config = Arc::new(config);
        Self::serve("https://localhost", answers, move |stream| {
            StreamOwned::new(ServerConnection::new(Arc::clone(&config)).unwrap(), stream)
        })
    }

    fn serve<S: Read + Write>(
        host: &str,
        answers: &[(u16, &str)],
        wrap: impl Fn(TcpStream) -> S + Send + 'static,
    ) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("{host}:{}", listener.local_addr().unwrap().port());
        let answers: Vec<(u16, String)> =
            answers.iter().map(|(status, body)| (*status, (*body).to_owned())).collect();
        let server = Self { url, connections: Arc::default(), questions: Arc::default() };
        let (count, log) = (Arc::clone(&server.connections), Arc::clone(&server.questions));
        // The thread ends with the last answer; later connections are refused.
        thread::spawn(move || {
            for (status, body) in answers {
                let (stream, _) = listener.accept().unwrap();
                count.fetch_add(1, Ordering::SeqCst);
                let mut stream = wrap(stream);
                let Ok(question) = read(&mut stream) else { continue };
                log.lock().unwrap().push(question);
                let length = body.len();
                let moved = if status == 302 { "Location: /elsewhere\r\n" } else { "" };
                let head = format!("HTTP/1.1 {status} Test\r\n{moved}Content-Length: {length}\r\n");
                let whole = format!("{head}Connection: close\r\n\r\n{body}");
                let _ = stream.write_all(whole.as_bytes());
            }
        });
        server
    }

    fn system(&self, more: &str) -> SystemFile {
        system(&self.stage(more))
    }

    fn stage(&self, more: &str) -> String {
        let url = &self.url;
        format!(
            "stage = \"elasticsearch\"\nurl = \"{url}\"\nindex = \"bank\"\nfield = \"body\"\n{more}"
        )
    }

    fn questions(&self) -> Vec<Question> {
        self.questions.lock().unwrap().clone()
    }
}

fn read(stream: impl Read) -> io::Result<Question> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        reader.read_line(&mut line)?;
        if line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let headers: Vec<String> = lines[1..].iter().map(|line| line.to_lowercase()).collect();
    let length = headers.iter().find_map(|line| line.strip_prefix("content-length: "));
    let mut body = vec![0; length.unwrap().parse().unwrap()];
    reader.read_exact(&mut body)?;
    Ok((lines[0].clone(), headers, String::from_utf8(body).unwrap()))
}

fn rank(system: &SystemFile, requests: &[Request]) -> Result<Vec<Ranking>, Error> {
    with_context(&Earlier::new(&[]), |context| {
        let batch = Batch::new(context, requests);
        system.pipeline.run(&batch, batch.unranked())
    })
}

fn refusal(system: &SystemFile) -> String {
    let error = rank(system, &[Request::new("1", "red fox")]).unwrap_err();
    let report = error.to_problem();
    format!("{} | {} | {} | {}", report.title(), report.expected, report.found, report.hint)
}

const FOXES: &str = r#"{"responses": [
    {"hits": {"hits": [{"_id": "Q3", "_score": 0.5}, {"_id": "Q2", "_score": 1.25}]}, "status": 200},
    {"hits": {"hits": []}, "status": 200}]}"#;
const BOAT: &str = r#"{"responses": [
    {"hits": {"hits": [{"_id": "Q5", "_score": 2.0}, {"_id": "Q4", "_score": 2.0}]}, "status": 200}]}"#;
/// The certificate of an authority whose key was deleted; it is valid until 2120.
const AUTHORITY: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/data/tls/ca.pem");
const BUSY: &str = r#"{"responses": [
    {"error": {"type": "es_rejected_execution_exception", "reason": "queue"}, "status": 429}]}"#;

#[test]
fn requests_are_sent_in_batches_and_ranked_by_the_scores_of_the_server() {
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
fn a_busy_server_is_asked_again() {
    let one = [Request::new("1", "boat")];
    let server = Recorded::with(&[(503, "starting"), (200, BUSY), (200, BOAT)]);
    assert_eq!(ids(&rank(&server.system("retries = 2"), &one).unwrap()[0]), ["Q5", "Q4"]);
    assert_eq!(server.questions().len(), 3);
    let server = Recorded::with(&[(503, "starting"), (429, "slow down")]);
    let found = refusal(&server.system("retries = 1"));
    assert!(found.contains("status 429 Too Many Requests: slow down, 2 times"), "{found}");
    let server = Recorded::with(&[(200, BUSY)]);
    let found = refusal(&server.system("retries = 0"));
    assert!(found.contains("es_rejected_execution_exception: queue, 1 time"), "{found}");
    // The server has stopped, or is about to.
    let found = refusal(&server.system("retries = 0"));
    let is_gone = ["connection refused, 1 time", "Connection reset by peer (os error 104), 1 time"];
    assert!(is_gone.iter().any(|end| found.contains(end)), "{found}");
}

#[test]
fn failed_partial_and_malformed_answers_are_refused() {
    for (status, body, says) in [
        (404, "no such page", "status 404 Not Found: no such page"),
        (302, "over there", "status 302 Found, to /elsewhere | redirects are not followed"),
        (200, "<html>", "no usable answer | 1 answer of `_msearch` | expected value at line 1"),
        (200, r#"{"responses": [{"status": 500}]}"#, "for request 1: status 500"),
        (200, r#"{"responses": []}"#, "1 answer of `_msearch` | 0"),
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
        let title = format!("{}/_msearch", server.url);
        assert!(found.starts_with(&title) && !found.contains("filter_path"), "{found}");
    }
}

#[test]
fn an_error_names_its_cause_and_a_remedy() {
    const WINDOW: &str = r#"{"responses": [{"status": 400, "error": {
        "type": "search_phase_execution_exception", "reason": "all shards failed",
        "root_cause": [{"type": "illegal_argument_exception", "reason":
            "Result window is too large, from + size must be less than or equal to: [10000] but was [20000]. This limit can be set by changing the [index.max_result_window] index level setting."}]}}]}"#;
    const FORBIDDEN: &str = r#"{"responses": [{"status": 403, "error": {
        "type": "security_exception", "reason": "unauthorized for user [me]", "root_cause": []}}]}"#;
    let variable = "the environment variable CLARIQ_ELASTICSEARCH_AUTHORIZATION";
    for (status, body, cause, hint) in [
        (200, WINDOW, "illegal_argument_exception: Result window is too large", "| `size` is"),
        (200, FORBIDDEN, "security_exception: unauthorized for user [me]", variable),
        (401, "missing authentication", "status 401 Unauthorized |", variable),
        (403, "not yours", "status 403 Forbidden |", variable),
    ] {
        let found = refusal(&Recorded::with(&[(status, body)]).system("size = 20000"));
        assert!(found.contains(cause) && found.contains(hint), "{found}");
    }
}

#[test]
fn a_private_authority_is_trusted_if_it_is_named() {
    let one = [Request::new("1", "boat")];
    let ca = format!("ca = {AUTHORITY:?}");
    let server = Recorded::with_tls(&[(200, BOAT)]);
    assert_eq!(ids(&rank(&server.system(&ca), &one).unwrap()[0]), ["Q5", "Q4"]);
    // The next handshake would end in the same way.
    let server = Recorded::with_tls(&[(200, BOAT); 3]);
    let found = refusal(&server.system("retries = 2"));
    assert!(found.contains("certificate") && found.contains("| `ca` names"), "{found}");
    assert_eq!(server.connections.load(Ordering::SeqCst), 1);
}

#[test]
fn a_file_of_authorities_is_checked_before_any_request() {
    let folder = tempfile::tempdir().unwrap();
    let server = Recorded::with_tls(&[]);
    for (name, text, says) in [
        ("key.pem", include_str!("../data/tls/server.key"), "certificates in PEM form, found none"),
        (
            "bad.pem",
            "-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
            "certificates in PEM form, found",
        ),
        ("cut.pem", "-----BEGIN CERTIFICATE-----\nAAAA\n", "certificates in PEM form, found"),
        ("gone.pem", "", "missing file"),
    ] {
        let path = folder.path().join(name);
        if !text.is_empty() {
            std::fs::write(&path, text).unwrap();
        }
        let ca = format!("name = \"one\"\n[[stages]]\n{}ca = {path:?}", server.stage(""));
        let error = SystemFile::parse("one.toml", &ca, &[]).err().unwrap().to_string();
        assert!(error.contains(name) && error.contains(says), "{error}");
    }
}

#[test]
fn an_address_is_checked_before_any_request() {
    for url in ["localhost:9200", "http://", "ftp://host", "http://me:secret@host"] {
        let text = format!(
            "name = \"one\"\n[[stages]]\nstage = \"elasticsearch\"\nurl = {url:?}\nindex = \"i\"\nfield = \"f\""
        );
        let error = SystemFile::parse("one.toml", &text, &[]).err().unwrap().to_string();
        assert!(error.contains("one.toml:4") && !error.contains("secret"), "{error}");
    }
}

#[test]
fn a_timeout_of_ages_is_refused_with_its_line() {
    let text = "name = \"one\"\n[[stages]]\nstage = \"elasticsearch\"\nurl = \"http://localhost:9200\"\n\
                index = \"i\"\nfield = \"f\"\ntimeout = 9000000000000000000";
    let error = SystemFile::parse("one.toml", text, &[]).err().unwrap().to_string();
    assert_eq!(
        error,
        "one.toml:7: expected timeout from 1 to 86400 seconds, found 9000000000000000000"
    );
}
