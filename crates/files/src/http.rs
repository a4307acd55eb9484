//! What downloads and questions to servers have in common: how a client is set up, and what went
//! wrong in words.

use std::io;
use ureq::Agent;
use ureq::config::ConfigBuilder;
use ureq::http::Uri;
use ureq::typestate::AgentScope;

/// The settings of a client for an address. No proxy reaches a server on this machine.
pub(crate) fn configure(url: &str) -> ConfigBuilder<AgentScope> {
    let config = Agent::config_builder()
        .user_agent(concat!("clariq/", env!("CARGO_PKG_VERSION")))
        .http_status_as_error(false);
    if is_local(url) { config.proxy(None) } else { config }
}

/// Whether an address is of this machine.
pub(crate) fn is_local(url: &str) -> bool {
    let uri = url.parse::<Uri>().ok();
    let host = uri.as_ref().and_then(Uri::host).unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost")
        || address.parse::<std::net::IpAddr>().is_ok_and(|address| address.is_loopback())
}

/// Why a request has no answer.
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
    fn only_servers_on_this_machine_go_without_the_proxy() {
        assert!(is_local("http://127.0.0.1:8080/") && is_local("http://localhost/"));
        assert!(is_local("http://[::1]:1/") && !is_local("https://example.org/localhost/"));
    }
}
