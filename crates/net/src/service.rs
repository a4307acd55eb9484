//! A web service: requests are limited in time and size, and repeated while the server is busy.

use crate::http::{CertificateAuthorities, Client, Redirects, Timeouts, describe};
use clariq_core::{Error, Location, Problem, ProblemKind, Result, bail, count_of, problem};
use std::hash::{BuildHasher, RandomState};
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
/// The time for an answer that is not necessary.
const A_MOMENT: Duration = Duration::from_secs(10);
/// The longest pause that a server may ask for.
const LONGEST_RETRY_AFTER: Duration = Duration::from_secs(60);

/// Timeout and retries of requests.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Patience {
    /// Time for a connection, and then for the whole answer.
    pub timeout: Duration,
    /// Number of retries for a request without an answer, or while the server is too busy.
    pub retries: u32,
}

/// The hint for a certificate that signs itself, as OpenSSL makes them.
const OWN_AUTHORITY: &str = "a server cannot show the certificate of an authority: make it with \
     `openssl req -x509 -addext basicConstraints=critical,CA:FALSE`, and name it in `ca`";

/// The longest timeout in seconds: a day.
pub const LONGEST_TIMEOUT: usize = 86_400;

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
    /// The hint if there is no server, or another one.
    pub address_hint: String,
    /// The hint if an answer takes longer than it may.
    pub slow_hint: String,
}

/// Refuses an address with a name, a password or a query, and texts that are not an address.
pub fn check_address(at: impl Into<Location>, url: &str, hint: &str) -> Result<()> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['@', '?', '#'])) {
        return Ok(());
    }
    let expected = "an address such as http://localhost:9200, without name, password or query";
    // There may be a password before the `@`.
    let found = if url.contains('@') { "another one".to_owned() } else { format!("`{url}`") };
    let is_without_scheme =
        !url.contains("://") && !url.contains(['@', '?', '#']) && !url.is_empty();
    if is_without_scheme {
        bail!(at, expected, found, "did you mean http://{url}?");
    }
    if rest.is_some_and(|rest| rest.contains('?') && !rest.contains('@')) {
        let hint = "leave out `?` and what follows it";
        bail!(at, expected, found, hint);
    }
    bail!(at, expected, found, hint);
}

/// An address of a web service.
pub struct Service {
    url: String,
    /// Its hints: the client has the rest.
    access: ServiceAccess,
    retries: u32,
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
    Busy(Trouble),
    Refused(Box<Problem>),
}

/// A trouble that may have an end.
struct Trouble {
    found: String,
    /// The pause that the server asks for.
    retry_after: Option<Duration>,
    kind: TroubleKind,
}

/// The kinds of trouble, by where its cause is.
#[derive(Clone, Copy, PartialEq)]
enum TroubleKind {
    /// It says so itself.
    Answer,
    /// It takes longer than it may.
    Slow,
    /// It may not be there.
    Address,
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Refused(Box::new(problem))
    }
}

impl Service {
    /// Prepares requests to an address. It does not connect yet. Redirects are not followed.
    pub fn new(url: impl Into<String>, mut access: ServiceAccess, patience: Patience) -> Self {
        let url = url.into();
        let timeout = patience.timeout;
        let timeouts = Timeouts { connect: timeout, stall: timeout, whole: Some(timeout) };
        let authorization = access.authorization.take();
        let authorities = access.authorities.take();
        let client = Client::new(&url, timeouts, Redirects::Refuse, authorization, authorities);
        Self { url, access, retries: patience.retries, client }
    }

    /// The address for messages, without its query.
    pub fn location(&self) -> Location {
        Location::file(self.url.split('?').next().unwrap_or_default())
    }

    /// A text of the server as it may be shown: the authorization is masked.
    pub fn mask(&self, text: &str) -> String {
        self.client.mask(text)
    }

    /// Posts a request and passes the answer, of at most so many bytes, to `read`, whose errors may
    /// show texts of the server. The request is repeated while the server is busy.
    pub fn ask<T>(
        &self,
        content_type: &str,
        request: &str,
        most: u64,
        read: impl Fn(&[u8]) -> Result<Reply<T>>,
    ) -> Result<T> {
        let mut pause = PAUSE;
        let mut retries_left = self.retries;
        loop {
            let trouble = match self.post(content_type, request, most) {
                Ok(answer) => match read(&answer).map_err(|error| self.mask_error(error))? {
                    Reply::Whole(value) => return Ok(value),
                    Reply::Busy(why) => {
                        let kind = TroubleKind::Answer;
                        Trouble { found: self.show(&why), retry_after: None, kind }
                    }
                },
                Err(Failure::Busy(trouble)) => trouble,
                Err(Failure::Refused(problem)) => return Err(Error::Problem(problem)),
            };
            let Trouble { found, retry_after, kind } = trouble;
            let give_up = |found: String| {
                let problem = self.problem(found);
                let hint = "the server is there, and says why it gives no answer: `retries` may help if it \
                            only has too much to do or still loads its model";
                Error::from(match kind {
                    TroubleKind::Answer => problem.hint(hint),
                    TroubleKind::Slow if !self.access.slow_hint.is_empty() => {
                        problem.hint(&self.access.slow_hint)
                    }
                    _ => problem,
                })
            };
            let longest = LONGEST_RETRY_AFTER.as_secs();
            if let Some(pause) = retry_after.filter(|pause| pause.as_secs() > longest) {
                let pause = pause.as_secs();
                let found = format!("{found}, and to wait for {pause} s (at most {longest} s)");
                return Err(give_up(found));
            }
            if retries_left == 0 {
                let times = count_of(u64::from(self.retries) + 1, "time");
                return Err(give_up(format!("{found}, {times}")));
            }
            retries_left -= 1;
            thread::sleep(pause_before_retry(retry_after, pause, random()));
            pause = (pause * 2).min(LONGEST_PAUSE);
        }
    }

    /// Gets the answer at another address of the server; `None` if there is none. The request is repeated
    /// while the server is busy.
    pub(crate) fn get(&self, url: &str, most: u64) -> Option<Vec<u8>> {
        let mut response = self.client.get_within(url, A_MOMENT).ok()?;
        let mut pause = PAUSE;
        for _ in 0..self.retries {
            let status = response.status;
            if !matches!(status, StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE) {
                break;
            }
            thread::sleep(pause_before_retry(None, pause, random()));
            pause = (pause * 2).min(LONGEST_PAUSE);
            response = self.client.get_within(url, A_MOMENT).ok()?;
        }
        if response.status != StatusCode::OK {
            return None;
        }
        response.read_at_most(most).ok().filter(|answer| answer.len() as u64 <= most)
    }

    fn post(&self, content_type: &str, request: &str, most: u64) -> Result<Vec<u8>, Failure> {
        let response = self.client.post(&self.url, content_type, request);
        let response = response.map_err(|error| self.failure(&error))?;
        let status = response.status;
        let retry_after = response.retry_after;
        let moved_to = response.moved_to.clone();
        let packing = response.packing.clone();
        // Some frameworks answer every `POST` with 201.
        if !status.is_success() {
            let body = match packing {
                Some(_) => Vec::new(),
                None => response.read_at_most(MOST_OF_A_REFUSAL).unwrap_or_default(),
            };
            return Err(self.refusal(status, retry_after, moved_to.as_deref(), &body));
        }
        if let Some(packing) = packing {
            let found = self.show(&format!("a body that is packed with {packing}"));
            let hint = "the server or a proxy packs answers: plain ones and gzip are understood";
            return Err(self.problem(found).hint(hint).into());
        }
        let answer = response.read_at_most(most).map_err(|error| self.failure(&error))?;
        if answer.len() as u64 > most {
            let found = if most >= 1 << 20 {
                format!("an answer of more than {} MiB", most >> 20)
            } else {
                format!("an answer of more than {} KiB", most >> 10)
            };
            let hint = "the server is there, and writes more than it was asked for: does it know the \
                        `max_tokens` of a chat model?";
            return Err(self.problem(found).hint(hint).into());
        }
        Ok(answer)
    }

    fn refusal(
        &self,
        status: StatusCode,
        retry_after: Option<Duration>,
        moved_to: Option<&str>,
        body: &[u8],
    ) -> Failure {
        let body = self.show(&String::from_utf8_lossy(body));
        let found = match moved_to.filter(|_| status.is_redirection()) {
            Some(address) => format!("status {status}, to {}", self.show(address)),
            // It may say more about the key than is masked.
            None if is_about_key(status.as_u16()) => format!("status {status}"),
            None => format!("status {status}: {}", body.trim()),
        };
        if is_busy(status) {
            return Failure::Busy(Trouble { found, retry_after, kind: TroubleKind::Answer });
        }
        let problem = self.problem(found);
        match status {
            _ if is_about_request(status.as_u16()) => problem
                .kind(ProblemKind::Other)
                .hint("the server is there, and says why it refuses the request"),
            _ if is_about_key(status.as_u16()) => problem.hint(&self.access.authorization_hint),
            StatusCode::NOT_FOUND | StatusCode::METHOD_NOT_ALLOWED => problem.hint(
                "the server is there, and has nothing at this address: check its path, and the name \
                 of the index or the model",
            ),
            _ if status.is_redirection() => {
                problem.hint("redirects are not followed: name the address it leads to")
            }
            _ => problem.hint("the server is there, and says why it refuses the request"),
        }
        .into()
    }

    fn problem(&self, found: String) -> Problem {
        let hint = &self.access.address_hint;
        problem!(self.location(), "an answer of the server", found, hint).kind(ProblemKind::Server)
    }

    fn failure(&self, error: &ureq::Error) -> Failure {
        let found = describe(error);
        match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => self.problem(found).into(),
            // The certificate will be the same the next time.
            ureq::Error::Io(error) if is_about_certificate(error) => {
                let is_own_authority = found.contains("CaUsedAsEndEntity");
                let hint =
                    if is_own_authority { OWN_AUTHORITY } else { &self.access.authorities_hint };
                self.problem(found).hint(hint).into()
            }
            ureq::Error::Io(error) if is_about_protocol(error) => {
                self.problem(found).hint("does the address begin with http:// there?").into()
            }
            _ => {
                let is_slow = matches!(error, ureq::Error::Timeout(kind)
                    if !matches!(kind, ureq::Timeout::Connect | ureq::Timeout::Resolve));
                let kind = if is_slow { TroubleKind::Slow } else { TroubleKind::Address };
                Failure::Busy(Trouble { found, retry_after: None, kind })
            }
        }
    }

    fn mask_error(&self, error: Error) -> Error {
        let Error::Problem(mut problem) = error else { return error };
        problem.found = self.show(&problem.found);
        Error::Problem(problem)
    }

    /// The beginning of a text of the server, masked.
    fn show(&self, text: &str) -> String {
        self.mask(text).chars().take(SHOWN).collect()
    }
}

/// True for the status of a refusal of this very request; another one may be answered.
pub(crate) fn is_about_request(status: u16) -> bool {
    matches!(status, 400 | 413 | 422)
}

/// True for the status of a server that refuses the key.
pub(crate) fn is_about_key(status: u16) -> bool {
    matches!(status, 401 | 403)
}

/// True for the status of a server that may answer the same request later. What others mean by a
/// server error is one as well: proxies answer 502 to 504 and 520 to 529 while a server starts.
fn is_busy(status: StatusCode) -> bool {
    matches!(status, StatusCode::REQUEST_TIMEOUT | StatusCode::TOO_MANY_REQUESTS)
        || status.is_server_error()
}

/// The pause before a request is repeated: calls that were refused together must not come back together.
/// A server that asks for no pause, or until a date in the past, leaves it to the client.
fn pause_before_retry(asked: Option<Duration>, usual: Duration, random: f64) -> Duration {
    match asked.filter(|asked| !asked.is_zero()) {
        Some(asked) => asked + usual.mul_f64(random),
        None => usual.mul_f64(0.5 + random),
    }
}

/// A number from 0 to 1, another one in every call.
fn random() -> f64 {
    RandomState::new().hash_one(0) as f64 / u64::MAX as f64
}

fn is_about_certificate(error: &std::io::Error) -> bool {
    matches!(error_of_tls(error), Some(rustls::Error::InvalidCertificate(_)))
}

/// True where a server speaks no TLS.
fn is_about_protocol(error: &std::io::Error) -> bool {
    matches!(error_of_tls(error), Some(rustls::Error::InvalidMessage(_)))
}

fn error_of_tls(error: &std::io::Error) -> Option<&rustls::Error> {
    error.get_ref().and_then(|inner| inner.downcast_ref())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_pause_has_a_random_part() {
        let usual = Duration::from_secs(2);
        for (asked, shortest, longest) in [(None, 1, 3), (Some(0), 1, 3), (Some(7), 7, 9)] {
            let asked = asked.map(Duration::from_secs);
            assert_eq!(pause_before_retry(asked, usual, 0.0), Duration::from_secs(shortest));
            assert_eq!(pause_before_retry(asked, usual, 1.0), Duration::from_secs(longest));
        }
    }
}
