//! Requests to the server of the task, each in the journal before it is sent, and its answers.

use clariq_core::{
    Error, Location, Problem, ProblemKind, Result, bail, parse_json, printable, problem,
};
use clariq_files::{Access, Exchange, Patience, Server, check_address, open_alone};
use serde_json::{Value, json};
use std::fs::File;
use std::io::{BufRead, BufReader, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::thread;
use std::time::Duration;

/// The environment variable with the team's token.
pub const TOKEN: &str = "CLARIQ_SIMULATE_TOKEN";

/// An answer has at most so many bytes, and so many JSON values.
const MOST: u64 = 16 << 20;
const MOST_VALUES: usize = 500_000;
/// A line of a journal holds an answer, perhaps with every character escaped.
const MOST_OF_A_LINE: u64 = 8 * MOST;
/// So many characters of a refusal are shown.
const SHOWN: usize = 300;
/// No pause is longer.
const LONGEST_PAUSE: Duration = Duration::from_secs(16);

/// How long a server is waited for.
#[derive(Debug, Clone, Copy)]
pub struct Waiting {
    /// Time for the whole answer to a request. The user is a language model.
    pub timeout: Duration,
    /// How often a request is sent again that got no answer.
    pub retries: u32,
    /// The first pause before that; each later one is twice as long.
    pub pause: Duration,
}

/// What was heard of a request: a status and the text of the answer, or why there is none that is
/// whole.
pub(super) type Heard = Result<(u16, String), String>;

/// The client of one team.
pub struct Client {
    server: Server,
    token: String,
    pub(super) waiting: Waiting,
    pub(super) journal: Option<Journal>,
}

impl Client {
    /// A client for the address of a server, `http://HOST:8888/simulation`. Connects to nothing yet.
    pub fn new(url: &str, token: &str, waiting: Waiting) -> Result<Self> {
        check_address("URL", url, &token_hint())?;
        // Whatever else it holds would end the header, or could not be recognised in an answer.
        let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"+/=-_.".contains(&byte);
        if token.is_empty() || !token.bytes().all(is_token) {
            let found = if token.is_empty() { "nothing" } else { "other characters" };
            bail!(TOKEN, "the team's token, as it was mailed", found, (token_hint()));
        }
        let access = Access {
            authorization: Some(format!("Bearer {token}")),
            authorization_hint: token_hint(),
            authorities: None,
            authorities_hint: "the certificate must be for the host in the address".to_owned(),
        };
        let patience = Patience { timeout: waiting.timeout, retries: 0 };
        let server = Server::new(url.trim_end_matches('/'), access, patience);
        Ok(Self { server, token: token.to_owned(), waiting, journal: None })
    }

    /// The team of the token.
    pub fn team(&mut self) -> Result<String> {
        let answer = self.get_json("/auth/verify")?;
        Ok(answer["team_id"].as_str().unwrap_or_default().to_owned())
    }

    /// What is left of the budget, as the server says it: `run` and `debug`, each with a number and
    /// a unit.
    pub fn budget(&mut self) -> Result<Vec<(String, u64, String)>> {
        let answer = self.get_json("/budget/check")?;
        let left = answer["remaining"].as_object().into_iter().flatten();
        let left = left.filter_map(|(mode, left)| {
            let unit = left["unit"].as_str().unwrap_or("left");
            Some((mode.clone(), left["remaining"].as_u64()?, unit.to_owned()))
        });
        Ok(left.collect())
    }

    fn get_json(&mut self, path: &str) -> Result<Value> {
        let expected = format!("an answer to {path}");
        match self.get(path)? {
            (200, text) => read(&text).map_err(|found| self.problem(&expected, found).into()),
            (status, text) => Err(self.refused(&expected, status, &text).into()),
        }
    }

    /// What a request is answered that changes nothing, sent again where the server fails.
    pub(super) fn get(&mut self, path: &str) -> Result<(u16, String)> {
        let mut trouble = String::new();
        for attempt in 0..=self.waiting.retries {
            if attempt > 0 {
                self.pause(attempt - 1);
            }
            match self.exchange(path, None)? {
                Ok((status, text)) if status < 500 => return Ok((status, text)),
                Ok((status, text)) => trouble = in_words(status, &text),
                Err(why) => trouble = why,
            }
        }
        Err(self.unanswered(&trouble).into())
    }

    /// Sends a request, once. No token that a server sends back gets any further.
    pub(super) fn exchange(&mut self, path: &str, body: Option<&Value>) -> Result<Heard> {
        self.note(&json!({ "request": path, "body": body }))?;
        let body = body.map(Value::to_string);
        let (heard, entry) = match self.server.exchange(path, body.as_deref(), MOST)? {
            Exchange::Answer { status, body } => {
                let text = String::from_utf8_lossy(&body).replace(&self.token, "…");
                let body = read(&text).unwrap_or_else(|_| Value::from(text));
                // A text in JSON may have had the token with escapes.
                let text = as_text(&body).replace(&self.token, "…");
                let body = read(&text).unwrap_or_else(|_| Value::from(text.as_str()));
                (Ok((status, text)), json!({ "answer": status, "body": body }))
            }
            Exchange::Nothing(why) => {
                let entry = json!({ "nothing": why });
                (Err(why), entry)
            }
        };
        self.note(&entry)?;
        Ok(heard)
    }

    /// Writes a line of the journal, where there is one.
    pub(super) fn note(&mut self, entry: &Value) -> Result<()> {
        self.journal.as_mut().map_or(Ok(()), |journal| journal.put(entry))
    }

    /// Waits before a request is sent again.
    pub(super) fn pause(&self, attempt: u32) {
        let pause = self.waiting.pause.saturating_mul(1 << attempt.min(16));
        thread::sleep(pause.min(LONGEST_PAUSE));
    }

    pub(super) fn unanswered(&self, trouble: &str) -> Problem {
        let found = format!("{trouble}, {} times", u64::from(self.waiting.retries) + 1);
        self.problem("an answer of the server", found)
            .hint("the same command with --resume continues, when the server is there again")
    }

    /// The problem that a request was refused.
    pub(super) fn refused(&self, expected: &str, status: u16, text: &str) -> Problem {
        let hint = match status {
            400 | 401 => token_hint(),
            300..400 => "name the address that it leads to: none is followed".to_owned(),
            _ => "the server says what it refuses; --resume continues a run that was begun"
                .to_owned(),
        };
        self.problem(expected, in_words(status, text)).hint(hint)
    }

    pub(super) fn problem(&self, expected: &str, found: String) -> Problem {
        problem!(self.server.location(), expected, found).kind(ProblemKind::Server)
    }
}

fn token_hint() -> String {
    format!(
        "the environment variable {TOKEN} holds the team's token; the address is that of the \
             task, as `http://HOST:8888/simulation`"
    )
}

/// Reads JSON of few values.
pub(super) fn read(text: &str) -> Result<Value, String> {
    parse_json(text.as_bytes(), MOST_VALUES).map_err(|error| error.to_string())
}

/// The text of an answer: JSON, unless it was none.
pub(super) fn as_text(body: &Value) -> String {
    body.as_str().map_or_else(|| body.to_string(), str::to_owned)
}

/// A status with what the server says about it.
fn in_words(status: u16, text: &str) -> String {
    let detail = read(text).ok().and_then(|body| Some(as_text(body.get("detail")?)));
    let detail = detail.unwrap_or_else(|| text.trim().to_owned());
    format!("status {status}: {}", printable(&detail, SHOWN))
}

/// A file with everything that was sent and heard, a JSON object on each line.
pub(super) struct Journal {
    file: File,
    path: PathBuf,
}

impl Journal {
    /// Opens a journal that begins with `head`, and hands each later entry to `each`. Only `resume`
    /// opens one that is there; a line that was not finished is cut off.
    pub(super) fn open(
        path: &Path,
        head: &Value,
        resume: bool,
        mut each: impl FnMut(&Value),
    ) -> Result<Self> {
        if !resume && path.exists() {
            let hint = "--resume continues that run; another run has another --run-id";
            bail!(path, "no journal of this run yet", "one", hint);
        }
        let busy = || problem!(path, "a run that one command talks in", "another one that does");
        if clariq_files::is_open_elsewhere(path) {
            return Err(busy().hint("one request at a time: let it end").into());
        }
        clariq_files::refuse_input(path)?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(Error::io("write", folder))?;
        }
        let mut file = open_alone(path, true, || ()).map_err(Error::io("open", path))?;
        let (mut end, mut number) = (0, 0);
        let mut lines = BufReader::new(&file);
        loop {
            let mut line = Vec::new();
            let read = lines.by_ref().take(MOST_OF_A_LINE).read_until(b'\n', &mut line);
            let length = read.map_err(Error::io("read", path))?;
            if line.last() != Some(&b'\n') {
                break;
            }
            (end, number) = (end + length as u64, number + 1);
            let Ok(entry) = parse_json::<Value>(&line, 2 * MOST_VALUES) else {
                let at = Location::line(path.display().to_string(), number);
                let hint = "a journal is continued as it was written";
                bail!(at, "a line of a journal", "another line", hint);
            };
            if number == 1 {
                check_head(path, &entry, head)?;
            } else {
                each(&entry);
            }
        }
        let cut = file.set_len(end).and_then(|()| file.seek(SeekFrom::End(0)));
        cut.map_err(Error::io("write", path))?;
        let mut journal = Self { file, path: path.to_owned() };
        if number == 0 {
            journal.put(head)?;
        }
        Ok(journal)
    }

    fn put(&mut self, entry: &Value) -> Result<()> {
        let line = format!("{entry}\n");
        let written = self.file.write_all(line.as_bytes()).and_then(|()| self.file.sync_data());
        written.map_err(Error::io("write", &self.path))
    }

    /// Removes a journal of a run that was never begun.
    pub(super) fn remove(self) -> Result<()> {
        std::fs::remove_file(&self.path).map_err(Error::io("remove", &self.path))
    }
}

/// A journal is continued by what began it.
fn check_head(path: &Path, found: &Value, head: &Value) -> Result<()> {
    for (key, value) in head.as_object().into_iter().flatten() {
        if found.get(key) != Some(value) {
            let hint = "--resume takes the system and the arguments that the run began with";
            let found = found.get(key).map_or_else(|| "none".to_owned(), as_text);
            let expected = format!("`{key}` {}, as given now", as_text(value));
            bail!(path, expected, (printable(&found, SHOWN).into_owned()), hint);
        }
    }
    Ok(())
}
