//! How do the released `ClariQ` files get into a data folder, whole and unaltered?
//!
//! [`fetch`] brings each file of a [`FetchRequest`] from a web address or a local folder, verifies it, and only then
//! gives it its name; whatever stood there before stays until that moment. A download that breaks is kept as
//! `<name>.part` and continued by the next call. Archives are unpacked beside themselves.
//!
//! ```no_run
//! use clariq_collections::clariq::fetch::{FetchRequest, Quiet, fetch};
//!
//! for file in fetch(&FetchRequest::new("data/clariq"), &mut Quiet)? {
//!     println!("{}: {:?}", file.name, file.outcome);
//! }
//! # Ok::<(), clariq_core::Error>(())
//! ```
//!
//! A file without a known checksum that is already in the folder is left as it is: remove it to fetch it again.

mod copy;
mod http;
mod manifest;
mod part;
mod unpack;
mod verify;

pub use manifest::{COMMIT, DEFAULT_BASE, Entry, FILES, Group, Selection, Unpack, released};

use clariq_core::{Error, Location, Problem, ProblemKind};
use http::Client;
use part::Part;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Where the files come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Base {
    /// A web address that ends in `/`; the file names follow it.
    Url(String),
    /// A folder on this machine.
    Folder(PathBuf),
}

impl Default for Base {
    fn default() -> Self {
        Self::Url(DEFAULT_BASE.to_owned())
    }
}

impl Base {
    /// Reads what the user wrote after `--from`: an `http://` or `https://` address or an existing folder.
    ///
    /// Anything else is an [`Error::Problem`] of kind [`ProblemKind::Argument`].
    pub fn parse(text: &str) -> Result<Self, Error> {
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
        Err(Problem::new(
            Location::file("--from"),
            ProblemKind::Argument,
            expected,
            format!("`{text}`"),
        )
        .hint("name the folder that holds train.tsv, or the address that the file names follow")
        .into())
    }

    /// The place of a file, for messages.
    fn place(&self, name: &str) -> String {
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
    /// For the next bytes, be it of the answer or of the file.
    pub stall: Duration,
}

impl Default for Limits {
    fn default() -> Self {
        Self { connect: Duration::from_secs(10), stall: Duration::from_secs(30) }
    }
}

/// What to fetch, from where, to where.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// Where the files come from.
    pub base: Base,
    /// The data folder; made if it does not exist.
    pub folder: PathBuf,
    /// The files, usually [`Selection::entries`].
    pub entries: Vec<Entry>,
    /// How long to wait for a server.
    pub limits: Limits,
}

impl FetchRequest {
    /// The core files from the public repository into a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        let entries = Selection::default().entries();
        Self { base: Base::default(), folder: folder.into(), entries, limits: Limits::default() }
    }
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It came and has its name now.
    Downloaded {
        /// How many bytes came in this call: fewer than the file has where an earlier one was continued.
        bytes: u64,
        /// Whether a checksum is known and it was right.
        verified: bool,
    },
    /// It was there already.
    Present {
        /// Whether a checksum is known and it was right.
        verified: bool,
    },
    /// The base has no such file, and no system needs it.
    NotThere,
    /// The archive was unpacked.
    Unpacked {
        /// The files that it held, relative to the data folder.
        files: Vec<String>,
    },
    /// The same archive was unpacked by an earlier call and its files are still there.
    UnpackedBefore {
        /// The files that it held, relative to the data folder.
        files: Vec<String>,
    },
}

/// A file or archive and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The released name; for a split archive, the name of the whole.
    pub name: String,
    /// Where it is, or would be, in the data folder.
    pub path: PathBuf,
    /// What became of it.
    pub outcome: Outcome,
}

/// Someone who watches. Each file gives one `start`, any number of `advance`, and one `finish`; an archive gives
/// these once more while it is unpacked. After an error nothing more is called.
pub trait Progress {
    /// A file begins with `done` bytes already here, of `total` where that is known.
    fn start(&mut self, name: &str, done: u64, total: Option<u64>);
    /// So many more bytes came (or, of an archive, were unpacked).
    fn advance(&mut self, bytes: u64);
    /// The file that was started last is done with.
    fn finish(&mut self, outcome: &Outcome);
}

/// Nobody watches.
#[derive(Debug, Clone, Copy, Default)]
pub struct Quiet;

impl Progress for Quiet {
    fn start(&mut self, _name: &str, _done: u64, _total: Option<u64>) {}
    fn advance(&mut self, _bytes: u64) {}
    fn finish(&mut self, _outcome: &Outcome) {}
}

/// Fetches and unpacks, in the order of the request; the archives are unpacked after all files are here.
///
/// The first error ends it; what was complete by then stays, and the next call skips it. Errors are
/// [`Error::Download`] for anything between here and the base, [`Error::Io`] for the data folder, and
/// [`Error::Problem`] of kind [`ProblemKind::Checksum`], [`ProblemKind::Archive`], [`ProblemKind::MissingFile`] or
/// [`ProblemKind::Directory`] for files that are not what they should be.
pub fn fetch(request: &FetchRequest, progress: &mut dyn Progress) -> Result<Vec<Fetched>, Error> {
    fs::create_dir_all(&request.folder).map_err(io_error("write", &request.folder))?;
    let client = Client::new(&request.base, &request.limits);
    let mut all = Vec::with_capacity(request.entries.len());
    let mut note = |name: &str, outcome: Outcome, progress: &mut dyn Progress| {
        progress.finish(&outcome);
        all.push(Fetched { name: name.to_owned(), path: request.folder.join(name), outcome });
    };
    for entry in &request.entries {
        let outcome = bring(request, &client, entry, progress)?;
        note(entry.name, outcome, progress);
    }
    for archive in manifest::archives(&request.entries) {
        let outcome = unpack::unpack(&archive, &request.folder, progress)?;
        note(archive.name, outcome, progress);
    }
    Ok(all)
}

fn bring(
    request: &FetchRequest,
    client: &Client,
    entry: &Entry,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let target = request.folder.join(entry.name);
    if let Some(found) = verify::present(entry, &target)? {
        progress.start(entry.name, found.bytes, Some(found.bytes));
        return Ok(Outcome::Present { verified: found.verified });
    }
    let part = Part::beside(&target);
    let place = request.base.place(entry.name);
    let came = match &request.base {
        Base::Url(_) => client.download(entry, &place, &part, progress)?,
        Base::Folder(folder) => copy::copy(entry, &folder.join(entry.name), &part, progress)?,
    };
    let Some(bytes) = came else {
        progress.start(entry.name, 0, None);
        return if entry.must_have {
            Err(missing(&request.base, place))
        } else {
            Ok(Outcome::NotThere)
        };
    };
    verify::accept(entry, &place, &part, &target)?;
    Ok(Outcome::Downloaded { bytes, verified: entry.sha256.is_some() })
}

fn missing(base: &Base, place: String) -> Error {
    let hint = "`--from` names the folder or address that train.tsv stands in directly: check it";
    match base {
        Base::Url(_) => Error::Download {
            url: place,
            reason: "the server has no such file".to_owned(),
            hint: hint.to_owned(),
        },
        Base::Folder(_) => Problem::new(
            Location::file(place),
            ProblemKind::MissingFile,
            "a released file",
            "nothing at that path",
        )
        .hint(hint)
        .into(),
    }
}

/// Turns the operating system's refusal into an error that names what was tried on which path.
fn io_error(action: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn from_takes_addresses_and_existing_folders() {
        assert_eq!(
            Base::parse("http://host/data").unwrap(),
            Base::Url("http://host/data/".to_owned())
        );
        assert_eq!(Base::parse("HTTPS://host/").unwrap(), Base::Url("HTTPS://host/".to_owned()));
        let folder = tempfile::tempdir().unwrap();
        let text = folder.path().to_str().unwrap();
        assert_eq!(Base::parse(text).unwrap(), Base::Folder(folder.path().to_owned()));
        for bad in ["", "http://", "ftp://host/", "no/such/folder", "é"] {
            let error = Base::parse(bad).unwrap_err();
            assert!(
                matches!(&error, Error::Problem(p) if p.kind == ProblemKind::Argument),
                "{bad}: {error}"
            );
        }
    }
}
