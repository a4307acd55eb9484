//! The HTTP client of downloads and services. Every wait has a limit, and answers are read up to a
//! size that the caller chooses.

use crate::mask::Secret;
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use clariq_core::{Result, problem};
use clariq_files::{MOST_OF_A_TABLE, Source};
use rustls::RootCertStore;
use rustls::pki_types::CertificateDer;
use std::io::{self, Read};
use std::time::{Duration, SystemTime};
use ureq::http::{StatusCode, Uri};
use ureq::tls::{PemItem, RootCerts, TlsConfig, parse_pem};
use ureq::{Agent, Body, RequestBuilder};

/// Limits on waiting for a server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Timeouts {
    /// For resolving the host name, and again for connecting.
    pub connect: Duration,
    /// For the next bytes of an answer.
    pub stall: Duration,
    /// For a whole answer.
    pub whole: Option<Duration>,
}

/// Redirects to other addresses.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Redirects {
    Follow,
    Refuse,
}

/// Certificate authorities that are trusted in place of the public ones.
pub struct CertificateAuthorities(RootCerts);

impl CertificateAuthorities {
    /// Reads the certificates of a PEM file.
    pub fn read(source: &Source) -> Result<Self> {
        let input = source.read_at_most(MOST_OF_A_TABLE)?;
        let wrong = |found: String| {
            let hint = "a certificate begins with `-----BEGIN CERTIFICATE-----`";
            problem!(&input.name, "certificates in PEM form", found, hint)
        };
        // ureq skips certificates that it cannot read, and would then trust none.
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

/// Sends requests to one server.
pub(crate) struct Client {
    agent: Agent,
    /// The value of the header `Authorization`.
    authorization: Option<String>,
    /// The secrets in it.
    secrets: Vec<Secret>,
}

/// The status of an answer, and its body.
pub(crate) struct HttpResponse {
    pub(crate) status: StatusCode,
    /// The pause that the server asks for before the next request (`Retry-After`, or `retry-after-ms`).
    pub(crate) retry_after: Option<Duration>,
    /// The address of a redirect.
    pub(crate) moved_to: Option<String>,
    /// The packing of a body that is not unpacked: only gzip is asked for.
    pub(crate) packing: Option<String>,
    body: Body,
}

impl Client {
    /// Prepares a client for the server of an address. It does not connect yet.
    pub(crate) fn new(
        url: &str,
        timeouts: Timeouts,
        redirects: Redirects,
        authorization: Option<String>,
        authorities: Option<CertificateAuthorities>,
    ) -> Self {
        let mut config = Agent::config_builder()
            .user_agent(concat!("clariq/", env!("CARGO_PKG_VERSION")))
            .http_status_as_error(false)
            .timeout_resolve(Some(timeouts.connect))
            .timeout_connect(Some(timeouts.connect))
            .timeout_recv_response(Some(timeouts.stall))
            .timeout_per_read(Some(timeouts.stall))
            .timeout_global(timeouts.whole);
        config = match redirects {
            // The size that is declared must be that of the file.
            Redirects::Follow => config.accept_encoding("identity"),
            Redirects::Refuse => config.max_redirects(0),
        };
        if is_local(url) {
            config = config.proxy(None);
        }
        if let Some(CertificateAuthorities(roots)) = authorities {
            config = config.tls_config(TlsConfig::builder().root_certs(roots).build());
        }
        let secrets = authorization.as_deref().map(secrets_in).unwrap_or_default();
        Self { agent: config.build().new_agent(), authorization, secrets }
    }

    pub(crate) fn get(&self, url: &str) -> Result<HttpResponse, ureq::Error> {
        Ok(self.authorized(self.agent.get(url)).call()?.into())
    }

    /// Gets an answer of which the head arrives within a time.
    pub(crate) fn get_within(
        &self,
        url: &str,
        time: Duration,
    ) -> Result<HttpResponse, ureq::Error> {
        let request = self.agent.get(url).config().timeout_global(Some(time)).build();
        Ok(self.authorized(request).call()?.into())
    }

    pub(crate) fn post(
        &self,
        url: &str,
        content_type: &str,
        body: &str,
    ) -> Result<HttpResponse, ureq::Error> {
        let request = self.agent.post(url).header("Content-Type", content_type);
        Ok(self.authorized(request).send(body)?.into())
    }

    fn authorized<B>(&self, request: RequestBuilder<B>) -> RequestBuilder<B> {
        match &self.authorization {
            Some(authorization) => request.header("Authorization", authorization),
            None => request,
        }
    }

    /// A text of the server without the authorization, which the server may repeat.
    pub(crate) fn mask(&self, text: &str) -> String {
        self.secrets.iter().fold(text.to_owned(), |text, secret| secret.mask(&text))
    }
}

/// The secrets of a header `Authorization`: what follows its scheme, and the password or key of a name in
/// base64, as `Basic` and `ApiKey` have it.
fn secrets_in(authorization: &str) -> Vec<Secret> {
    let authorization = authorization.trim();
    let secret = authorization.split_once(' ').map_or(authorization, |(_, secret)| secret.trim());
    let decoded = STANDARD.decode(secret).ok().and_then(|bytes| String::from_utf8(bytes).ok());
    let password = decoded.as_deref().and_then(|text| text.split_once(':'));
    let texts = [secret, password.map_or("", |(_, password)| password)];
    texts.into_iter().filter(|text| !text.is_empty()).map(Secret::new).collect()
}

impl HttpResponse {
    /// The size that the server declares.
    pub(crate) fn length(&self) -> Option<u64> {
        self.body.content_length()
    }

    pub(crate) fn into_reader(self) -> impl Read + 'static {
        self.body.into_reader()
    }

    /// Reads the body, but no more than one byte above a size.
    pub(crate) fn read_at_most(self, most: u64) -> Result<Vec<u8>, ureq::Error> {
        let mut bytes = Vec::new();
        let mut body = self.into_reader().take(most.saturating_add(1));
        body.read_to_end(&mut bytes).map_err(ureq::Error::from)?;
        Ok(bytes)
    }
}

impl From<ureq::http::Response<Body>> for HttpResponse {
    fn from(response: ureq::http::Response<Body>) -> Self {
        let header = |name: &str| response.headers().get(name).and_then(|it| it.to_str().ok());
        let milliseconds = header("retry-after-ms").and_then(|it| it.trim().parse().ok());
        let retry_after = milliseconds.map(Duration::from_millis);
        let packing = header("content-encoding").map(str::trim);
        let is_plain = |name: &&str| {
            name.is_empty() || ["gzip", "identity"].iter().any(|it| name.eq_ignore_ascii_case(it))
        };
        Self {
            status: response.status(),
            retry_after: retry_after.or_else(|| header("retry-after").and_then(pause_of)),
            moved_to: header("location").map(str::to_owned),
            packing: packing.filter(|name| !is_plain(name)).map(str::to_owned),
            body: response.into_body(),
        }
    }
}

/// The pause in a header `Retry-After`: seconds, or the date of its end (RFC 9110, 10.2.3).
fn pause_of(header: &str) -> Option<Duration> {
    let header = header.trim();
    // Some servers write fractions of a second.
    if header.starts_with(|c: char| c.is_ascii_digit())
        && let Ok(seconds) = header.parse()
    {
        return Some(Duration::try_from_secs_f64(seconds).unwrap_or(Duration::MAX));
    }
    let end = httpdate::parse_http_date(header).ok()?;
    // A date in the past asks for no pause.
    Some(end.duration_since(SystemTime::now()).unwrap_or_default())
}

/// True for addresses of this machine, which are reached without a proxy.
fn is_local(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Describes why a request has no answer.
pub(crate) fn describe(error: &ureq::Error) -> String {
    use ureq::Timeout::{Connect, Resolve};
    match error {
        ureq::Error::HostNotFound => "the name of the server cannot be resolved".to_owned(),
        ureq::Error::Timeout(Resolve) => "no answer from the name service in time".to_owned(),
        ureq::Error::Timeout(Connect) => "no connection in time".to_owned(),
        ureq::Error::Timeout(_) => "the server fell silent".to_owned(),
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            "connection refused".to_owned()
        }
        ureq::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_local_servers_are_reached_without_a_proxy() {
        assert!(is_local("http://127.0.0.1:8080/") && is_local("http://localhost/"));
        assert!(is_local("http://[::1]:1/") && !is_local("https://example.org/localhost/"));
    }

    #[test]
    fn a_pause_is_a_number_of_seconds_or_a_date() {
        assert_eq!(pause_of(" 7 "), Some(Duration::from_secs(7)));
        assert_eq!(pause_of("1.5"), Some(Duration::from_millis(1500)));
        assert_eq!(pause_of("99999999999999999999999"), Some(Duration::MAX));
        assert_eq!((pause_of("inf"), pause_of("nan"), pause_of("2s")), (None, None, None));
        assert_eq!(pause_of("Sun, 06 Nov 1994 08:49:37 GMT"), Some(Duration::ZERO));
        assert_eq!((pause_of("soon"), pause_of("-1")), (None, None));
        let later = SystemTime::now() + Duration::from_secs(100);
        let pause = pause_of(&httpdate::fmt_http_date(later)).unwrap();
        assert!((98..=100).contains(&pause.as_secs()), "{pause:?}");
    }

    #[test]
    fn the_authorization_is_masked_with_and_without_its_scheme() {
        let second = Duration::from_secs(1);
        let timeouts = Timeouts { connect: second, stall: second, whole: None };
        let client = |authorization: Option<&str>| {
            let authorization = authorization.map(str::to_owned);
            Client::new("http://localhost/", timeouts, Redirects::Refuse, authorization, None)
        };
        let text = "wrong: ApiKey abc==, token abc==";
        let masked = client(Some("ApiKey abc==")).mask(text);
        assert_eq!(masked, "wrong: ApiKey [authorization], token [authorization]");
        assert_eq!(client(Some("xyz ")).mask(text), text);
        // `elastic:S3cret-Pass` and `id-1:k3y-of-it`; a name is no secret.
        let basic = client(Some("Basic ZWxhc3RpYzpTM2NyZXQtUGFzcw=="));
        let masked = basic.mask("elastic: wrong password S3cret-Pass");
        assert_eq!(masked, "elastic: wrong password [authorization]");
        let key = client(Some("ApiKey aWQtMTprM3ktb2YtaXQ="));
        assert_eq!(key.mask("no key id-1 k3y-of-it"), "no key id-1 [authorization]");
        assert_eq!(client(None).mask(text), text);
    }
}
