//! Runs against servers on this machine: one that behaves as the published server does and fails on
//! demand, and one that replays a recording.

use super::*;
use clariq_collections::ikat::run::Submission;
use clariq_core::{Result, Silent};
use std::collections::{HashMap, VecDeque};
use std::fs;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

const TOKEN_VALUE: &str = "MDEyMzQ1Njc4OWFiY2RlZg==";

/// Topics, with everything that their users say; the last is a goodbye.
type Script = Vec<(&'static str, &'static str, Vec<&'static str>)>;

fn script() -> Script {
    vec![
        ("1-1", "u1", vec!["Which saddle?", "And which pedals?", "Bye!"]),
        ("1-2", "u1", vec!["Where to ride?", "Thank you."]),
    ]
}

/// What goes wrong with one request.
#[derive(Debug, Clone)]
enum Fault {
    /// It is taken, and the answer ends after so many bytes.
    Cut(usize),
    /// The connection ends before it is read.
    Drop,
    /// It is refused, and not taken.
    Status(u16, &'static str),
    /// It is taken, and the answer comes too late.
    Slow,
    /// It is taken after the client has given up.
    Late,
    /// The response is stored, and then the user fails.
    UserFails,
    /// It is taken, and this is the answer.
    Says(String),
    /// It is taken, and the answer never ends.
    Endless,
    /// The server has lost all sessions.
    Restart,
    /// The answer has the request's token in it, spelled in this way.
    Echo(fn(&str) -> String),
}

/// A server that behaves as the published one.
#[derive(Default)]
struct State {
    script: Script,
    /// What goes wrong with the request of that number.
    faults: HashMap<usize, Fault>,
    requests: Vec<(String, Value)>,
    run: Option<String>,
    topic: usize,
    /// What was said about the topic; nothing between two topics.
    history: Vec<(&'static str, String)>,
    said: usize,
    is_finished: bool,
    dump: Vec<Value>,
    most_words: usize,
    statements: Option<Vec<&'static str>>,
    is_inactive: bool,
    /// No further topic begins.
    is_used_up: bool,
}

impl State {
    fn utterance(&self) -> Value {
        let (topic, user, said) = &self.script[self.topic];
        let history = self.history.iter();
        let history: Vec<Value> =
            history.map(|(role, text)| json!({ "role": role, "content": text })).collect();
        let ends = self.said == said.len();
        json!({
            "timestamp": "2026-11-22T19:49:38", "run_id": self.run, "topic_id": topic,
            "user_id": user, "utterance": self.history.last().unwrap().1, "history": history,
            "last_response_of_session": ends,
            "last_response_of_run": ends && self.topic + 1 == self.script.len(),
            "user_meta": { "ptkb": self.statements, "mood": [1] }, "more": { "b": null },
        })
    }

    fn begin(&mut self, topic: usize) {
        self.topic = topic;
        self.history = vec![("user", self.script[topic].2[0].to_owned())];
        self.said = 1;
    }

    fn answer(&mut self, path: &str, body: &Value, fails: bool) -> (u16, String) {
        let detail = |status, text: &str| (status, json!({ "detail": text }).to_string());
        let crash = (500, "Internal Server Error".to_owned());
        let name = path.split('?').next().unwrap().rsplit('/').next().unwrap();
        let is_open = !self.history.is_empty() && self.said < self.script[self.topic].2.len();
        match name {
            "start" if self.run.is_some() => detail(412, "a run with that name exists"),
            "start" => {
                self.run = body["run_id"].as_str().map(str::to_owned);
                if fails {
                    return crash;
                }
                self.begin(0);
                (200, self.utterance().to_string())
            }
            _ if self.run.is_none() => {
                detail(if name == "status" { 404 } else { 428 }, "no such run")
            }
            _ if self.is_inactive && name != "status" && name != "dump" => crash,
            "continue" if self.is_finished => detail(400, "Run was finished!"),
            "continue"
                if body["response"].as_str().unwrap().split(' ').count() > self.most_words =>
            {
                let text = json!({ "detail": [{ "loc": ["body", "response"], "msg": "Response is too long" }] });
                (422, text.to_string())
            }
            "continue" if is_open => {
                let response = body["response"].as_str().unwrap();
                assert_ne!(response, "", "an empty response to a question");
                let (said, topic) = (self.script[self.topic].2.clone(), self.script[self.topic].0);
                let asked = self.history.last().unwrap().1.clone();
                self.history.push(("assistant", response.to_owned()));
                if fails {
                    return crash;
                }
                self.history.push(("user", said[self.said].to_owned()));
                let line = |number: usize, said: &str, body: Option<&Value>| {
                    json!({
                        "metadata": { "team_id": "team", "run_id": self.run, "topic_id": format!("{topic}_{number}") },
                        "responses": [{
                            "rank": 1, "user_utterance": said,
                            "assistant_text": body.map(|body| &body["response"]),
                            "assistant_citations": body.map(|body| &body["citations"]),
                            "assistant_meta": body.map(|body| &body["meta"]),
                        }],
                    })
                };
                let mut lines = vec![line(self.said, &asked, Some(body))];
                self.said += 1;
                if self.said == said.len() {
                    lines.push(line(self.said, said[self.said - 1], None));
                    self.is_finished = self.topic + 1 == self.script.len();
                }
                self.dump.extend(lines);
                (200, self.utterance().to_string())
            }
            "continue" if self.is_used_up && !self.history.is_empty() => detail(403, "budget"),
            "continue" => {
                let next = if self.history.is_empty() { 0 } else { self.topic + 1 };
                self.begin(next);
                if fails {
                    // The topic counts as begun.
                    self.history.clear();
                    return crash;
                }
                (200, self.utterance().to_string())
            }
            "session" if is_open => (200, self.utterance().to_string()),
            "session" => crash,
            "status" => {
                let open: Vec<_> =
                    self.script[self.topic + 1..].iter().map(|topic| topic.0).collect();
                let status = if self.is_inactive { "inactive" } else { "active" };
                (
                    200,
                    json!({ "status": status, "done_topics": [], "open_topics": open }).to_string(),
                )
            }
            "dump" => {
                let lines: Vec<String> = self.dump.iter().map(Value::to_string).collect();
                (200, lines.join("\n"))
            }
            _ => detail(404, "Not Found"),
        }
    }
}

struct Fake {
    url: String,
    state: Arc<Mutex<State>>,
}

impl Fake {
    fn new(script: Script) -> Self {
        let state = State { script, most_words: 250, ..State::default() };
        let state = Arc::new(Mutex::new(state));
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/simulation", listener.local_addr().unwrap());
        let theirs = Arc::clone(&state);
        // The thread ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let state = Arc::clone(&theirs);
                thread::spawn(move || serve(stream, &state));
            }
        });
        Self { url, state }
    }

    fn with(faults: impl IntoIterator<Item = (usize, Fault)>) -> Self {
        let fake = Self::new(script());
        fake.change(|state| state.faults = faults.into_iter().collect());
        fake
    }

    fn change<T>(&self, change: impl FnOnce(&mut State) -> T) -> T {
        change(&mut self.state.lock().unwrap())
    }

    /// The last parts of the paths that were requested.
    fn paths(&self) -> Vec<String> {
        let name =
            |path: &String| path.split('?').next().unwrap().rsplit('/').next().unwrap().to_owned();
        self.change(|state| state.requests.iter().map(|(path, _)| name(path)).collect())
    }
}

fn read_request(stream: &TcpStream) -> Option<(String, String, Value)> {
    let mut reader = BufReader::new(stream);
    let (mut lines, mut length) = (Vec::new(), 0);
    loop {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        if let Some(size) = line.to_lowercase().strip_prefix("content-length: ") {
            length = size.parse().unwrap();
        }
        lines.push(line);
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let bearer = lines.iter().find_map(|line| {
        line.to_lowercase().starts_with("authorization: ").then(|| line[15..].to_owned())
    });
    Some((path, bearer?, serde_json::from_slice(&body).unwrap_or_default()))
}

fn serve(mut stream: TcpStream, state: &Mutex<State>) {
    let Some((path, bearer, body)) = read_request(&stream) else { return };
    assert_eq!(bearer, format!("Bearer {TOKEN_VALUE}"));
    let fault = {
        let mut state = state.lock().unwrap();
        let number = state.requests.len();
        state.requests.push((path.clone(), body.clone()));
        state.faults.get(&number).cloned()
    };
    let (mut status, mut text) = match &fault {
        Some(Fault::Drop) => return,
        Some(Fault::Status(status, text)) => (*status, (*text).to_owned()),
        Some(Fault::Echo(spell)) => (403, format!("{{\"detail\": \"{}\"}}", spell(TOKEN_VALUE))),
        Some(Fault::Restart) => {
            state.lock().unwrap().is_inactive = true;
            (500, "Internal Server Error".to_owned())
        }
        other => {
            if matches!(other, Some(Fault::Late)) {
                thread::sleep(Duration::from_millis(300));
            }
            let fails = matches!(other, Some(Fault::UserFails));
            state.lock().unwrap().answer(&path, &body, fails)
        }
    };
    match &fault {
        Some(Fault::Slow) => thread::sleep(Duration::from_millis(400)),
        Some(Fault::Says(said)) => (status, text) = (200, said.clone()),
        Some(Fault::Endless) => {
            let mut sent = stream.write_all(b"HTTP/1.1 200 OK\r\n\r\n{\"history\": [");
            while sent.is_ok() {
                sent = stream.write_all(&[b' '; 4096]);
            }
            return;
        }
        _ => {}
    }
    let moved = if status == 302 { "Location: /elsewhere\r\n" } else { "" };
    let length = text.len();
    let head = format!("HTTP/1.1 {status} Said\r\n{moved}Content-Length: {length}\r\n\r\n");
    let whole = head + &text;
    let end = if let Some(Fault::Cut(end)) = fault { end.min(whole.len()) } else { whole.len() };
    let _ = stream.write_all(&whole.as_bytes()[..end]);
    if end == whole.len() {
        // The published server leaves the connection open, and closes it when it pleases: what
        // comes on it then is lost.
        let _ = stream.read(&mut [0]);
    }
}

/// What is asked for, and where the journal is.
struct Bench {
    folder: tempfile::TempDir,
    is_judged: bool,
    timeout: Duration,
    retries: u32,
    pause: Duration,
    topics: Vec<Topics>,
    notes: Notes,
}

/// Keeps the notes.
#[derive(Default)]
struct Notes(Mutex<String>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        self.0.lock().unwrap().push_str(text);
    }
}

impl Bench {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        // Longer than a busy machine takes.
        let timeout = Duration::from_secs(10);
        let pause = Duration::ZERO;
        let (topics, notes) = (Vec::new(), Notes::default());
        Self { folder, is_judged: true, timeout, retries: 4, pause, topics, notes }
    }

    /// For a server with that fault. What is taken late must be taken while the session is still
    /// asked for, or it would be sent again.
    fn before(fault: &Fault) -> Self {
        let usual = Self::new();
        let pause =
            if matches!(fault, Fault::Late) { Duration::from_millis(100) } else { usual.pause };
        let is_slow = matches!(fault, Fault::Late | Fault::Slow);
        let timeout = if is_slow { Duration::from_millis(200) } else { usual.timeout };
        Self { timeout, pause, ..usual }
    }

    fn journal(&self) -> PathBuf {
        self.folder.path().join("a.jsonl.journal")
    }

    fn client(&self, url: &str) -> Client {
        let waiting = Waiting { timeout: self.timeout, retries: self.retries, pause: self.pause };
        Client::new(url, TOKEN_VALUE, waiting).unwrap()
    }

    /// Talks as the command does: the run, and what the dump has otherwise.
    fn talk(&self, url: &str, resume: bool, respond: Respond) -> Result<(Submission, Vec<String>)> {
        let asked = Asked {
            is_judged: self.is_judged,
            run_id: "run-1",
            description: "d",
            topics: &[],
            team: "team",
            resume,
        };
        let (client, talk) = (self.client(url), Talk::default());
        let mut conversation =
            Conversation { client, talk, asked: &asked, observer: &self.notes, sends: 0 };
        conversation.open(&self.journal(), "sha")?;
        conversation.hold(&self.topics, respond)?;
        let submission = conversation.submission();
        let differences = conversation.differences(&submission);
        Ok((submission, differences))
    }

    fn run(&self, fake: &Fake) -> Result<(Submission, Vec<String>)> {
        self.talk(&fake.url, false, &echo)
    }
}

/// A response that is made of the request.
#[expect(clippy::needless_pass_by_value, clippy::unnecessary_wraps, reason = "as `respond`")]
fn echo(request: Request, statements: Vec<String>) -> Result<Value> {
    Ok(json!({
        "response": format!("To {} of {}", request.last_said(), request.said.len()),
        "citations": { "clueweb22-en0000-00-00000:1": 1.5 },
        "meta": { "ptkb_provenance": statements },
    }))
}

/// The turns that were answered, with what was answered.
fn answered(submission: &Submission) -> Vec<(String, String, String)> {
    let turns = submission.turns.iter().filter_map(|turn| {
        let text = turn.responses.first()?.text.clone();
        Some((turn.id.clone(), turn.utterance.clone().unwrap(), text))
    });
    turns.collect()
}

fn expected() -> Vec<(String, String, String)> {
    let turn = |id: &str, said: &str, text: &str| (id.to_owned(), said.to_owned(), text.to_owned());
    vec![
        turn("1-1_1", "Which saddle?", "To Which saddle? of 1"),
        turn("1-1_2", "And which pedals?", "To And which pedals? of 3"),
        turn("1-2_1", "Where to ride?", "To Where to ride? of 1"),
    ]
}

/// The requests of a run in which nothing fails.
const USUAL: [&str; 6] = ["start", "continue", "continue", "continue", "continue", "dump"];

#[test]
fn a_run_talks_about_every_topic_and_ends() {
    let (bench, fake) = (Bench::new(), Fake::with([]));
    let (submission, differences) = bench.run(&fake).unwrap();
    assert_eq!(answered(&submission), expected());
    assert_eq!(differences, [""; 0]);
    assert_eq!(fake.paths(), USUAL);
    let goodbye = submission.turns.iter().find(|turn| turn.id == "1-1_3").unwrap();
    assert_eq!((goodbye.utterance.as_deref(), goodbye.responses.len()), (Some("Bye!"), 0));
    fake.change(|state| {
        let (path, body) = &state.requests[1];
        assert_eq!(path, "/simulation/run/continue");
        assert_eq!(body["citations"], json!({ "clueweb22-en0000-00-00000:1": 1.5 }));
        assert_eq!(body["meta"], json!({ "ptkb_provenance": [] }));
        // To a goodbye, an empty text and not null.
        assert_eq!(state.requests[3].1, json!({ "run_id": "run-1", "response": "" }));
    });
}

/// Every request was taken once, whatever became of its answer.
fn is_as_usual(fake: &Fake, submission: &Submission, differences: &[String], what: &str) {
    assert_eq!(answered(submission), expected(), "{what}");
    assert_eq!(differences, [""; 0], "{what}");
    let texts: Vec<String> = fake.change(|state| {
        let text =
            |line: &Value| line["responses"][0]["assistant_text"].as_str().map(str::to_owned);
        state.dump.iter().filter_map(text).collect()
    });
    assert_eq!(texts, expected().into_iter().map(|turn| turn.2).collect::<Vec<_>>(), "{what}");
}

#[test]
fn an_answer_that_is_cut_repeats_nothing() {
    for number in 0..USUAL.len() {
        // Where the whole answer comes, nothing was cut. The first bytes are those of the head.
        let (head, whole, step) = match number {
            1 => (100, 700, 7),
            5 => (0, 2_000, 97),
            _ => (0, 800, 53),
        };
        for end in (0..head).chain((head..whole).step_by(step)) {
            let (bench, fake) = (Bench::new(), Fake::with([(number, Fault::Cut(end))]));
            let (submission, differences) = bench.run(&fake).unwrap();
            is_as_usual(&fake, &submission, &differences, &format!("request {number} at {end}"));
        }
    }
}

fn single_faults() -> Vec<Fault> {
    vec![
        Fault::Drop,
        Fault::Status(500, "Internal Server Error"),
        Fault::Status(502, "Bad Gateway"),
        Fault::Status(503, "{\"detail\": \"later\"}"),
        Fault::Slow,
        Fault::Late,
        Fault::Says("{".to_owned()),
    ]
}

#[test]
fn a_request_that_fails_is_sent_again_if_it_was_not_taken() {
    for number in 0..USUAL.len() {
        for fault in single_faults() {
            if number == 5 && matches!(fault, Fault::Says(_)) {
                continue;
            }
            let what = format!("request {number}: {fault:?}");
            let (bench, fake) = (Bench::before(&fault), Fake::with([(number, fault)]));
            let (submission, differences) = bench.run(&fake).expect(&what);
            is_as_usual(&fake, &submission, &differences, &what);
        }
    }
}

#[test]
fn an_interrupted_run_continues_from_its_journal() {
    for number in 0..USUAL.len() - 1 {
        for fault in single_faults().into_iter().chain([Fault::Cut(300)]) {
            for torn in [0, 1, 7] {
                let what = format!("request {number}: {fault:?}, {torn}");
                let fake = Fake::with([(number, fault.clone())]);
                let mut bench = Bench { retries: 0, ..Bench::before(&fault) };
                // Without retries, the session is not asked for with success everywhere.
                fake.change(|state| {
                    state.faults.insert(number + 1, Fault::Drop);
                });
                let error = bench.run(&fake).expect_err(&what).to_string();
                assert!(error.contains("1 times"), "{what}: {error}");
                // A kill may have come in the middle of the last line.
                let text = fs::read(bench.journal()).unwrap();
                fs::write(bench.journal(), &text[..text.len() - torn]).unwrap();
                bench.retries = 4;
                let (submission, differences) = bench.talk(&fake.url, true, &echo).expect(&what);
                is_as_usual(&fake, &submission, &differences, &what);
                let again = bench.talk(&fake.url, true, &echo).expect(&what);
                assert_eq!(again.0, submission, "{what}: a run that has ended");
            }
        }
    }
}

#[test]
fn a_run_that_ends_between_answer_and_request_continues() {
    for stop in 1..=3 {
        let (bench, fake) = (Bench::new(), Fake::with([]));
        let count = Mutex::new(0);
        let stopping = |request: Request, statements: Vec<String>| {
            let mut count = count.lock().unwrap();
            *count += 1;
            if *count == stop {
                bail!("system", "an answer", "none", "");
            }
            echo(request, statements)
        };
        assert!(bench.talk(&fake.url, false, &stopping).is_err());
        let (submission, differences) = bench.talk(&fake.url, true, &echo).unwrap();
        is_as_usual(&fake, &submission, &differences, &stop.to_string());
        // The session was asked for before anything else was sent.
        let asked = fake.paths().iter().filter(|path| *path == "session").count();
        assert_eq!(asked, 1, "{stop}");
    }
}

#[test]
fn a_user_who_fails_gets_the_response_again() {
    for (number, turn) in [(1, 0), (2, 1), (4, 2)] {
        let (bench, fake) = (Bench::new(), Fake::with([(number, Fault::UserFails)]));
        let (submission, differences) = bench.run(&fake).unwrap();
        // The history of the server has both responses, and the next request one of them.
        assert_eq!(answered(&submission), expected(), "{number}");
        // The dump has the first response as the user's words, which is known and no difference.
        assert_eq!(differences, [""; 0]);
        let text = expected()[turn].2.clone();
        let sent = fake.change(|state| {
            state.requests.iter().filter(|(_, body)| body["response"] == text.as_str()).count()
        });
        assert_eq!(sent, 2);
    }
    // One who always fails is not asked for ever.
    let fake = Fake::with((1..40).map(|number| (number, Fault::UserFails)));
    let error = Bench::new().run(&fake).unwrap_err().to_string();
    assert!(error.contains("the user does not react, 5 times"), "{error}");
}

#[test]
fn a_topic_whose_user_fails_at_once_is_fetched() {
    for number in [0, 3] {
        let (bench, fake) = (Bench::new(), Fake::with([(number, Fault::UserFails)]));
        // The run exists then, although nothing was said.
        let submission = bench.run(&fake).unwrap().0;
        let turns: Vec<String> = answered(&submission).into_iter().map(|turn| turn.0).collect();
        assert_eq!(turns[0], "1-1_1", "{number}");
    }
}

#[test]
fn a_run_id_is_used_once() {
    for is_judged in [false, true] {
        let (bench, fake) = (Bench { is_judged, ..Bench::new() }, Fake::with([]));
        fake.change(|state| state.run = Some("run-1".to_owned()));
        let error = bench.run(&fake).unwrap_err().to_problem();
        assert!(error.hint.contains("--run-id"), "{error}");
        assert_eq!(fake.paths(), ["start"]);
        assert!(!bench.journal().exists(), "nothing was begun");
        let error = bench.talk(&fake.url, true, &echo).unwrap_err().to_problem();
        assert!(error.hint.contains("--run-id"), "--resume takes no other run: {error}");
    }
    // The first request came through after all.
    let fake = Fake::with([(0, Fault::Late), (1, Fault::Status(428, "{}"))]);
    let bench = Bench { retries: 1, ..Bench::before(&Fault::Late) };
    let (submission, _) = bench.run(&fake).unwrap();
    assert_eq!(answered(&submission), expected());
}

#[test]
fn a_restart_of_the_server_is_told_as_what_it_is() {
    // In a topic, and between two.
    for number in [2, 3] {
        let (bench, fake) = (Bench::new(), Fake::with([(number, Fault::Restart)]));
        let error = bench.run(&fake).unwrap_err().to_problem();
        assert!(error.found.contains("inactive") && error.hint.contains("journal"), "{error}");
        // A server that has its sessions again goes on.
        fake.change(|state| state.is_inactive = false);
        let (submission, differences) = bench.talk(&fake.url, true, &echo).unwrap();
        is_as_usual(&fake, &submission, &differences, "recovered");
    }
    // One that has forgotten the run: it began before anything was answered.
    let (bench, fake) = (Bench::new(), Fake::with([(1, Fault::Drop)]));
    let forget = |request: Request, statements: Vec<String>| {
        fake.change(|state| state.run = None);
        echo(request, statements)
    };
    let error = bench.talk(&fake.url, false, &forget).unwrap_err().to_problem();
    assert!(error.found.contains("unknown") && error.hint.contains("journal"), "{error}");
}

#[test]
fn a_debug_run_ends_where_its_budget_does() {
    let (bench, fake) = (Bench { is_judged: false, ..Bench::new() }, Fake::with([]));
    fake.change(|state| state.is_used_up = true);
    let (submission, differences) = bench.run(&fake).unwrap();
    assert_eq!(answered(&submission), expected()[..2]);
    assert_eq!(differences, [""; 0], "a debug run has no dump");
    assert_eq!(fake.paths(), USUAL[..4]);
    // A judged one does not end in this way.
    let fake = Fake::with([]);
    fake.change(|state| state.is_used_up = true);
    let error = Bench::new().run(&fake).unwrap_err().to_string();
    assert!(error.contains("status 403: budget"), "{error}");
}

#[test]
fn a_lost_last_goodbye_ends_a_debug_run_too() {
    for fault in [Fault::Cut(200), Fault::Slow] {
        let (bench, fake) =
            (Bench { is_judged: false, ..Bench::before(&fault) }, Fake::with([(4, fault)]));
        let (submission, _) = bench.run(&fake).unwrap();
        assert_eq!(answered(&submission), expected());
        assert!(bench.notes.0.lock().unwrap().contains("how topic 1-2 ended was not heard"));
        let last = fake.paths().last().cloned();
        assert_eq!(last.as_deref(), Some("continue"), "which is refused after the end");
    }
}

#[test]
fn a_response_that_the_server_counts_otherwise_is_cut() {
    let (bench, fake) = (Bench::new(), Fake::with([]));
    // Oftener than a request is sent again that was not answered.
    fake.change(|state| state.most_words = 100);
    let long = |request: Request, statements: Vec<String>| {
        let mut response = echo(request, statements)?;
        response["response"] = "word ".repeat(250).into();
        Ok(response)
    };
    let (submission, differences) = bench.talk(&fake.url, false, &long).unwrap();
    assert_eq!(differences, [""; 0]);
    let words = |turn: &(String, String, String)| turn.2.split(' ').count();
    assert!(answered(&submission).iter().all(|turn| (90..=100).contains(&words(turn))));
}

#[test]
fn other_refusals_end_the_run_with_their_reason() {
    let field = r#"{"detail": [{"type": "dict_type", "loc": ["body", "meta"], "msg": "no dict"}]}"#;
    for (status, text, found) in [
        (422, field, "no dict"),
        (400, "{\"detail\": \"Run was finished!\"}", "Run was finished!"),
        (401, "{\"detail\": \"Token is invalid.\"}", "Token is invalid."),
        (403, "{\"detail\": \"not your run\"}", "not your run"),
        (428, "{\"detail\": \"no such run\"}", "no such run"),
        (302, "moved", "status 302: moved"),
        (429, "slow down", "status 429: slow down"),
    ] {
        let (bench, fake) = (Bench::new(), Fake::with([(1, Fault::Status(status, text))]));
        let error = bench.run(&fake).unwrap_err().to_problem();
        assert!(error.found.contains(found), "{error}");
        assert_eq!(fake.paths(), ["start", "continue"], "it is not sent again");
        // Nothing changed, so that the run continues once the reason is gone.
        let (submission, differences) = bench.talk(&fake.url, true, &echo).unwrap();
        is_as_usual(&fake, &submission, &differences, found);
    }
}

#[test]
fn no_token_gets_into_a_message_or_the_journal() {
    let plain = |token: &str| format!("Bearer {token}");
    let escaped = |token: &str| {
        token.chars().map(|c| format!("\\u{:04x}", c as u32)).collect::<Vec<_>>().concat()
    };
    let spellings: [fn(&str) -> String; 2] = [plain, escaped];
    for spell in spellings {
        let (bench, fake) = (Bench::new(), Fake::with([(1, Fault::Echo(spell))]));
        let error = bench.run(&fake).unwrap_err().to_problem();
        assert!(error.found.contains("status 403"), "{error}");
        let journal = fs::read_to_string(bench.journal()).unwrap();
        assert!(journal.contains("403"), "{journal}");
        assert!(!journal.contains(TOKEN_VALUE) && !format!("{error:?}").contains(TOKEN_VALUE));
    }
    let waiting = Waiting { timeout: Duration::ZERO, retries: 0, pause: Duration::ZERO };
    for bad in ["", "two words", "line\nfeed", "\"quoted\""] {
        let error = Client::new("http://127.0.0.1:1", bad, waiting).err().unwrap().to_string();
        assert!(error.contains(TOKEN) && (bad.is_empty() || !error.contains(bad)), "{error}");
    }
    for bad in ["127.0.0.1:8888", "http://me:secret@host", "http://host/?run_id=1"] {
        let error = Client::new(bad, TOKEN_VALUE, waiting).err().unwrap().to_string();
        assert!(error.contains("URL") && !error.contains("secret"), "{error}");
    }
}

#[test]
fn answers_of_another_form_are_refused() {
    let user = r#"[{"role": "user", "content": "a"}]"#;
    for said in [
        "[]".to_owned(),
        "null".to_owned(),
        "<html>".to_owned(),
        format!("{{\"history\": {user}}}"),
        format!("{{\"topic_id\": [], \"history\": {user}}}"),
        r#"{"topic_id": "1", "history": []}"#.to_owned(),
        r#"{"topic_id": "1", "history": "a"}"#.to_owned(),
        r#"{"topic_id": "1", "history": [{"role": "system", "content": "a"}]}"#.to_owned(),
        r#"{"topic_id": "1", "history": [{"role": "user", "content": null}]}"#.to_owned(),
        format!("{{\"topic_id\": \"1\", \"history\": {user}, \"last_response_of_run\": 1}}"),
        format!("{{\"topic_id\": \"1\", \"history\": {user}, \"user_meta\": {{\"ptkb\": [1]}}}}"),
        format!("[{}0]", "0,".repeat(600_000)),
        "[".repeat(100_000),
    ] {
        let faults = (0..9).map(|number| (number, Fault::Says(said.clone())));
        let (bench, fake) = (Bench { retries: 1, ..Bench::new() }, Fake::with(faults));
        let error = bench.run(&fake).unwrap_err().to_string();
        assert!(error.contains("no utterance"), "{}: {error}", &said[..said.len().min(80)]);
    }
    // Unknown fields and numbers in the place of names are read.
    let said = format!("{{\"topic_id\": 7, \"history\": {user}, \"new\": {{}}}}");
    let mut talk = Talk::default();
    talk.send("/run/start", &Value::Null);
    assert!(matches!(talk.hear(Ok((200, said))), Meaning::Taken));
}

#[test]
fn answers_without_an_end_are_refused() {
    let long = format!("{{\"a\": \"{}\"}}", "x".repeat(17 << 20));
    for fault in [Fault::Endless, Fault::Says(long)] {
        let fake = Fake::with([(1, fault)]);
        let bench = Bench { timeout: Duration::from_secs(60), ..Bench::new() };
        let error = bench.run(&fake).unwrap_err().to_string();
        assert!(error.contains("an answer of more than 16 MiB"), "{error}");
    }
}

#[test]
fn a_journal_is_continued_by_what_began_it() {
    let (bench, fake) = (Bench::new(), Fake::with([(1, Fault::Status(422, "no"))]));
    bench.run(&fake).unwrap_err();
    let error = bench.run(&fake).unwrap_err().to_problem();
    assert!(error.hint.contains("--resume"), "{error}");
    let other = Bench { is_judged: false, ..Bench::new() };
    fs::copy(bench.journal(), other.journal()).unwrap();
    let error = other.talk(&fake.url, true, &echo).unwrap_err().to_problem();
    assert!(error.expected.contains("`mode` debug") && error.found == "run", "{error}");
    let text = fs::read_to_string(bench.journal()).unwrap();
    fs::write(bench.journal(), text.replacen("\n{\"request\"", "\n{{\"request\"", 1)).unwrap();
    let error = bench.talk(&fake.url, true, &echo).unwrap_err().to_string();
    assert!(error.contains(":2: expected a line of a journal"), "{error}");
    assert_eq!(fake.paths(), ["start", "continue"], "nothing was sent");
}

#[test]
fn nobody_else_talks_in_a_run() {
    let (bench, fake) =
        (Bench { retries: 1, ..Bench::new() }, Fake::with([(1, Fault::Status(422, "no"))]));
    bench.run(&fake).unwrap_err();
    fake.change(|state| {
        state.answer("/run/continue", &json!({ "response": "Somebody else" }), false);
    });
    let error = bench.talk(&fake.url, true, &echo).unwrap_err().to_string();
    assert!(error.contains("another history"), "{error}");
    // Not even between a question and the response to it.
    let fake = Fake::new(vec![("1-1", "u1", vec!["Which?", "And?", "Or?", "Bye!"])]);
    let late = |request: Request, statements: Vec<String>| {
        fake.change(|state| {
            state.answer("/run/continue", &json!({ "response": "Somebody else" }), false);
        });
        echo(request, statements)
    };
    let error = Bench::new().talk(&fake.url, false, &late).unwrap_err().to_string();
    assert!(error.contains("another history"), "{error}");
    // Nor does a topic begin before the last one has ended: that would never end.
    let other = r#"{"topic_id": "7", "history": [{"role": "user", "content": "a"}]}"#;
    let faults = (1..20).map(|number| (number, Fault::Says(other.to_owned())));
    let error = Bench::new().run(&Fake::with(faults)).unwrap_err().to_string();
    assert!(error.contains("another history"), "{error}");
}

#[test]
fn statements_come_from_the_server_or_from_topics() {
    let statements = |bench: &Bench, fake: &Fake| -> Vec<Vec<String>> {
        let (submission, differences) = bench.run(fake).unwrap();
        assert_eq!(differences, [""; 0]);
        let responses = submission.turns.iter().flat_map(|turn| &turn.responses);
        responses.map(|one| one.statements.iter().map(|it| it.text.clone()).collect()).collect()
    };
    let topics = r#"[{"number": "1-1", "title": "t", "ptkb": {"1": "I ride."}, "turns": [{"turn_id": 1, "utterance": "a", "resolved_utterance": "a", "response": "b", "ptkb_provenance": [], "response_provenance": []}]}]"#;
    let topics = Topics::read(&Source::memory("topics", topics.as_bytes().to_vec())).unwrap();
    let bench = Bench { topics: vec![topics.clone()], ..Bench::new() };
    assert_eq!(statements(&bench, &Fake::with([])), [vec!["I ride."], vec!["I ride."], vec![]]);
    let fake = Fake::with([]);
    fake.change(|state| state.statements = Some(vec!["I run.", " "]));
    let bench = Bench { topics: vec![topics.clone()], ..Bench::new() };
    assert_eq!(statements(&bench, &fake), [["I run."]; 3]);
    assert_eq!(statements_of(slice::from_ref(&topics), "ikat2023-test-1-1"), ["I ride."]);
    assert_eq!(statements_of(&[topics], "ikat2024-test-1-1"), [""; 0]);
}

#[test]
fn several_users_talk_about_one_topic() {
    let talks = vec![("5", "u1", vec!["a", "bye"]), ("5", "u2", vec!["a", "bye"])];
    let (bench, fake) = (Bench::new(), Fake::new(talks));
    let (submission, differences) = bench.run(&fake).unwrap();
    let ids: Vec<&str> = submission.turns.iter().map(|turn| turn.id.as_str()).collect();
    assert_eq!(ids, ["5_1", "5_2", "5-u2_1", "5-u2_2"]);
    assert_eq!(differences, [""; 0]);
}

#[test]
fn a_dump_that_is_not_the_journal_is_told() {
    let other = json!({
        "metadata": { "team_id": "team", "run_id": "run-1", "topic_id": "1-1_1" },
        "responses": [{ "rank": 1, "user_utterance": "Which saddle?", "assistant_text": "No",
                        "assistant_citations": null, "assistant_meta": null }],
    });
    let extra = other.to_string().replace("1-1_1", "9-9_1");
    let fake = Fake::with([(5, Fault::Says(format!("{other}\n{extra}\n")))]);
    let (_, differences) = Bench::new().run(&fake).unwrap();
    assert_eq!(
        differences,
        [
            "turn 1-1_1: the response",
            "turn 1-1_1: the citations",
            "turn 1-1_2: not in the dump",
            "turn 1-2_1: not in the dump",
            "turn 9-9_1: not in the journal",
        ]
    );
    for (fault, says) in [
        (Fault::Status(404, "{\"detail\": \"none\"}"), "status 404: none"),
        (Fault::Says("{}".to_owned()), "no dump to compare with"),
    ] {
        let (_, differences) = Bench::new().run(&Fake::with([(5, fault)])).unwrap();
        assert!(differences.len() == 1 && differences[0].contains(says), "{differences:?}");
    }
}

#[test]
fn a_response_has_no_white_space_that_counts() {
    assert_eq!(squeeze(" a  b\n\nc\u{a0}d\u{1c}e\t"), "a b c d e");
    for text in ["a  b", "a\nb", " a b", "a \n b", "a\u{a0}b"] {
        assert!(tokens::count(text) >= 3, "{text:?}, as spaCy counts");
    }
}

/// The built-in system over the built-in sample, as the command runs it.
#[test]
fn a_system_answers_within_the_limits() {
    use crate::{Contexts, Loaded, Options, Session as Opened};
    let folder = tempfile::tempdir().unwrap();
    let options = Options { cache: folder.path().join("cache"), ..Options::default() };
    let ikat =
        clariq_collections::ikat::Ikat::open(clariq_collections::DataDir::Sample, None).unwrap();
    let session = Opened::new(&ikat, options).unwrap();
    let (contexts, loaded) = (Contexts::new(&session), Loaded::open_any("ikat-bm25", &[]).unwrap());
    let system = System::open(&contexts, &loaded).unwrap();
    let split = clariq_collections::ikat::Split::Test2023;
    let conversation = &ikat.topics(split).unwrap().conversations[0];
    let request = Request { said: conversation.said(1, Class::Automatic), ..Request::new("1", "") };
    let response = respond(&system, request, conversation.statements.clone()).unwrap();
    let text = response["response"].as_str().unwrap();
    assert!((1..=MOST_TOKENS).contains(&tokens::count(text)));
    let scores: Vec<String> =
        response["citations"].as_object().unwrap().values().map(Value::to_string).collect();
    assert_eq!(scores.iter().collect::<HashSet<_>>().len(), MOST_CITATIONS);
    let named = response["meta"]["ptkb_provenance"][0].as_str().unwrap();
    assert!(conversation.statements.iter().any(|statement| statement == named));
    // A whole run, as it is written.
    let (fake, path) = (Fake::with([]), folder.path().join("a.jsonl"));
    let bench = Bench::new();
    let asked = Asked {
        is_judged: true,
        run_id: "run-1",
        description: "d",
        topics: &[],
        team: "team",
        resume: false,
    };
    let done = simulate(bench.client(&fake.url), &system, &asked, &path).unwrap();
    assert_eq!(done, Done { topics: 2, turns: 3, differences: Vec::new() });
    assert_eq!(fs::read_to_string(&path).unwrap().lines().count(), 5);
    let submission = Submission::read(&Source::new(&path), None).unwrap();
    assert!(submission.is_interactive() && submission.turns.len() == 5);
    let written = fs::read_to_string(record::path_of(&path)).unwrap();
    assert_eq!(client::read(&written).unwrap()["simulation"]["mode"], "run");
    assert!(!written.contains(TOKEN_VALUE));
    for name in ["ikat-manual", "ikat-only-response", "bm25"] {
        let loaded = Loaded::open_any(name, &[]).unwrap();
        if loaded.needs_models() || !loaded.answers() {
            continue;
        }
        let system = System::open(&contexts, &loaded).unwrap();
        assert!(simulate(bench.client(&fake.url), &system, &asked, &path).is_err(), "{name}");
    }
    let mut loaded = Loaded::open_any("ikat-bm25", &[]).unwrap();
    loaded.uses.push(Uses::EarlierConversations);
    let system = System::open(&contexts, &loaded).unwrap();
    let error = simulate(bench.client(&fake.url), &system, &asked, &path).unwrap_err().to_problem();
    assert!(error.found.contains("earlier-conversations"), "{error}");
}

/// A recording of the published server: from the folder of the files where it is, and otherwise a
/// small one with the same exchanges.
fn recording() -> Vec<Value> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let real = fs::read_to_string(root.join("../shared/ikat/simulation/session.jsonl"));
    let text = real.unwrap_or_else(|_| include_str!("../../tests/data/session.jsonl").to_owned());
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn what_the_recorded_answers_mean() {
    let mut counts = HashMap::new();
    for exchange in recording() {
        let path = exchange["path"].as_str().unwrap();
        let status = exchange["status"].as_u64().unwrap() as u16;
        let note = exchange["note"].as_str().unwrap();
        if !["/start", "/continue", "/session"].iter().any(|name| path.contains(name)) {
            continue;
        }
        let mut talk = Talk::default();
        talk.send(path, &exchange["request"]);
        let meaning = talk.hear(Ok((status, client::as_text(&exchange["response"]))));
        let name = match &meaning {
            Meaning::Taken => "taken",
            Meaning::Failed => "failed",
            Meaning::Refused(..) => "refused",
            Meaning::Broken(Some(500), _) => "broken",
            other => panic!("{note}: {other:?}"),
        };
        let right = match status {
            200 if note.contains("client's own") => "failed",
            200 => "taken",
            500 => "broken",
            _ => "refused",
        };
        assert_eq!(name, right, "{note}");
        *counts.entry(name).or_insert(0) += 1;
    }
    assert_eq!(counts.len(), 4, "{counts:?}");
}

/// Replays the exchanges of one run: to each path, the recorded answers one after the other.
fn replay(exchanges: Vec<Value>) -> String {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/simulation", listener.local_addr().unwrap());
    let key = |path: &str| path.split('?').next().unwrap().to_owned();
    let mut answers: HashMap<String, VecDeque<(u16, String)>> = HashMap::new();
    for exchange in exchanges {
        let answer =
            (exchange["status"].as_u64().unwrap() as u16, client::as_text(&exchange["response"]));
        answers.entry(key(exchange["path"].as_str().unwrap())).or_default().push_back(answer);
    }
    thread::spawn(move || {
        for mut stream in listener.incoming().flatten() {
            let Some((path, ..)) = read_request(&stream) else { continue };
            let queue = answers.entry(key(&path)).or_default();
            // Asking changes nothing.
            let again = queue.front().filter(|_| path.contains("/session")).cloned();
            let (status, text) = queue.pop_front().unwrap_or_default();
            queue.extend(again);
            let length = text.len();
            let _ = write!(
                stream,
                "HTTP/1.1 {status} Said\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{text}"
            );
        }
    });
    url
}

/// The recorded runs, with the responses that were sent then, give the recorded dumps.
#[test]
fn recorded_runs_are_talked_through() {
    for scenario in ["dummy", "scripted"] {
        let of_scenario =
            recording().into_iter().filter(|exchange| exchange["scenario"] == scenario);
        // What was asked for besides, in the middle or after the end.
        let answers = |exchange: &Value| {
            let path = exchange["path"].as_str().unwrap();
            let is_dump = path.contains("/dump") && exchange["status"] == 200;
            is_dump || path.ends_with("/start") || path.ends_with("/continue")
        };
        let exchanges: Vec<Value> = of_scenario.filter(answers).collect();
        if exchanges.is_empty() {
            continue;
        }
        let sent = exchanges.iter().filter(|exchange| {
            exchange["status"] == 200
                && !matches!(exchange["request"]["response"].as_str(), None | Some(""))
        });
        let sent: VecDeque<Value> = sent.map(|exchange| exchange["request"].clone()).collect();
        let (count, sent) = (sent.len(), Mutex::new(sent));
        let respond = |_: Request, _: Vec<String>| Ok(sent.lock().unwrap().pop_front().unwrap());
        let (submission, differences) =
            Bench::new().talk(&replay(exchanges), false, &respond).expect(scenario);
        assert_eq!(differences, [""; 0], "{scenario}");
        assert_eq!(answered(&submission).len(), count, "{scenario}");
        assert!(count > 1 && sent.lock().unwrap().is_empty(), "{scenario}");
    }
}

#[test]
fn recorded_failures_are_recovered_from() {
    let of = |run: &'static str| -> Vec<Value> {
        let is_of = |exchange: &Value| {
            let path = exchange["path"].as_str().unwrap();
            exchange["request"]["run_id"] == run || path.contains(&format!("run_id={run}"))
        };
        recording().into_iter().filter(is_of).collect()
    };
    // The user fails, then reacts to the same response; there the recording ends.
    let bench = Bench { retries: 1, ..Bench::new() };
    let asked = Asked {
        is_judged: true,
        run_id: "run-1",
        description: "d",
        topics: &[],
        team: "team",
        resume: false,
    };
    for (run, turns, failed) in [("teamA-failure", 2, true), ("teamC-failure", 1, false)] {
        // The recording did not ask for this.
        let status = json!({ "status": "active", "done_topics": ["1-1"], "open_topics": ["1-2"] });
        let status = json!({ "path": "/simulation/run/status", "status": 200, "response": status });
        let url = replay(of(run).into_iter().chain([status]).collect());
        let _ = fs::remove_file(bench.journal());
        let (client, talk) = (bench.client(&url), Talk::default());
        let mut conversation =
            Conversation { client, talk, asked: &asked, observer: &Silent, sends: 0 };
        conversation.open(&bench.journal(), "sha").unwrap();
        conversation.hold(&[], &echo).unwrap_err();
        let session = &conversation.talk.sessions[0];
        assert_eq!((session.turns.len(), session.turns[0].failed), (turns, failed), "{run}");
    }
}
