//! Fetching the released `ClariQ` files into a data folder.
//!
//! ```no_run
//! use clariq_collections::clariq::fetch::{FetchRequest, fetch};
//!
//! for file in fetch(&FetchRequest::new("data/clariq"), &mut ())? {
//!     println!("{}: {:?}", file.name, file.outcome);
//! }
//! # Ok::<(), clariq_core::Error>(())
//! ```

use crate::clariq::released::{RELEASED, RELEASED_AT, Released};
use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_files::Lock;
use clariq_files::download::{Downloader, Limits, Local, Origin, Progress, Published};
use std::fs;
use std::path::PathBuf;

/// What to fetch, from where, to where.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// Where the files come from.
    pub origin: Origin,
    /// The data folder; made if it does not exist.
    pub folder: PathBuf,
    /// The files, in this order.
    pub files: Vec<Released>,
    /// Whether files that differ from the released ones are replaced.
    pub force: bool,
    /// How long to wait for a server.
    pub limits: Limits,
}

impl FetchRequest {
    /// All files but the archives, from the public repository into a folder.
    pub fn new(folder: impl Into<PathBuf>) -> Self {
        Self {
            origin: Origin::Url(RELEASED_AT.to_owned()),
            folder: folder.into(),
            files: RELEASED.iter().copied().filter(|file| !file.archive).collect(),
            force: false,
            limits: Limits::default(),
        }
    }
}

/// What became of one file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// It came.
    Fetched {
        /// How many bytes came in this call: fewer than the file has where an earlier one was
        /// continued.
        bytes: u64,
        /// Whether a digest is known, and right.
        verified: bool,
    },
    /// It was there already.
    Present {
        /// Whether a digest is known, and right.
        verified: bool,
    },
    /// The origin has no such file, and no system needs it.
    NotThere,
}

/// A file and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fetched {
    /// The released name.
    pub name: &'static str,
    /// What became of it.
    pub outcome: Outcome,
}

/// An observer of a fetch, beside the progress of each file.
pub trait Observer: Progress {
    /// Another process fetches into the same folder; this one waits for it.
    fn wait(&mut self) {}
    /// A file is done.
    fn finish(&mut self, _file: &Fetched) {}
}

impl Observer for () {}

/// Fetches the files of a request. A file that is there already is not fetched again.
///
/// The first error ends it; what was complete by then stays, and the next call skips it. Where a
/// file in the folder differs from the released one, nothing is fetched without
/// [`FetchRequest::force`]: an [`Error::Problem`] of kind
/// [`ProblemKind::Checksum`] names it. Other errors are those of [`Downloader::fetch`], and a required file that the
/// origin does not have.
pub fn fetch(request: &FetchRequest, observer: &mut dyn Observer) -> Result<Vec<Fetched>, Error> {
    let folder = &request.folder;
    fs::create_dir_all(folder).map_err(|source| Error::Io {
        action: "write",
        path: folder.clone(),
        source,
    })?;
    let _lock = Lock::acquire(&folder.join(".fetch.lock"), || observer.wait())?;
    let compare = |file: &Released| Ok((*file, published(file).compare(&folder.join(file.name))?));
    let files: Vec<_> = request.files.iter().map(compare).collect::<Result<_, Error>>()?;
    if !request.force {
        refuse_different(request, &files)?;
    }
    let downloader = Downloader::new(&request.origin, &request.limits);
    let fetch_one = |(file, local): (Released, Local)| {
        let outcome = match local {
            Local::Same { verified } => Outcome::Present { verified },
            Local::Absent | Local::Different(_) => {
                fetch_file(request, &downloader, &file, observer)?
            }
        };
        let fetched = Fetched { name: file.name, outcome };
        observer.finish(&fetched);
        Ok(fetched)
    };
    files.into_iter().map(fetch_one).collect()
}

fn published(file: &Released) -> Published<'static> {
    Published { name: file.name, sha256: file.sha256, most_bytes: file.most_bytes }
}

fn fetch_file(
    request: &FetchRequest,
    downloader: &Downloader,
    file: &Released,
    observer: &mut dyn Observer,
) -> Result<Outcome, Error> {
    let target = request.folder.join(file.name);
    match downloader.fetch(&published(file), &target, observer)? {
        Some(bytes) => Ok(Outcome::Fetched { bytes, verified: file.sha256.is_some() }),
        None if file.required => Err(missing(request, file)),
        None => Ok(Outcome::NotThere),
    }
}

fn refuse_different(request: &FetchRequest, files: &[(Released, Local)]) -> Result<(), Error> {
    let different = |(file, local): &(Released, Local)| match local {
        Local::Different(found) => Some((*file, found.clone())),
        _ => None,
    };
    let all: Vec<_> = files.iter().filter_map(different).collect();
    let Some((file, found)) = all.first() else { return Ok(()) };
    let others = match &all[1..] {
        [] => String::new(),
        others => {
            let names: Vec<&str> = others.iter().map(|(file, _)| file.name).collect();
            format!("; {} too", names.join(", "))
        }
    };
    let expected = match file.sha256 {
        Some(digest) => format!("the released file, SHA-256 {digest}"),
        None => "the released file".to_owned(),
    };
    let at = Location::file(request.folder.join(file.name).display().to_string());
    Err(Problem::new(at, ProblemKind::Checksum, expected, format!("{found}{others}"))
        .hint("nothing was fetched: move the file away, or replace it with --force")
        .into())
}

fn missing(request: &FetchRequest, file: &Released) -> Error {
    let place = request.origin.locate(file.name);
    let hint = "`--from` names the folder or address that train.tsv is in directly: check it";
    match request.origin {
        Origin::Url(_) => {
            let (expected, found) = ("the file as it was released", "no such file on the server");
            let problem = Problem::at(place, expected, found).hint(hint);
            problem.kind(ProblemKind::Download).into()
        }
        Origin::Folder(_) => {
            let (expected, found) = ("a released file", "nothing at that path");
            let at = Location::file(place);
            Problem::new(at, ProblemKind::MissingFile, expected, found).hint(hint).into()
        }
    }
}
