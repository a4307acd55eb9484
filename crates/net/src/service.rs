//! A web service: requests are limited in time and size, and repeated while the server is busy.

use crate::http::{CertificateAuthorities, Client, Redirects, Timeouts, describe};
use clariq_core::{Error, Location, Problem, ProblemKind, Result, bail, problem};
use std::thread;
use std::time::Duration;
use ureq::http::StatusCode;

/// The number of characters of a refusal that are shown.
const SHOWN: usize = 300;
/// The number of bytes of a refusal that are read: the authorization is masked before a text is cut, or
/// part of it could remain.
const MOST_OF_A_REFUSAL: u64 = 64 << 10;
/// The first pause before a request is repeated; each later one is twice as long, up to the longest.
const PAUSE: Duration = Duration::from_millis(250);
const LONGEST_PAUSE: Duration = Duration::from_secs(8);
/// The longest pause that a server may ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Timeout and retries of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Time for a connection, and then for the whole answer.
    pub timeout: Duration,
    /// Number of retries for a request without an answer, or while the server is too busy.
    pub retries: u32,
    /// The maximum size of an answer in bytes.
    pub most: u64,
}

/// Authorization and trust. The hints name the settings of the caller.
#[derive(Default)]
pub struct ServiceAccess {
    /// The value of the header `Authorization`. It appears in no message.
    pub authorization: Option<String>,
    /// The hint if the server refuses the authorization.
    pub authorization_hint: String,
    /// The authorities of the server's certificate; the public ones if none are given.
    pub authorities: Option<CertificateAuthorities>,
    /// The hint if the certificate is not trusted.
    pub authorities_hint: String,
}

/// Refuses an address with a name, a password or a query, and texts that are not an address.
pub fn check_address(at: impl Into<Location>, url: &str, hint: &str) -> Result<()> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['@', '?', '#'])) {
        return Ok(());
    }
    let expected = "an address such as http://localhost:9200, without name or password";
    // There may be a password before the `@`.
    let found = if url.contains('@') { "another one".to_owned() } else { format!("`{url}`") };
    bail!(at, expected, found, hint);
}

/// An address of a web service.
pub struct Service {
    url: String,
    authorization_hint: String,
    authorities_hint: String,
    retries: u32,
    most: u64,
    client: Client,
}

/// The content of an answer.
pub enum Reply<T> {
    /// All of it.
    Whole(T),
    /// The server was too busy; its explanation.
    Busy(String),
}

/// The reason why a request has no answer. Repeating it may help if the server is busy.
enum Failure {
    /// The trouble, and the pause that the server asks for.
    Busy(String, Option<Duration>),
    Refused(Box<Problem>),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Refused(Box::new(problem))
    }
}

impl Service {
    /// Prepares requests to an address. It does not connect yet. Redirects are not followed.
    pub fn new(url: impl Into<String>, access: ServiceAccess, patience: Patience) -> Self {
        let url = url.into();
        let timeout = patience.timeout;
        let timeouts = Timeouts { connect: timeout, stall: timeout, whole: Some(timeout) };
        let ServiceAccess { authorization, authorization_hint, authorities, authorities_hint } =
            access;
        let client = Client::new(&url, timeouts, Redirects::Refuse, authorization, authorities);
        let Patience { retries, most, .. } = patience;
        Self { url, authorization_hint, authorities_hint, retries, most, client }
    }

    /// The address for messages, without its query.
    pub fn location(&self) -> Location {
        Location::file(self.url.split('?').next().unwrap_or_default())
    }

    /// A text of the server as it may be shown: the authorization is masked.
    pub fn mask(&self, text: &str) -> String {
        self.client.mask(text)
    }

    /// Posts a request and passes the answer to `read`, whose errors may show texts of the server. The
    /// request is repeated while the server is busy.
    pub fn ask<T>(
        &self,
        content_type: &str,
        request: &str,
        read: impl Fn(&[u8]) -> Result<Reply<T>>,
    ) -> Result<T> {
        let mut pause = PAUSE;
        let mut retries_left = self.retries;
        loop {
            let (trouble, retry_after) = match self.post(content_type, request) {
                Ok(answer) => match read(&answer).map_err(|error| self.mask_error(error))? {
                    Reply::Whole(value) => return Ok(value),
                    Reply::Busy(trouble) => (self.mask(&trouble), None),
                },
                Err(Failure::Busy(trouble, retry_after)) => (trouble, retry_after),
                Err(Failure::Refused(problem)) => return Err(Error::Problem(problem)),
            };
            let longest = LONGEST_RETRY_AFTER.as_secs();
            if let Some(pause) = retry_after.filter(|pause| pause.as_secs() > longest) {
                let pause = pause.as_secs();
                let found = format!("{trouble}, and to wait for {pause} s (at most {longest} s)");
                return Err(self.problem(found).into());
            }
            if retries_left == 0 {
                let times = u64::from(self.retries) + 1;
                return Err(self.problem(format!("{trouble}, {times} times")).into());
            }
            retries_left -= 1;
            thread::sleep(retry_after.unwrap_or(pause));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    fn post(&self, content_type: &str, request: &str) -> Result<Vec<u8>, Failure> {
        let response = self.client.post(&self.url, content_type, request);
        let response = response.map_err(|error| self.failure(&error))?;
        let status = response.status;
        let retry_after = response.retry_after;
        if status != StatusCode::OK {
            let body = response.read_at_most(MOST_OF_A_REFUSAL).unwrap_or_default();
            return Err(self.refusal(status, retry_after, &body));
        }
        let answer = response.read_at_most(self.most).map_err(|error| self.failure(&error))?;
        if answer.len() as u64 > self.most {
            let found = format!("an answer of more than {} MiB", self.most >> 20);
            return Err(self.problem(found).into());
        }
        Ok(answer)
    }

    fn refusal(&self, status: StatusCode, retry_after: Option<Duration>, body: &[u8]) -> Failure {
        let body = self.mask(&String::from_utf8_lossy(body));
        let body: String = body.chars().take(SHOWN).collect();
        let found = format!("status {status}: {}", body.trim());
        if status == StatusCode::TOO_MANY_REQUESTS || status.is_server_error() {
            return Failure::Busy(found, retry_after);
        }
        let problem = self.problem(found);
        if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
            return problem.hint(&self.authorization_hint).into();
        }
        if status.is_redirection() {
            return problem.hint("redirects are not followed: name the address it leads to").into();
        }
        problem.into()
    }

    fn problem(&self, found: String) -> Problem {
        let hint = "is the server there, and does it answer `curl` on this machine?";
        problem!(self.location(), "an answer of the server", found, hint).kind(ProblemKind::Server)
    }

    fn failure(&self, error: &ureq::Error) -> Failure {
        let found = describe(error);
        match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => self.problem(found).into(),
            // The certificate will be the same the next time.
            ureq::Error::Io(error) if is_about_certificate(error) => {
                self.problem(found).hint(&self.authorities_hint).into()
            }
            _ => Failure::Busy(found, None),
        }
    }

    fn mask_error(&self, error: Error) -> Error {
        let Error::Problem(mut problem) = error else { return error };
        problem.found = self.mask(&problem.found);
        Error::Problem(problem)
    }
}

fn is_about_certificate(error: &std::io::Error) -> bool {
    let error = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(error, Some(rustls::Error::InvalidCertificate(_)))
}
