//! How does a file come from a web server, and how is a broken download continued?
//!
//! A kept part is continued with a `Range` request (RFC 9110, section 14). `If-Range` carries the `ETag` of the bytes
//! at hand, so that a server whose file has changed sends the whole of it. Whatever is not plainly the rest of the
//! same file is fetched from the beginning.

use super::copy::{Broken, pour};
use super::manifest::Entry;
use super::part::{Kept, Origin, Part};
use super::{Base, Limits, Progress, io_error};
use clariq_core::Error;
use std::fs::{self, File};
use std::io;
use ureq::Body;
use ureq::http::{Response, Uri};

const OFFLINE: &str = "where this machine has no way to the server, download the files on another one, bring them here \
                       and name their folder: `clariq data fetch --from DIR`";

/// One set of connections for all files of a request.
pub(super) struct Client {
    agent: ureq::Agent,
}

impl Client {
    pub(super) fn new(base: &Base, limits: &Limits) -> Self {
        let mut config = ureq::Agent::config_builder()
            .user_agent(concat!("clariq/", env!("CARGO_PKG_VERSION")))
            // Ranges count the bytes of the file itself, not of a packed form of it.
            .accept_encoding("identity")
            .http_status_as_error(false)
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_recv_response(Some(limits.stall))
            .timeout_per_read(Some(limits.stall));
        if is_this_machine(base) {
            // A proxy from the environment would look for the server on its own machine.
            config = config.proxy(None);
        }
        Self { agent: config.build().new_agent() }
    }

    /// Completes the part; `None` where the server has no such file. Returns the bytes that came in this call.
    pub(super) fn download(
        &self,
        entry: &Entry,
        url: &str,
        part: &Part,
        progress: &mut dyn Progress,
    ) -> Result<Option<u64>, Error> {
        let kept = part.kept(url, entry.sha256.is_some());
        let mut response = self.get(url, kept.as_ref())?;
        if let Some(kept) = kept {
            if continues(&response, &kept) {
                return Transfer { entry, url, part, kept: kept.bytes, total: kept.origin.total }
                    .receive(response, part.append()?, progress)
                    .map(Some);
            }
            if matches!(response.status().as_u16(), 206 | 416) {
                response = self.get(url, None)?;
            }
        }
        match response.status().as_u16() {
            200 => {
                let origin = Origin {
                    url: url.to_owned(),
                    etag: strong_etag(&response),
                    total: length(&response),
                };
                let out = part.begin(&origin)?;
                Transfer { entry, url, part, kept: 0, total: origin.total }
                    .receive(response, out, progress)
                    .map(Some)
            }
            404 | 410 => Ok(None),
            _ => Err(refused(url, &response)),
        }
    }

    fn get(&self, url: &str, kept: Option<&Kept>) -> Result<Response<Body>, Error> {
        let mut request = self.agent.get(url);
        if let Some(kept) = kept {
            request = request.header("Range", format!("bytes={}-", kept.bytes));
            if let Some(etag) = &kept.origin.etag {
                request = request.header("If-Range", etag);
            }
        }
        request.call().map_err(|error| unreachable(url, &error))
    }
}

/// One answer on its way into one part.
struct Transfer<'a> {
    entry: &'a Entry,
    url: &'a str,
    part: &'a Part,
    /// How many bytes the part had before.
    kept: u64,
    total: Option<u64>,
}

impl Transfer<'_> {
    fn receive(
        &self,
        response: Response<Body>,
        mut out: File,
        progress: &mut dyn Progress,
    ) -> Result<u64, Error> {
        let total = self.total.or_else(|| length(&response).map(|rest| self.kept + rest));
        progress.start(self.entry.name, self.kept, total);
        let came =
            pour(response.into_body().into_reader(), &mut out, progress, |broken| match broken {
                Broken::Reading(error, came) => {
                    self.cut(self.kept + came, total, &describe_io(error))
                }
                Broken::Writing(error) => io_error("write", &self.part.path)(error),
            })?;
        // Counted on the disk as well: another process may have written to the same part.
        let size = fs::metadata(&self.part.path).map_err(io_error("read", &self.part.path))?.len();
        match total {
            Some(total) if size > total => {
                self.part.discard()?;
                Err(self.broken(
                    format!("{size} bytes came of a file of {total}"),
                    "start the same command again",
                ))
            }
            Some(wanted) if size < wanted => {
                Err(self.cut(size, total, "the connection was closed"))
            }
            _ => Ok(came),
        }
    }

    /// The download ended early. The part stays.
    fn cut(&self, here: u64, total: Option<u64>, why: &str) -> Error {
        let of = total.map_or_else(String::new, |total| format!(" of {total}"));
        let resumable = self.part.kept(self.url, self.entry.sha256.is_some()).is_some();
        let hint = if resumable {
            format!(
                "what came is kept in {}: the same command resumes there",
                self.part.path.display()
            )
        } else {
            "the same command fetches this file again from its beginning".to_owned()
        };
        self.broken(format!("cut off after {here}{of} bytes: {why}"), hint)
    }

    fn broken(&self, reason: String, hint: impl Into<String>) -> Error {
        Error::Download { url: self.url.to_owned(), reason, hint: hint.into() }
    }
}

/// Whether the answer is the rest of the very file whose beginning was kept.
fn continues(response: &Response<Body>, kept: &Kept) -> bool {
    let range = header(response, "Content-Range").and_then(content_range);
    let same_size = |total: Option<u64>| {
        total.is_none() || kept.origin.total.is_none() || total == kept.origin.total
    };
    response.status().as_u16() == 206
        && range.is_some_and(|(start, total)| start == kept.bytes && same_size(total))
        // Servers that know no If-Range send the rest of another version; its ETag gives it away.
        && (kept.origin.etag.is_none() || strong_etag(response).is_none_or(|tag| kept.origin.etag == Some(tag)))
}

/// First byte and total size from `bytes 5-9/10` or `bytes 5-9/*`.
fn content_range(value: &str) -> Option<(u64, Option<u64>)> {
    let (range, total) = value.strip_prefix("bytes ")?.split_once('/')?;
    let (start, _) = range.trim().split_once('-')?;
    Some((start.parse().ok()?, total.trim().parse().ok()))
}

fn strong_etag(response: &Response<Body>) -> Option<String> {
    header(response, "ETag").filter(|tag| tag.starts_with('"')).map(str::to_owned)
}

fn length(response: &Response<Body>) -> Option<u64> {
    response.body().content_length()
}

fn header<'a>(response: &'a Response<Body>, name: &str) -> Option<&'a str> {
    response.headers().get(name)?.to_str().ok()
}

fn is_this_machine(base: &Base) -> bool {
    let Base::Url(url) = base else { return false };
    let uri = url.parse::<Uri>().ok();
    uri.as_ref()
        .and_then(Uri::host)
        .is_some_and(|host| matches!(host, "localhost" | "127.0.0.1" | "[::1]"))
}

fn refused(url: &str, response: &Response<Body>) -> Error {
    let hint = if response.status().is_server_error() || response.status().as_u16() == 429 {
        "the server is busy or broken: try again later, or another place with `--from`"
    } else {
        "check the address after `--from`"
    };
    Error::Download {
        url: url.to_owned(),
        reason: format!("the server answered {}", response.status()),
        hint: hint.into(),
    }
}

/// The request got no answer.
fn unreachable(url: &str, error: &ureq::Error) -> Error {
    let hint = match error {
        ureq::Error::BadUri(_) | ureq::Error::Http(_) => "check the address after `--from`",
        _ => OFFLINE,
    };
    Error::Download { url: url.to_owned(), reason: describe(error), hint: hint.to_owned() }
}

fn describe(error: &ureq::Error) -> String {
    match error {
        ureq::Error::HostNotFound => "the name of the server cannot be resolved".to_owned(),
        ureq::Error::Timeout(ureq::Timeout::Resolve) => {
            "no answer from the name service in time".to_owned()
        }
        ureq::Error::Timeout(ureq::Timeout::Connect) => "no connection in time".to_owned(),
        ureq::Error::Timeout(_) => "the server fell silent".to_owned(),
        ureq::Error::Io(error) if error.kind() == io::ErrorKind::ConnectionRefused => {
            "connection refused".to_owned()
        }
        ureq::Error::Io(error) => error.to_string(),
        other => other.to_string(),
    }
}

fn describe_io(error: io::Error) -> String {
    describe(&ureq::Error::from(error))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_ranges_are_read_strictly() {
        assert_eq!(content_range("bytes 5-9/10"), Some((5, Some(10))));
        assert_eq!(content_range("bytes 5-9/*"), Some((5, None)));
        for bad in ["", "bytes */10", "5-9/10", "bytes -9/10", "bytes x-9/10"] {
            assert_eq!(content_range(bad), None, "{bad}");
        }
    }

    #[test]
    fn only_servers_on_this_machine_go_without_the_proxy() {
        let is = |url: &str| is_this_machine(&Base::Url(url.to_owned()));
        assert!(is("http://127.0.0.1:8080/") && is("http://localhost/") && is("http://[::1]:1/"));
        assert!(!is("https://example.org/localhost/"));
    }
}
