//! Downloads from a web server or a folder: bounded in size, verified, and renamed when complete.

use crate::http::{Client, Redirects, Timeouts, describe};
use clariq_core::{
    Checksum, Error, IoAction, Observer, ProblemKind, Result, bail, open_regular, problem,
};
use clariq_files::temporary::{self, Temporary};
use std::ffi::OsString;
use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::time::Duration;
use ureq::http::StatusCode;

const OFFLINE: &str = "if this machine cannot reach the server, download the files on another one, copy them here \
                       and name their folder: `--from DIR`";
const CHECK_ADDRESS: &str = "check the address after `--from`";

/// A file to download, with the checksum and the size that are verified.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Published<'a> {
    /// Its path at the origin.
    pub name: &'a str,
    /// Its SHA-256 in lower-case hexadecimal, if it is known.
    pub sha256: Option<&'a str>,
    /// The maximum size in bytes.
    pub most_bytes: u64,
}

/// The source of published files.
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

    /// The location of a file for messages.
    pub fn locate(&self, name: &str) -> String {
        match self {
            Self::Url(url) => match (name.strip_prefix("../"), parent(url)) {
                (Some(name), Some(parent)) => format!("{parent}{name}"),
                _ => format!("{url}{name}"),
            },
            Self::Folder(folder) => folder.join(name).display().to_string(),
        }
    }
}

/// The address of the folder above one, with its `/`.
fn parent(url: &str) -> Option<&str> {
    let above = url.strip_suffix('/')?.rfind('/')?;
    Some(&url[..=above])
}

/// The default limits on waiting for a server. A whole download has no limit.
pub const TIMEOUTS: Timeouts =
    Timeouts { connect: Duration::from_secs(10), stall: Duration::from_secs(30), whole: None };

/// The local copy of a published file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum LocalCopy {
    /// No local file.
    Absent,
    /// The published file, as far as its digest is known.
    Same,
    /// Another file, with its digest or kind.
    Different(String),
}

impl Published<'_> {
    /// Compares the file at `path` with the published one.
    pub fn compare(&self, path: &Path) -> Result<LocalCopy> {
        match fs::metadata(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(LocalCopy::Absent),
            Err(error) => return Err(Error::io(IoAction::Read, path)(error)),
            Ok(found) if !found.is_file() => {
                let found = if found.is_dir() { "a directory" } else { "a device or a pipe" };
                let hint = "move it away or choose another folder with `--data`";
                bail!(path, "a file", found, hint);
            }
            Ok(_) => {}
        }
        if let Some(what) = stand_in(path)? {
            return Ok(LocalCopy::Different(what.to_owned()));
        }
        let Some(expected) = self.sha256 else { return Ok(LocalCopy::Same) };
        let found = Checksum::of_file(path)?;
        let same = found.as_str() == expected;
        Ok(if same { LocalCopy::Same } else { LocalCopy::Different(found.to_string()) })
    }
}

/// Downloads files of one origin.
pub struct Downloader<'a> {
    origin: &'a Origin,
    client: Client,
}

/// The content of a file, and its size if the origin declares it.
struct IncomingFile {
    bytes: Box<dyn Read>,
    size: Option<u64>,
}

impl<'a> Downloader<'a> {
    /// Prepares downloads. It does not connect yet.
    pub fn new(origin: &'a Origin, timeouts: Timeouts) -> Self {
        let client = Client::new(&origin.locate(""), timeouts, Redirects::Follow, None, None);
        Self { origin, client }
    }

    /// Downloads a file to `target`, and replaces an existing file once the new one is verified.
    /// Returns the number of bytes received, or `None` if the origin has no such file.
    ///
    /// Errors are of kind [`ProblemKind::Download`] for failures of the origin or the connection,
    /// [`Error::Io`] for this machine's files, and without a kind for a file other than the published
    /// one.
    pub fn fetch(
        &self,
        file: &Published,
        target: &Path,
        observer: &dyn Observer,
    ) -> Result<Option<u64>> {
        let Some(incoming) = self.open(file)? else { return Ok(None) };
        let (out, temporary) = create_beside(target).map_err(Error::io(IoAction::Write, target))?;
        let size = self.receive(file, incoming, out, target, observer)?;
        self.verify(file, temporary.path(), target)?;
        temporary.keep_as(target).map_err(Error::io(IoAction::Write, target))?;
        Ok(Some(size))
    }

    fn open(&self, file: &Published) -> Result<Option<IncomingFile>> {
        let incoming = match self.origin {
            Origin::Folder(folder) => open_local(&folder.join(file.name))?,
            Origin::Url(url) => self.request(&format!("{url}{}", file.name))?,
        };
        let Some(incoming) = incoming else { return Ok(None) };
        match incoming.size.filter(|&size| size > file.most_bytes) {
            Some(size) => Err(self.too_long(file, &format!("{size} bytes are announced"))),
            None => Ok(Some(incoming)),
        }
    }

    fn request(&self, url: &str) -> Result<Option<IncomingFile>> {
        let response = self.client.get(url).map_err(|error| unreachable(url, &error))?;
        match response.status {
            StatusCode::OK => {
                let size = response.length();
                Ok(Some(IncomingFile { bytes: Box::new(response.into_reader()), size }))
            }
            StatusCode::NOT_FOUND | StatusCode::GONE => Ok(None),
            status => Err(refused(url, status)),
        }
    }

    /// Writes the content to a file for `target`, and returns its size.
    fn receive(
        &self,
        file: &Published,
        incoming: IncomingFile,
        mut out: File,
        target: &Path,
        observer: &dyn Observer,
    ) -> Result<u64> {
        let task = observer.begin_download(file.name, incoming.size);
        let mut bytes = incoming.bytes.take(file.most_bytes.saturating_add(1));
        let mut size = 0;
        let mut buffer = vec![0; 1 << 16];
        loop {
            match bytes.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => {
                    out.write_all(&buffer[..count]).map_err(Error::io(IoAction::Write, target))?;
                    size += count as u64;
                    task.advance(count as u64);
                }
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => {
                    let why = describe(&ureq::Error::from(error));
                    return Err(self.cut(file, size, incoming.size, &why));
                }
            }
        }
        if size > file.most_bytes {
            return Err(self.too_long(file, "more came"));
        }
        // A server that announces no size ends the file by closing the connection.
        if incoming.size.is_some_and(|announced| size < announced) {
            return Err(self.cut(file, size, incoming.size, "the connection was closed"));
        }
        out.sync_all().map_err(Error::io(IoAction::Write, target))?;
        task.finish(&format!("{size} bytes"));
        Ok(size)
    }

    /// Refuses a file that is not the published one.
    fn verify(&self, file: &Published, received: &Path, target: &Path) -> Result<()> {
        let from = self.origin.locate(file.name);
        if let Some(what) = stand_in(received)? {
            let hint = "get the file itself, for instance with `git lfs pull` in a clone of the repository, then name \
                        its folder: `--from DIR`";
            let reason = format!("{what} came in place of {}", file.name);
            return Err(failed(&from, &reason, hint));
        }
        let Some(expected) = file.sha256 else { return Ok(()) };
        let found = Checksum::of_file(received)?;
        if found.as_str() == expected {
            return Ok(());
        }
        let hint = "it is not the released file and was removed; try again, or another origin with `--from`";
        bail!(target, "SHA-256 {expected}", "{found} from {from}", hint);
    }

    fn too_long(&self, file: &Published, found: &str) -> Error {
        let reason = format!("{found}, and {} has at most {} bytes", file.name, file.most_bytes);
        let hint = "this is not the released file: try another origin with `--from`";
        failed(&self.origin.locate(file.name), &reason, hint)
    }

    fn cut(&self, file: &Published, size: u64, announced: Option<u64>, why: &str) -> Error {
        let of = announced.map_or_else(String::new, |announced| format!(" of {announced}"));
        let reason = format!("cut off after {size}{of} bytes: {why}");
        let hint = "the same command fetches this file again from its beginning";
        failed(&self.origin.locate(file.name), &reason, hint)
    }
}

fn create_beside(target: &Path) -> io::Result<(File, Temporary)> {
    let folder = target.parent().unwrap_or(Path::new("."));
    let mut prefix = OsString::from(".");
    prefix.push(target.file_name().unwrap_or_default());
    temporary::file_in(folder, &prefix)
}

fn open_local(path: &Path) -> Result<Option<IncomingFile>> {
    let found = match fs::metadata(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        found => found.map_err(Error::io(IoAction::Read, path))?,
    };
    if !found.is_file() {
        let hint = "`--from` names the folder that holds the files";
        bail!(path, "a file", "no regular file", hint);
    }
    let bytes = Box::new(open_regular(path).map_err(Error::io(IoAction::Read, path))?);
    Ok(Some(IncomingFile { bytes, size: Some(found.len()) }))
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

/// The error of a request without an answer.
fn unreachable(url: &str, error: &ureq::Error) -> Error {
    let bad = matches!(error, ureq::Error::BadUri(_) | ureq::Error::Http(_));
    let hint = if bad { CHECK_ADDRESS } else { OFFLINE };
    failed(url, &describe(error), hint)
}

/// The beginning of a Git LFS pointer (specification, "The Pointer").
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// Recognises a file that stands in for a data file: an empty one, a Git LFS pointer, a web page.
fn stand_in(path: &Path) -> Result<Option<&'static str>> {
    let mut head = Vec::new();
    open_regular(path)
        .and_then(|file| file.take(64).read_to_end(&mut head))
        .map_err(Error::io(IoAction::Read, path))?;
    let text = head.trim_ascii_start().to_ascii_lowercase();
    Ok(if head.is_empty() {
        Some("an empty file")
    } else if head.starts_with(LFS_POINTER) {
        Some("a Git LFS pointer")
    } else if text.starts_with(b"<!doctype html") || text.starts_with(b"<html") {
        // The log-in page of a network or a proxy.
        Some("a web page")
    } else {
        None
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_may_lie_beside_the_folder() {
        let origin = Origin::parse("https://example.org/repository/data").unwrap();
        assert_eq!(origin.locate("dev.tsv"), "https://example.org/repository/data/dev.tsv");
        let beside = "https://example.org/repository/sample_runs/dev_bm25";
        assert_eq!(origin.locate("../sample_runs/dev_bm25"), beside);
    }

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
