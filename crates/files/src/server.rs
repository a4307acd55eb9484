//! A web server that answers questions: bounded in time and size, asked again where it is busy.

use clariq_core::{Error, Location, Problem, ProblemKind};
use std::io::Read;
use std::thread;
use std::time::Duration;
use ureq::http::{StatusCode, Uri};

/// An answer has at most so many bytes.
const MOST: u64 = 256 << 20;
/// Of a refusal, so many characters are shown.
const SHOWN: u64 = 300;
/// The first pause before a question is asked again; each later one is twice as long, up to the
/// longest.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);

/// How long a server is waited for, and how often it is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Time for a connection, and then for the whole answer.
    pub timeout: Duration,
    /// How often a question is asked again that got no answer, or that the server was too busy for.
    pub retries: u32,
}

/// One address of a server.
pub struct Server {
    url: String,
    authorization: Option<String>,
    patience: Patience,
    agent: ureq::Agent,
}

/// Why a question has no answer, and whether asking again may help.
enum Failure {
    Busy(String),
    Refused(String),
}

impl Server {
    /// Connects to nothing yet. `authorization` is the value of the header of that name.
    pub fn new(url: impl Into<String>, authorization: Option<String>, patience: Patience) -> Self {
        let url = url.into();
        let mut config = ureq::Agent::config_builder()
            .user_agent(concat!("clariq/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .timeout_connect(Some(patience.timeout))
            .timeout_global(Some(patience.timeout));
        if is_local(&url) {
            config = config.proxy(None);
        }
        Self { url, authorization, patience, agent: config.build().new_agent() }
    }

    /// The address.
    pub fn url(&self) -> &str {
        &self.url
    }

    /// Posts a question and gives the answer to `read`, which returns `None` where the server says
    /// in its answer that it was too busy: then, too, the question is asked again.
    pub fn ask<T>(
        &self,
        content_type: &str,
        question: &str,
        read: impl Fn(&[u8]) -> Result<Option<T>, Error>,
    ) -> Result<T, Error> {
        let (mut pause, mut retries_left) = (PAUSE, self.patience.retries);
        loop {
            let trouble = match self.post(content_type, question) {
                Ok(answer) => match read(&answer)? {
                    Some(value) => return Ok(value),
                    None => "the server is too busy".to_owned(),
                },
                Err(Failure::Busy(trouble)) => trouble,
                Err(Failure::Refused(trouble)) => return Err(self.problem(trouble).into()),
            };
            if retries_left == 0 {
                let times = u64::from(self.patience.retries) + 1;
                return Err(self.problem(format!("{trouble}, {times} times")).into());
            }
            retries_left -= 1;
            thread::sleep(pause);
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn post(&self, content_type: &str, question: &str) -> Result<Vec<u8>, Failure> {
        let mut request = self.agent.post(&self.url).header("Content-Type", content_type);
        if let Some(authorization) = &self.authorization {
            request = request.header("Authorization", authorization);
        }
        let response = request.send(question).map_err(|error| trouble(&error))?;
        let status = response.status();
        let mut answer = Vec::new();
        let most = if status == StatusCode::OK { MOST } else { SHOWN };
        let body = response.into_body().into_reader().take(most + 1);
        let came = { body }.read_to_end(&mut answer);
        if status != StatusCode::OK {
            let said = String::from_utf8_lossy(&answer);
            let found = format!("status {status}: {}", said.trim());
            let busy = status == StatusCode::TOO_MANY_REQUESTS || status.as_u16() >= 502;
            return Err(if busy { Failure::Busy(found) } else { Failure::Refused(found) });
        }
        came.map_err(|error| trouble(&ureq::Error::from(error)))?;
        if answer.len() as u64 > MOST {
            return Err(Failure::Refused(format!("an answer of more than {} MiB", MOST >> 20)));
        }
        Ok(answer)
    }

    /// A problem with an answer of this server.
    pub fn problem(&self, found: String) -> Problem {
        let at = Location::file(&self.url);
        Problem::new(at, ProblemKind::Server, "an answer of the server", found)
            .hint("is the server there, and does it answer `curl` on this machine?")
    }
}

/// Whether an address is of this machine, which no proxy reaches.
pub(crate) fn is_local(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

fn trouble(error: &ureq::Error) -> Failure {
    let found = crate::download::describe(error);
    match error {
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => Failure::Refused(found),
        _ => Failure::Busy(found),
    }
}
