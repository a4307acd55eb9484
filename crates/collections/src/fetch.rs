//! Fetching released files into a data folder.

use crate::{Release, ReleasedFile};
use clariq_core::{Error, IoAction, Observer, ProblemKind, bail, problem};
use clariq_files::Lock;
use clariq_net::Timeouts;
use clariq_net::download::{Downloader, LocalCopy, Origin, Published, TIMEOUTS};
use std::fs;
use std::path::PathBuf;

/// The files to fetch, their origin, and the target folder.
#[derive(Debug, Clone)]
pub struct FetchRequest {
    /// The origin of the files.
    pub origin: Origin,
    /// The data folder, which is created if it does not exist.
    pub folder: PathBuf,
    /// The files, in this order.
    pub files: Vec<ReleasedFile>,
    /// True if files that differ from the released ones are replaced.
    pub force: bool,
    /// The limits on waiting for a server.
    pub timeouts: Timeouts,
}

impl FetchRequest {
    /// All files of a release but the archives, from their origin into a folder.
    pub fn of(release: &Release, folder: impl Into<PathBuf>) -> Self {
        Self {
            origin: Origin::Url(release.at.to_owned()),
            folder: folder.into(),
            files: release.files().into_iter().filter(|file| !file.archive).collect(),
            force: false,
            timeouts: TIMEOUTS,
        }
    }
}

/// The result for one file.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FetchOutcome {
    /// It was fetched, with its number of bytes.
    Fetched(u64),
    /// It was already present.
    Present,
    /// The origin has no such file, and no system needs it.
    NotThere,
}

/// Fetches the files of a request, except those that are present. Known digests are verified.
///
/// Stops at the first error; files that are complete by then stay, and the next call skips them. If a
/// file in the folder differs from the released one, nothing is fetched without
/// [`FetchRequest::force`]: the error names the file. Other errors are those of
/// [`Downloader::fetch`], and a required file that the origin does not have.
pub fn fetch(
    request: &FetchRequest,
    observer: &dyn Observer,
) -> Result<Vec<(ReleasedFile, FetchOutcome)>, Error> {
    let folder = &request.folder;
    fs::create_dir_all(folder).map_err(Error::io(IoAction::Write, folder))?;
    let _lock = Lock::acquire(&folder.join(".fetch.lock"), || {
        observer.note("note: another command fetches into the same folder: waiting for it");
    })?;
    let mut files = Vec::with_capacity(request.files.len());
    for file in &request.files {
        files.push((*file, published(file).compare(&folder.join(file.name))?));
    }
    if !request.force {
        refuse_different(request, &files)?;
    }
    let downloader = Downloader::new(&request.origin, request.timeouts);
    let mut outcomes = Vec::with_capacity(files.len());
    for (file, local) in files {
        let outcome = match local {
            LocalCopy::Same => FetchOutcome::Present,
            LocalCopy::Absent | LocalCopy::Different(_) => {
                fetch_file(request, &downloader, &file, observer)?
            }
        };
        outcomes.push((file, outcome));
    }
    if outcomes.iter().all(|(_, outcome)| *outcome == FetchOutcome::NotThere) {
        return Err(nothing_found(request));
    }
    Ok(outcomes)
}

/// The error if the origin has none of the files.
fn nothing_found(request: &FetchRequest) -> Error {
    let names: Vec<&str> = request.files.iter().map(|file| file.path).collect();
    let expected = format!("released files: {}", names.join(", "));
    let hint = "check `--from`, the folder or address that these paths are relative to";
    problem!(request.origin.locate(""), expected, "none of them", hint)
        .kind(ProblemKind::MissingFile)
        .into()
}

fn published(file: &ReleasedFile) -> Published<'static> {
    Published { name: file.path, sha256: file.sha256, most_bytes: file.most_bytes }
}

fn fetch_file(
    request: &FetchRequest,
    downloader: &Downloader,
    file: &ReleasedFile,
    observer: &dyn Observer,
) -> Result<FetchOutcome, Error> {
    let target = request.folder.join(file.name);
    if let Some(below) = target.parent() {
        fs::create_dir_all(below).map_err(Error::io(IoAction::Write, below))?;
    }
    let mut published = published(file);
    if let Origin::Folder(folder) = &request.origin
        && !folder.join(file.path).exists()
    {
        published.name = file.path_in_clone();
    }
    match downloader.fetch(&published, &target, observer)? {
        Some(bytes) => Ok(FetchOutcome::Fetched(bytes)),
        None if file.required => Err(missing(request, file)),
        None => Ok(FetchOutcome::NotThere),
    }
}

fn refuse_different(
    request: &FetchRequest,
    files: &[(ReleasedFile, LocalCopy)],
) -> Result<(), Error> {
    let mut different = files.iter().filter_map(|(file, local)| match local {
        LocalCopy::Different(found) => Some((file, found)),
        _ => None,
    });
    let Some((file, found)) = different.next() else { return Ok(()) };
    let others: Vec<&str> = different.map(|(file, _)| file.name).collect();
    let others =
        if others.is_empty() { String::new() } else { format!("; {} too", others.join(", ")) };
    let digest = file.sha256.map_or(String::new(), |digest| format!(", SHA-256 {digest}"));
    bail!(
        request.folder.join(file.name).as_path(),
        "the released file{digest}",
        "{found}{others}",
        "nothing was fetched: move the file away, or replace it with --force"
    )
}

fn missing(request: &FetchRequest, file: &ReleasedFile) -> Error {
    let location = request.origin.locate(file.path);
    let hint = "check `--from`, the folder or address that this path is relative to";
    let problem = match request.origin {
        Origin::Url(_) => {
            problem!(location, "the file as it was released", "no such file on the server", hint)
                .kind(ProblemKind::Download)
        }
        Origin::Folder(_) => problem!(location, "a released file", "nothing at that path", hint)
            .kind(ProblemKind::MissingFile),
    };
    problem.into()
}
