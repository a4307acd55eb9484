//! A local server that speaks the dialects of endpoints, and can fail in many ways. Tests of other
//! crates include this file.

#![allow(dead_code, reason = "each test file uses its part")]

use serde_json::{Value, json};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request as the server received it.
#[derive(Debug, Clone)]
pub(crate) struct Received {
    pub(crate) path: String,
    /// Names in lower case.
    pub(crate) headers: Vec<String>,
    pub(crate) body: Value,
}

impl Received {
    /// The value of a header.
    pub(crate) fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find_map(|line| line.strip_prefix(name)?.strip_prefix(": "))
    }
}

/// The behaviour of the server.
#[derive(Debug, Clone)]
pub(crate) enum Reply {
    /// Status 200.
    Json(Value),
    /// A status, further headers, and a body.
    Status(u16, String, String),
    /// Status 200, further headers, and a body that may be no text.
    Bytes(String, Vec<u8>),
    /// The connection ends in the middle of the body.
    Cut,
    /// A byte of the body at a time, without end.
    Drip,
    /// A body without end; its header announces 10 GiB.
    Endless,
}

impl Reply {
    pub(crate) fn status(status: u16, body: &str) -> Self {
        Self::Status(status, String::new(), body.to_owned())
    }
}

pub(crate) struct Stub {
    /// `http://127.0.0.1:…`
    pub(crate) url: String,
    received: Arc<Mutex<Vec<Received>>>,
    most_at_once: Arc<AtomicUsize>,
}

impl Stub {
    /// A server that works in all dialects.
    pub(crate) fn working() -> Self {
        Self::start(|received, _| dialects(received))
    }

    /// A server that gives the same reply to everything.
    pub(crate) fn always(reply: Reply) -> Self {
        Self::start(move |_, _| reply.clone())
    }

    /// A server with its own replies; requests are counted from 0. It has one model, `stub`.
    pub(crate) fn start(reply: impl Fn(&Received, usize) -> Reply + Send + Sync + 'static) -> Self {
        Self::with_models(reply, || Ok(vec!["stub"]))
    }

    /// A server that lists these models, or refuses to list them with a status.
    pub(crate) fn with_models(
        reply: impl Fn(&Received, usize) -> Reply + Send + Sync + 'static,
        models: impl Fn() -> Result<Vec<&'static str>, u16> + Send + Sync + 'static,
    ) -> Self {
        let models = Arc::new(models);
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}", listener.local_addr().unwrap());
        let stub = Self { url, received: Arc::default(), most_at_once: Arc::default() };
        let received = Arc::clone(&stub.received);
        let most = Arc::clone(&stub.most_at_once);
        let reply = Arc::new(reply);
        thread::spawn(move || {
            let at_once = Arc::new(AtomicUsize::new(0));
            for stream in listener.incoming().flatten() {
                let received = Arc::clone(&received);
                let most = Arc::clone(&most);
                let reply = Arc::clone(&reply);
                let models = Arc::clone(&models);
                let at_once = Arc::clone(&at_once);
                thread::spawn(move || {
                    let Ok(request) = read(&stream) else { return };
                    if let Some(kind) = ["/models", "/info"]
                        .into_iter()
                        .find(|path| request.path.ends_with(path) && request.body.is_null())
                    {
                        let _ = write(stream, &about_models(kind, models()));
                        return;
                    }
                    most.fetch_max(at_once.fetch_add(1, Ordering::SeqCst) + 1, Ordering::SeqCst);
                    let number = {
                        let mut all = received.lock().unwrap();
                        all.push(request.clone());
                        all.len() - 1
                    };
                    let reply = reply(&request, number);
                    at_once.fetch_sub(1, Ordering::SeqCst);
                    let _ = write(stream, &reply);
                });
            }
        });
        stub
    }

    pub(crate) fn received(&self) -> Vec<Received> {
        self.received.lock().unwrap().clone()
    }

    /// The largest number of requests that were answered at the same time.
    pub(crate) fn most_at_once(&self) -> usize {
        self.most_at_once.load(Ordering::SeqCst)
    }
}

pub(crate) fn read(stream: &TcpStream) -> io::Result<Received> {
    let mut reader = BufReader::new(stream);
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? == 0 || line.trim().is_empty() {
            break;
        }
        lines.push(line.trim().to_owned());
    }
    let first = lines.first().ok_or(io::ErrorKind::UnexpectedEof)?;
    let path = first.split(' ').nth(1).unwrap_or_default().to_owned();
    let mut headers = Vec::new();
    for line in &lines[1..] {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        headers.push(format!("{}: {value}", name.to_lowercase()));
    }
    let mut received = Received { path, headers, body: Value::Null };
    let length = received.header("content-length");
    let mut body = vec![0; length.map_or(0, |length| length.parse().unwrap())];
    reader.read_exact(&mut body)?;
    received.body = serde_json::from_slice(&body).unwrap_or_default();
    Ok(received)
}

fn write(mut stream: TcpStream, reply: &Reply) -> io::Result<()> {
    let head = |status: u16, more: &str, length: u64| {
        format!(
            "HTTP/1.1 {status} Test\r\n{more}Content-Length: {length}\r\nConnection: close\r\n\r\n"
        )
    };
    match reply {
        Reply::Json(body) => {
            let body = body.to_string();
            write!(stream, "{}{body}", head(200, "", body.len() as u64))
        }
        Reply::Status(status, more, body) => {
            write!(stream, "{}{body}", head(*status, more, body.len() as u64))
        }
        Reply::Bytes(more, body) => {
            write!(stream, "{}", head(200, more, body.len() as u64))?;
            stream.write_all(body)
        }
        Reply::Cut => write!(stream, "{}{{\"choices\": [", head(200, "", 1000)),
        Reply::Drip => {
            write!(stream, "{}", head(200, "", 1_000_000))?;
            loop {
                stream.write_all(b" ")?;
                thread::sleep(Duration::from_millis(50));
            }
        }
        Reply::Endless => {
            write!(stream, "{}", head(200, "", 10 << 30))?;
            loop {
                stream.write_all(&[b' '; 1 << 12])?;
            }
        }
    }
}

/// The models of a server, in the form of `OpenAI` or of text-embeddings-inference.
fn about_models(path: &str, models: Result<Vec<&str>, u16>) -> Reply {
    match (models, path) {
        (Err(status), _) => Reply::status(status, "no such path"),
        (Ok(models), "/models") => {
            let list: Vec<Value> = models.iter().map(|name| json!({ "id": name })).collect();
            Reply::Json(json!({ "object": "list", "data": list }))
        }
        (Ok(models), _) => Reply::Json(json!({ "model_id": models[0], "model_sha": "1a2b" })),
    }
}

/// The replies of a working server: chat models repeat the last message in upper case, encoders
/// count letters, rerankers count shared words.
pub(crate) fn dialects(received: &Received) -> Reply {
    let body = &received.body;
    Reply::Json(match received.path.as_str() {
        "/v1/chat/completions" => {
            let last = body["messages"].as_array().and_then(|all| all.last()).unwrap();
            completion(&last["content"].as_str().unwrap().to_uppercase())
        }
        "/v1/embeddings" => {
            let vectors = strings(&body["input"]).into_iter().enumerate().map(|(index, text)| {
                json!({ "object": "embedding", "index": index, "embedding": letters(&text) })
            });
            // Reversed: only `index` has the order of the texts.
            json!({ "object": "list", "model": "letters", "data": vectors.rev().collect::<Vec<_>>() })
        }
        "/embed" => strings(&body["inputs"]).iter().map(|text| json!(letters(text))).collect(),
        "/embed_sparse" => {
            let weights = |text: &String| -> Value {
                let counts = (0..).zip(letters(text));
                counts.map(|(index, count)| json!({ "index": index, "value": count })).collect()
            };
            strings(&body["inputs"]).iter().map(weights).collect()
        }
        "/v1/rerank" => {
            let query = body["query"].as_str().unwrap();
            let results = strings(&body["documents"]).into_iter().enumerate().map(
                |(index, text)| json!({ "index": index, "relevance_score": shared(query, &text) }),
            );
            json!({ "id": "rerank-1", "results": results.rev().collect::<Vec<_>>() })
        }
        "/rerank" => {
            let query = body["query"].as_str().unwrap();
            let score = |(index, text): (usize, String)| json!({ "index": index, "score": shared(query, &text) });
            strings(&body["texts"]).into_iter().enumerate().map(score).rev().collect()
        }
        other => return Reply::status(404, &format!("no {other} here")),
    })
}

/// A completion with this text.
pub(crate) fn completion(text: &str) -> Value {
    let alternatives = json!([
        { "token": "No", "logprob": -1.5, "bytes": null },
        { "token": "Yes", "logprob": -0.25, "bytes": null },
    ]);
    json!({
        "id": "chatcmpl-1",
        "object": "chat.completion",
        "created": 1_700_000_000,
        "model": "upper-case-1",
        "choices": [{
            "index": 0,
            "message": { "role": "assistant", "content": text },
            "finish_reason": "stop",
            "logprobs": { "content": [{ "token": "Yes", "logprob": -0.25, "top_logprobs": alternatives }] },
        }],
        "usage": { "prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10 },
    })
}

fn strings(list: &Value) -> Vec<String> {
    list.as_array().unwrap().iter().map(|text| text.as_str().unwrap().to_owned()).collect()
}

fn letters(text: &str) -> [usize; 4] {
    ['a', 'e', 'o', 'r'].map(|letter| 1 + text.chars().filter(|found| *found == letter).count())
}

pub(crate) fn shared(query: &str, document: &str) -> f64 {
    let words: Vec<&str> = query.split_whitespace().collect();
    document.split_whitespace().filter(|word| words.contains(word)).count() as f64
}

/// Answers in the form that a request asks for.
pub(crate) fn chat(received: &Received, _: usize) -> Reply {
    if received.path != "/v1/chat/completions" {
        return dialects(received);
    }
    let messages = received.body["messages"].as_array().expect("messages");
    let all: Vec<&str> = messages.iter().filter_map(|one| one["content"].as_str()).collect();
    let all = all.join("\n");
    let last =
        all.lines().find_map(|line| line.strip_prefix("Last utterance: ")).unwrap_or_default();
    let name = received.body["response_format"]["json_schema"]["name"].as_str();
    let answer = match name.unwrap_or_default() {
        "query" => json!({ "query": last }),
        "queries" => {
            json!({ "queries": [last, format!("{last} please"), format!("{last} again")] })
        }
        "order" => {
            let passages = all.lines().filter(|line| line.starts_with('[')).count();
            let numbers: Vec<usize> = (1..=passages).map(|number| number.max(2)).collect();
            json!({ "order": numbers })
        }
        "response" => {
            json!({ "response": [
                { "text": "It is so.", "sources": [1] },
                { "text": "It is not.", "sources": [2, 7] },
            ] })
        }
        "grade" if all.ends_with("Request: Tell me about kombucha.") => json!({ "grade": null }),
        "grade" => json!({ "grade": 3 }),
        "question" => json!({ "question": "do you want to know about tents" }),
        _ => return Reply::Json(completion("Yes")),
    };
    Reply::Json(completion(&answer.to_string()))
}
