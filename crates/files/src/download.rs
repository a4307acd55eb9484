//! Downloads from a web server or a folder: bounded in size, verified, and named once they are
//! whole.
//!
//! The bytes of a broken download are kept as `<name>.part` where a digest is known, and the next
//! download resumes there with a `Range` request (RFC 9110, section 14). The digest alone decides
//! whether the whole is the published file; if it is not, the download starts over once. Without a
//! digest nothing could tell two versions apart, so nothing is kept.

use crate::http::{configure, describe};
use crate::output::with_ending;
use crate::temporary::Temporary;
use clariq_core::{
    Error, Observer, ProblemKind, Result, bail, open_regular, problem, sha256_of_file,
};
use std::fs::{self, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::http::StatusCode;

const OFFLINE: &str = "where this machine cannot reach the server, download the files on another one, bring them here \
                       and name their folder: `--from DIR`";
const CHECK_ADDRESS: &str = "check the address after `--from`";

/// A file as its publisher describes it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published<'a> {
    /// The path at the origin.
    pub name: &'a str,
    /// The SHA-256 in lower-case hexadecimal; `None` where the published bytes are not known.
    pub sha256: Option<&'a str>,
    /// No more bytes than this are ever written.
    pub most_bytes: u64,
}

/// Where files come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Origin {
    /// A web address that ends in `/`; the file names follow it.
    Url(String),
    /// A folder on this machine.
    Folder(PathBuf),
}

impl Origin {
    /// Parses an `http://` or `https://` address or the path of an existing folder.
    ///
    /// Anything else is an [`Error::Problem`] of kind [`ProblemKind::Argument`].
    pub fn parse(text: &str) -> Result<Self> {
        let is_url = ["http://", "https://"].iter().any(|scheme| {
            text.get(..scheme.len()).is_some_and(|start| start.eq_ignore_ascii_case(scheme))
                && text.len() > scheme.len()
        });
        if is_url {
            let slash = if text.ends_with('/') { "" } else { "/" };
            return Ok(Self::Url(format!("{text}{slash}")));
        }
        if Path::new(text).is_dir() {
            return Ok(Self::Folder(PathBuf::from(text)));
        }
        let expected = "an http:// or https:// address or an existing folder";
        let hint = "name the folder that holds the files, or the address that their names follow";
        let problem = problem!("--from", expected, "`{text}`", hint);
        Err(problem.kind(ProblemKind::Argument).into())
    }

    /// The location of a file, for messages.
    pub fn locate(&self, name: &str) -> String {
        match self {
            Self::Url(url) => format!("{url}{name}"),
            Self::Folder(folder) => folder.join(name).display().to_string(),
        }
    }
}

/// How long to wait for a server. There is no limit on a whole download.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Limits {
    /// For the host name to be resolved, and then for the connection, each.
    pub connect: Duration,
    /// For the next bytes, of the answer or of the file.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), stall: Duration::from_secs(30) }
    }
}

/// What is at the place of a published file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Local {
    /// Nothing.
    Absent,
    /// The published file, as far as its digest is known.
    Same,
    /// Another file: what is known of it.
    Different(String),
}

impl Published<'_> {
    /// Compares the file at `path` with the published one.
    pub fn compare(&self, path: &Path) -> Result<Local> {
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Local::Absent),
            Err(error) => return Err(Error::io("read", path)(error)),
            Ok(found) if !found.is_file() => {
                let found = if found.is_dir() { "a directory" } else { "a device or a pipe" };
                let hint = "move it away or choose another folder with `--data`";
                bail!(path, "a file", found, hint);
            }
            Ok(_) => {}
        }
        if let Some(what) = stand_in(path)? {
            return Ok(Local::Different(what.to_owned()));
        }
        let Some(expected) = self.sha256 else { return Ok(Local::Same) };
        let found = sha256_of_file(path)?;
        let same = found == expected;
        Ok(if same { Local::Same } else { Local::Different(found) })
    }
}

/// One origin, and the connections to it.
pub struct Downloader<'a> {
    origin: &'a Origin,
    agent: ureq::Agent,
}

/// The bytes of a file on their way.
struct Incoming {
    bytes: Box<dyn Read>,
    /// How many bytes of the file precede them.
    skipped: u64,
    /// The size of the whole file, where the origin declares it.
    total: Option<u64>,
}

impl<'a> Downloader<'a> {
    /// Connects to nothing yet.
    pub fn new(origin: &'a Origin, limits: &Limits) -> Self {
        let config = configure(&origin.locate(""))
            // Ranges count the bytes of the file itself, not of a packed form of it.
            .accept_encoding("identity")
            .timeout_resolve(Some(limits.connect))
            .timeout_connect(Some(limits.connect))
            .timeout_recv_response(Some(limits.stall))
            .timeout_per_read(Some(limits.stall));
        Self { origin, agent: config.build().new_agent() }
    }

    /// Downloads a file to `target`, replacing what is there once it is verified. Returns the number
    /// of bytes received, or `None` where the origin has no such file.
    ///
    /// Errors are of kind [`ProblemKind::Download`] for anything between here and the origin,
    /// [`Error::Io`] for this machine's files, and without a kind for a file other than the published
    /// one.
    pub fn fetch(
        &self,
        file: &Published,
        target: &Path,
        observer: &dyn Observer,
    ) -> Result<Option<u64>> {
        let part = with_ending(target, ".part");
        // Without a digest, the bytes of a broken download are of no use and go when this call ends.
        let _removed = file.sha256.is_none().then(|| Temporary::at(&part));
        let kept = fs::metadata(&part).ok().filter(fs::Metadata::is_file).map(|found| found.len());
        let kept = kept.filter(|&bytes| file.sha256.is_some() && bytes < file.most_bytes);
        let Some(incoming) = self.open(file, kept.unwrap_or(0))? else { return Ok(None) };
        let resumed = incoming.skipped > 0;
        let mut came = self.receive(file, incoming, &part, observer)?;
        if resumed && Some(sha256_of_file(&part)?.as_str()) != file.sha256 {
            let Some(whole) = self.open(file, 0)? else { return Ok(None) };
            came = self.receive(file, whole, &part, observer)?;
        }
        self.verify(file, &part, target)?;
        OpenOptions::new()
            .append(true)
            .open(&part)
            .and_then(|file| file.sync_all())
            .and_then(|()| fs::rename(&part, target))
            .map_err(Error::io("write", target))?;
        Ok(Some(came))
    }

    fn open(&self, file: &Published, kept: u64) -> Result<Option<Incoming>> {
        let incoming = match self.origin {
            Origin::Folder(folder) => open_local(&folder.join(file.name))?,
            Origin::Url(url) => self.request(&format!("{url}{}", file.name), kept)?,
        };
        let Some(incoming) = incoming else { return Ok(None) };
        match incoming.total.filter(|&total| total > file.most_bytes) {
            Some(total) => Err(self.too_long(file, &format!("{total} bytes are announced"))),
            None => Ok(Some(incoming)),
        }
    }

    fn request(&self, url: &str, kept: u64) -> Result<Option<Incoming>> {
        let mut request = self.agent.get(url);
        if kept > 0 {
            request = request.header("Range", format!("bytes={kept}-"));
        }
        let response = request.call().map_err(|error| unreachable(url, &error))?;
        let skipped = match response.status() {
            StatusCode::OK => 0,
            StatusCode::PARTIAL_CONTENT => kept,
            StatusCode::NOT_FOUND | StatusCode::GONE => return Ok(None),
            // The server has no such range: its file is shorter than what was kept.
            StatusCode::RANGE_NOT_SATISFIABLE if kept > 0 => return self.request(url, 0),
            status => return Err(refused(url, status)),
        };
        let body = response.into_body();
        let total = body.content_length().map(|rest| skipped + rest);
        Ok(Some(Incoming { bytes: Box::new(body.into_reader()), skipped, total }))
    }

    /// Writes the bytes to the part, behind those that it has already. Returns how many came.
    fn receive(
        &self,
        file: &Published,
        incoming: Incoming,
        part: &Path,
        observer: &dyn Observer,
    ) -> Result<u64> {
        let Incoming { bytes, skipped, total } = incoming;
        let task = observer.begin_download(file.name, total);
        task.advance(skipped);
        let mut out = OpenOptions::new()
            .create(true)
            .append(skipped > 0)
            .write(true)
            .truncate(skipped == 0)
            .open(part)
            .map_err(Error::io("write", part))?;
        let mut bytes = bytes.take((file.most_bytes - skipped).saturating_add(1));
        let (mut came, mut buffer) = (0, vec![0; 1 << 16]);
        let broken = loop {
            match bytes.read(&mut buffer) {
                Ok(0) => break "the connection was closed".to_owned(),
                Ok(count) => {
                    out.write_all(&buffer[..count]).map_err(Error::io("write", part))?;
                    came += count as u64;
                    task.advance(count as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => break describe(&ureq::Error::from(error)),
            }
        };
        let size = skipped + came;
        if size > file.most_bytes {
            remove(part)?;
            return Err(self.too_long(file, "more came"));
        }
        // A server that announces no size ends the file where it closes the connection.
        let closed = broken == "the connection was closed";
        if total.map_or(!closed, |total| size < total) {
            return Err(self.cut(file, size, total, &broken));
        }
        task.finish(&format!("{size} bytes"));
        Ok(came)
    }

    /// Refuses a part that is not the published file, and removes it.
    fn verify(&self, file: &Published, part: &Path, target: &Path) -> Result<()> {
        let from = self.origin.locate(file.name);
        if let Some(what) = stand_in(part)? {
            remove(part)?;
            let hint = "get the file itself, for instance with `git lfs pull` in a clone of the repository, then name \
                        its folder: `--from DIR`";
            let reason = format!("{what} came in place of {}", file.name);
            return Err(failed(&from, &reason, hint));
        }
        let Some(expected) = file.sha256 else { return Ok(()) };
        let found = sha256_of_file(part)?;
        if found == expected {
            return Ok(());
        }
        remove(part)?;
        let hint = "it is not the released file and was removed; try again, or another origin with `--from`";
        bail!(target, "SHA-256 {expected}", "{found} from {from}", hint);
    }

    fn too_long(&self, file: &Published, found: &str) -> Error {
        let reason = format!("{found}, and {} has at most {} bytes", file.name, file.most_bytes);
        let hint = "this is not the released file: try another origin with `--from`";
        failed(&self.origin.locate(file.name), &reason, hint)
    }

    fn cut(&self, file: &Published, here: u64, total: Option<u64>, why: &str) -> Error {
        let of = total.map_or_else(String::new, |total| format!(" of {total}"));
        let hint = if file.sha256.is_some() {
            format!("what came is kept as {}.part: the same command resumes there", file.name)
        } else {
            "the same command fetches this file again from its beginning".to_owned()
        };
        let reason = format!("cut off after {here}{of} bytes: {why}");
        failed(&self.origin.locate(file.name), &reason, &hint)
    }
}

fn open_local(path: &Path) -> Result<Option<Incoming>> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(Error::io("read", path))?,
    };
    if !found.is_file() {
        let hint = "`--from` names the folder that holds the files";
        bail!(path, "a file", "no regular file", hint);
    }
    let bytes = Box::new(open_regular(path).map_err(Error::io("read", path))?);
    Ok(Some(Incoming { bytes, skipped: 0, total: Some(found.len()) }))
}

fn refused(url: &str, status: StatusCode) -> Error {
    let busy = status.is_server_error() || status == StatusCode::TOO_MANY_REQUESTS;
    let hint = if busy {
        "the server is busy or broken: try again later, or another origin with `--from`"
    } else {
        CHECK_ADDRESS
    };
    let reason = format!("the server answered {status}");
    failed(url, &reason, hint)
}

fn failed(url: &str, reason: &str, hint: &str) -> Error {
    problem!(url, "the file as it was released", reason, hint).kind(ProblemKind::Download).into()
}

/// The request got no answer.
fn unreachable(url: &str, error: &ureq::Error) -> Error {
    let bad = matches!(error, ureq::Error::BadUri(_) | ureq::Error::Http(_));
    let hint = if bad { CHECK_ADDRESS } else { OFFLINE };
    failed(url, &describe(error), hint)
}

/// How a Git-LFS pointer begins (specification, "The Pointer").
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// What the content is in place of a data file, where its beginning shows it.
fn stand_in(path: &Path) -> Result<Option<&'static str>> {
    let mut head = Vec::new();
    open_regular(path)
        .and_then(|file| file.take(64).read_to_end(&mut head))
        .map_err(Error::io("read", path))?;
    let text = head.trim_ascii_start().to_ascii_lowercase();
    Ok(if head.is_empty() {
        Some("an empty file")
    } else if head.starts_with(LFS_POINTER) {
        Some("a Git LFS pointer")
    } else if text.starts_with(b"<!doctype html") || text.starts_with(b"<html") {
        // Log-in pages of networks and proxies answer every address with success.
        Some("a web page")
    } else {
        None
    })
}

fn remove(path: &Path) -> Result<()> {
    fs::remove_file(path).map_err(Error::io("remove", path))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn origins_are_addresses_and_existing_folders() {
        let url = |text: &str| Origin::Url(text.to_owned());
        assert_eq!(Origin::parse("http://host/data").unwrap(), url("http://host/data/"));
        assert_eq!(Origin::parse("HTTPS://host/").unwrap(), url("HTTPS://host/"));
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        assert_eq!(Origin::parse(text).unwrap(), Origin::Folder(folder.path().to_owned()));
        for bad in ["", "http://", "ftp://host/", "no/such/folder", "é"] {
            let error = Origin::parse(bad).unwrap_err();
            assert_eq!(error.kind(), Some(ProblemKind::Argument), "{bad}: {error}");
        }
    }
}
