//! A web server that answers questions: bounded in time and size, asked again where it is busy.

use crate::http::{configure, describe};
use crate::source::{MOST_OF_A_TABLE, Source};
use clariq_core::{Error, Location, Problem, ProblemKind, Result, bail, problem};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use std::io::Read;
use std::thread;
use std::time::Duration;
use ureq::http::StatusCode;
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};

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

/// How a server and this program know each other. Only the caller knows where its user sets that,
/// so the hints are the caller's.
#[derive(Default)]
pub struct Access {
    /// The value of the header `Authorization`.
    pub authorization: Option<String>,
    /// The next move where the server asks for another header.
    pub authorization_hint: String,
    /// Who signs the server's certificate; the public authorities where none is given.
    pub authorities: Option<Authorities>,
    /// The next move where the certificate is not trusted.
    pub authorities_hint: String,
}

/// Authorities whose certificates are trusted.
pub struct Authorities(RootCerts);

impl Authorities {
    /// Reads the certificates of a PEM file.
    pub fn read(source: &Source) -> Result<Self> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let wrong = |found: String| {
            let hint = "a certificate begins with `-----BEGIN CERTIFICATE-----`";
            problem!(&input.name, "certificates in PEM form", found, hint)
        };
        // ureq leaves out what it cannot read, and then trusts nobody.
        let mut readable = RootCertStore::empty();
        let mut certificates = Vec::new();
        for item in parse_pem(&input.bytes) {
            let item = item.map_err(|error| wrong(error.to_string()))?;
            let PemItem::Certificate(certificate) = item else { continue };
            let der = CertificateDer::from(certificate.der());
            readable.add(der.into_owned()).map_err(|error| wrong(error.to_string()))?;
            certificates.push(certificate);
        }
        if certificates.is_empty() {
            return Err(wrong("none".to_owned()).into());
        }
        Ok(Self(certificates.into()))
    }
}

/// Refuses what is not the address of a server, and one with a name, a password or a query.
pub fn check_address(at: impl Into<Location>, url: &str, hint: &str) -> Result<()> {
    let rest = url.strip_prefix("http://").or_else(|| url.strip_prefix("https://"));
    if rest.is_some_and(|rest| !rest.is_empty() && !rest.contains(['@', '?', '#'])) {
        return Ok(());
    }
    let expected = "an address such as http://localhost:9200, without name or password";
    // What is before the `@` may be a password.
    let found = if url.contains('@') { "another one".to_owned() } else { format!("`{url}`") };
    bail!(at, expected, found, hint);
}

/// One address of a server.
pub struct Server {
    url: String,
    access: Access,
    patience: Patience,
    agent: ureq::Agent,
}

/// What was read in an answer.
pub enum Reply<T> {
    /// All that was asked for.
    Whole(T),
    /// That the server was too busy, in its words: asking again may help.
    Busy(String),
}

/// What came of a request that was sent once.
#[derive(Debug, PartialEq, Eq)]
pub enum Exchange {
    /// An answer.
    Answer {
        /// Its status.
        status: u16,
        /// Its body.
        body: Vec<u8>,
    },
    /// None, or none that is whole, and why: nobody knows whether the server acted on the request.
    Nothing(String),
}

/// Why a question has no answer, and whether asking again may help.
enum Failure {
    Busy(String),
    Refused(Box<Problem>),
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Refused(Box::new(problem))
    }
}

impl Server {
    /// Connects to nothing yet.
    pub fn new(url: impl Into<String>, mut access: Access, patience: Patience) -> Self {
        let url = url.into();
        // Whoever answers in the place of a server that was named was not named.
        let mut config = configure(&url)
            .max_redirects(0)
            .timeout_connect(Some(patience.timeout))
            .timeout_global(Some(patience.timeout));
        if let Some(Authorities(roots)) = access.authorities.take() {
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        Self { url, access, patience, agent: config.build().new_agent() }
    }

    /// The address for messages, without its query: that is the program's affair.
    pub fn location(&self) -> Location {
        Location::file(self.url.split('?').next().unwrap_or_default())
    }

    /// Posts a question and gives the answer to `read`. Where the server says in its answer that
    /// it was too busy, the question is asked again, too.
    pub fn ask<T>(
        &self,
        content_type: &str,
        question: &str,
        read: impl Fn(&[u8]) -> Result<Reply<T>>,
    ) -> Result<T> {
        let (mut pause, mut retries_left) = (PAUSE, self.patience.retries);
        loop {
            let trouble = match self.post(content_type, question) {
                Ok(answer) => match read(&answer)? {
                    Reply::Whole(value) => return Ok(value),
                    Reply::Busy(trouble) => trouble,
                },
                Err(Failure::Busy(trouble)) => trouble,
                Err(Failure::Refused(problem)) => return Err(Error::Problem(problem)),
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

    /// Sends one request, once: `question` as JSON, or a `GET` without one. `path` follows the
    /// address, and the answer has at most `most` bytes. Each request has a connection of its own:
    /// on one that is used again, a request is lost if the server has just closed it.
    ///
    /// # Errors
    ///
    /// An address that cannot be requested, a certificate that is not trusted, and a longer answer.
    pub fn exchange(&self, path: &str, question: Option<&str>, most: u64) -> Result<Exchange> {
        let content_type = question.map(|_| ("Content-Type", "application/json"));
        let headers = [("Connection", "close")].into_iter().chain(content_type);
        match self.send(&format!("{}{path}", self.url), headers, question, |_| most) {
            Ok((status, body, None)) if body.len() as u64 <= most => {
                Ok(Exchange::Answer { status: status.as_u16(), body })
            }
            Ok((.., None)) => Err(self.too_long(most).into()),
            Ok((.., Some(Failure::Busy(trouble)))) | Err(Failure::Busy(trouble)) => {
                Ok(Exchange::Nothing(trouble))
            }
            Ok((.., Some(Failure::Refused(problem)))) | Err(Failure::Refused(problem)) => {
                Err(Error::Problem(problem))
            }
        }
    }

    fn post(&self, content_type: &str, question: &str) -> Result<Vec<u8>, Failure> {
        let most = |status| if status == StatusCode::OK { MOST } else { SHOWN };
        let headers = [("Content-Type", content_type)];
        let (status, answer, cut) = self.send(&self.url, headers, Some(question), most)?;
        if status != StatusCode::OK {
            let said = String::from_utf8_lossy(&answer);
            let found = format!("status {status}: {}", said.trim());
            let busy = status == StatusCode::TOO_MANY_REQUESTS || status.as_u16() >= 502;
            if busy {
                return Err(Failure::Busy(found));
            }
            let mut problem = self.problem(found);
            if matches!(status, StatusCode::UNAUTHORIZED | StatusCode::FORBIDDEN) {
                problem = problem.hint(&self.access.authorization_hint);
            } else if status.is_redirection() {
                problem = problem.hint("name the address that it leads to: none is followed");
            }
            return Err(problem.into());
        }
        cut.map_or(Ok(()), Err)?;
        if answer.len() as u64 > MOST {
            return Err(self.too_long(MOST).into());
        }
        Ok(answer)
    }

    /// The status of an answer with its first bytes, one more than `most` at most, and what cut it
    /// short, if anything did. Without a question, the request is a `GET`.
    fn send<'a>(
        &'a self,
        url: &str,
        headers: impl IntoIterator<Item = (&'static str, &'a str)>,
        question: Option<&str>,
        most: impl Fn(StatusCode) -> u64,
    ) -> Result<(StatusCode, Vec<u8>, Option<Failure>), Failure> {
        let authorization = self.access.authorization.as_deref();
        let authorization = authorization.map(|value| ("Authorization", value));
        let headers = headers.into_iter().chain(authorization);
        let sent = match question {
            None => headers
                .fold(self.agent.get(url), |get, (name, value)| get.header(name, value))
                .call(),
            Some(question) => headers
                .fold(self.agent.post(url), |post, (name, value)| post.header(name, value))
                .send(question),
        };
        let response = sent.map_err(|error| self.failure(&error))?;
        let status = response.status();
        let mut answer = Vec::new();
        let mut body = response.into_body().into_reader().take(most(status) + 1);
        let cut = body.read_to_end(&mut answer).err();
        Ok((status, answer, cut.map(|error| self.failure(&ureq::Error::from(error)))))
    }

    fn too_long(&self, most: u64) -> Problem {
        self.problem(format!("an answer of more than {} MiB", most >> 20))
    }

    fn problem(&self, found: String) -> Problem {
        let hint = "is the server there, and does it answer `curl` on this machine?";
        problem!(self.location(), "an answer of the server", found, hint).kind(ProblemKind::Server)
    }

    fn failure(&self, error: &ureq::Error) -> Failure {
        let found = describe(error);
        match error {
            ureq::Error::BadUri(_) | ureq::Error::Http(_) => self.problem(found).into(),
            // The server has the same certificate the next time.
            ureq::Error::Io(error) if is_about_certificate(error) => {
                self.problem(found).hint(&self.access.authorities_hint).into()
            }
            _ => Failure::Busy(found),
        }
    }
}

fn is_about_certificate(error: &std::io::Error) -> bool {
    let error = error.get_ref().and_then(|inner| inner.downcast_ref());
    matches!(error, Some(rustls::Error::InvalidCertificate(_)))
}
