//! Are these the bytes that were released?

use super::io_error;
use super::manifest::Entry;
use super::part::Part;
use clariq_core::hex;
use clariq_core::{Error, Location, Problem, ProblemKind};
use sha2::{Digest, Sha256};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::Path;

/// How a Git-LFS pointer begins (specification, "The Pointer").
const LFS_POINTER: &[u8] = b"version https://git-lfs.github.com/spec/";

/// A file that is here already, if it is as good as a new download would be.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Present {
    pub(super) bytes: u64,
    pub(super) verified: bool,
}

/// Looks at what stands at `target`; `None` where it has to be fetched.
pub(super) fn present(entry: &Entry, target: &Path) -> Result<Option<Present>, Error> {
    let bytes = match fs::metadata(target) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(io_error("read", target)(error)),
        Ok(found) if found.is_dir() => return Err(directory(target)),
        Ok(found) => found.len(),
    };
    let good = match entry.sha256 {
        Some(expected) => sha256_of([target])? == expected,
        None => bytes > 0 && stand_in(target)?.is_none(),
    };
    Ok(good.then_some(Present { bytes, verified: entry.sha256.is_some() }))
}

/// Makes the complete part the file, or throws it away and says why. What stood at `target` stays until then.
pub(super) fn accept(entry: &Entry, from: &str, part: &Part, target: &Path) -> Result<(), Error> {
    if let Some(what) = stand_in(&part.path)? {
        part.discard()?;
        return Err(Error::Download {
            url: from.to_owned(),
            reason: format!("{what} came in place of {}", entry.name),
            hint: "get the file itself, for instance with `git lfs pull` in a clone of the repository, \
                   then name its folder: `clariq data fetch --from DIR`"
                .to_owned(),
        });
    }
    if let Some(expected) = entry.sha256 {
        let found = sha256_of([part.path.as_path()])?;
        if found != expected {
            part.discard()?;
            return Err(wrong_checksum(from, target, expected, &found));
        }
    }
    part.keep_as(target)
}

fn wrong_checksum(from: &str, target: &Path, expected: &str, found: &str) -> Error {
    let at = Location::file(target.display().to_string());
    Problem::new(at, ProblemKind::Checksum, format!("SHA-256 {expected}"), format!("{found} from {from}"))
        .hint("what came is not the released file and was thrown away; try again, or another place with `--from`")
        .into()
}

fn directory(target: &Path) -> Error {
    Problem::new(
        Location::file(target.display().to_string()),
        ProblemKind::Directory,
        "a file",
        "a directory",
    )
    .hint("move it away or choose another folder with `--data`")
    .into()
}

/// What the content is instead of a data file, where its beginning shows it.
fn stand_in(path: &Path) -> Result<Option<&'static str>, Error> {
    let mut head = Vec::new();
    File::open(path)
        .and_then(|file| file.take(64).read_to_end(&mut head))
        .map_err(io_error("read", path))?;
    let text = head.trim_ascii_start().to_ascii_lowercase();
    Ok(if head.starts_with(LFS_POINTER) {
        Some("a Git LFS pointer")
    } else if text.starts_with(b"<!doctype html") || text.starts_with(b"<html") {
        // Log-in pages of networks and proxies answer every address with success.
        Some("a web page")
    } else {
        None
    })
}

/// The SHA-256 of some files one after the other, read once and never held.
pub(super) fn sha256_of<'a>(paths: impl IntoIterator<Item = &'a Path>) -> Result<String, Error> {
    let mut hasher = Sha256::new();
    let mut buffer = vec![0; 1 << 16];
    for path in paths {
        let mut file = File::open(path).map_err(io_error("read", path))?;
        loop {
            match file.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => hasher.update(&buffer[..count]),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(io_error("read", path)(error)),
            }
        }
    }
    Ok(hex(&hasher.finalize()))
}
