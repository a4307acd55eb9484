//! A web server for one test: it serves a few files from memory and misbehaves on request.

use crate::stub;
use std::collections::HashMap;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::thread;
use std::time::Duration;

/// A request, and the size of its answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) user_agent: Option<String>,
    /// Bytes of the body that were really sent.
    pub(crate) sent: usize,
}

/// The files and the behaviour of the server, which may be changed between requests.
#[derive(Debug, Clone, Default)]
pub(crate) struct Behaviour {
    pub(crate) files: HashMap<String, Vec<u8>>,
    /// Closes the connection after this many bytes of a body.
    pub(crate) cut_after: Option<usize>,
    /// Waits this long before it closes the connection too early.
    pub(crate) stall: Option<Duration>,
    /// Announces no size and repeats the body until the client closes the connection.
    pub(crate) endless: bool,
    /// Answers every request with this status and no file.
    pub(crate) refuse: Option<u16>,
}

pub(crate) struct Server {
    pub(crate) url: String,
    behaviour: Arc<Mutex<Behaviour>>,
    seen: Arc<Mutex<Vec<Seen>>>,
}

impl Server {
    /// Serves these files without faults.
    pub(crate) fn with(files: &[(&str, &[u8])]) -> Self {
        let files = files.iter().map(|(name, bytes)| ((*name).to_owned(), bytes.to_vec()));
        let behaviour = Behaviour { files: files.collect(), ..Behaviour::default() };
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let url = format!("http://{}/data/", listener.local_addr().unwrap());
        let behaviour = Arc::new(Mutex::new(behaviour));
        let seen = Arc::new(Mutex::new(Vec::new()));
        let theirs = Arc::clone(&behaviour);
        let log = Arc::clone(&seen);
        // The thread ends with the process.
        thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let behaviour = theirs.lock().unwrap().clone();
                answer(stream, &behaviour, &log);
            }
        });
        Self { url, behaviour, seen }
    }

    pub(crate) fn change(&self, change: impl FnOnce(&mut Behaviour)) {
        change(&mut self.behaviour.lock().unwrap());
    }

    /// The requests since the last call.
    pub(crate) fn seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.seen.lock().unwrap())
    }
}

fn answer(mut stream: TcpStream, behaviour: &Behaviour, log: &Mutex<Vec<Seen>>) {
    let Ok(request) = stub::read(&stream) else { return };
    let file = behaviour.files.get(request.path.trim_start_matches("/data/")).map(Vec::as_slice);
    let (status, body) = match (behaviour.refuse, file) {
        (Some(status), _) => (status, &b""[..]),
        (None, None) => (404, &b"no such file"[..]),
        (None, Some(file)) => (200, file),
    };
    let length = if behaviour.endless {
        String::new()
    } else {
        format!("Content-Length: {}\r\n", body.len())
    };
    let mut sent =
        behaviour.cut_after.filter(|_| status < 300).unwrap_or(body.len()).min(body.len());
    let head = format!("HTTP/1.1 {status} Test\r\n{length}Connection: close\r\n\r\n");
    // A request is logged before it is answered, and the bytes of an endless answer afterwards.
    let user_agent = request.header("user-agent").map(str::to_owned);
    let number = {
        let mut log = log.lock().unwrap();
        log.push(Seen { user_agent, sent });
        log.len() - 1
    };
    let mut written =
        stream.write_all(head.as_bytes()).and_then(|()| stream.write_all(&body[..sent]));
    while behaviour.endless && written.is_ok() {
        written = stream.write_all(body);
        sent += body.len();
        if let Some(seen) = log.lock().unwrap().get_mut(number) {
            seen.sent = sent;
        }
    }
    if let Some(pause) = behaviour.stall.filter(|_| sent < body.len()) {
        thread::sleep(pause);
    }
}
