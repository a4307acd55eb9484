//! How is an archive unpacked so that it can only ever write the files it holds, beside itself?
//!
//! Everything goes to a folder of its own first. Only when the archive has been read to its end, checksum included,
//! and every entry is a regular file inside the data folder, do the files take their names. A marker,
//! `.<archive>.unpacked`, remembers which archive they came from.

use super::manifest::{Archive, FILES};
use super::part::remove;
use super::verify::sha256_of;
use super::{Outcome, Progress, io_error};
use clariq_core::{Error, Location, Problem, ProblemKind};
use clariq_files::write_atomically;
use flate2::read::MultiGzDecoder;
use serde::{Deserialize, Serialize};
use std::fs::{self, File};
use std::io::{self, BufReader, Read};
use std::path::{Component, Path, PathBuf};

/// What an archive was unpacked to.
#[derive(Debug, Serialize, Deserialize)]
struct Marker {
    /// The SHA-256 of the archive, of all its pieces in order.
    sha256: String,
    files: Vec<Unpacked>,
}

/// One file that came out of an archive.
#[derive(Debug, Serialize, Deserialize)]
struct Unpacked {
    /// Relative to the data folder.
    name: PathBuf,
    bytes: u64,
}

/// Unpacks an archive beside itself, unless that was done before. Where a piece is missing, it is not there.
pub(super) fn unpack(
    archive: &Archive,
    folder: &Path,
    progress: &mut dyn Progress,
) -> Result<Outcome, Error> {
    let pieces: Vec<PathBuf> = archive.pieces.iter().map(|name| folder.join(name)).collect();
    if !pieces.iter().all(|piece| piece.is_file()) {
        progress.start(archive.name, 0, None);
        return Ok(Outcome::NotThere);
    }
    let place = Place { archive, folder };
    let total =
        pieces.iter().filter_map(|piece| fs::metadata(piece).ok()).map(|found| found.len()).sum();
    let sha256 = sha256_of(pieces.iter().map(PathBuf::as_path))?;
    if let Some(marker) = place.unpacked_before(&sha256) {
        progress.start(archive.name, total, Some(total));
        return Ok(Outcome::UnpackedBefore { files: names(&marker.files) });
    }
    progress.start(archive.name, 0, Some(total));
    let files = place.unpack(&pieces, progress)?;
    let outcome = Outcome::Unpacked { files: names(&files) };
    place.remember(&Marker { sha256, files })?;
    Ok(outcome)
}

fn names(files: &[Unpacked]) -> Vec<String> {
    files.iter().map(|file| file.name.display().to_string()).collect()
}

/// An archive and the folder that it is unpacked to.
struct Place<'a> {
    archive: &'a Archive,
    folder: &'a Path,
}

impl Place<'_> {
    fn marker(&self) -> PathBuf {
        self.folder.join(format!(".{}.unpacked", self.archive.name))
    }

    fn unpacked_before(&self, sha256: &str) -> Option<Marker> {
        // A marker that cannot be read is no error: the archive is merely unpacked again.
        let marker: Marker = serde_json::from_slice(&fs::read(self.marker()).ok()?).ok()?;
        let still_there = |file: &Unpacked| {
            fs::metadata(self.folder.join(&file.name))
                .is_ok_and(|found| found.is_file() && found.len() == file.bytes)
        };
        (marker.sha256 == sha256 && marker.files.iter().all(still_there)).then_some(marker)
    }

    fn remember(&self, marker: &Marker) -> Result<(), Error> {
        let path = self.marker();
        let text =
            serde_json::to_vec(marker).map_err(|error| io_error("write", &path)(error.into()))?;
        write_atomically(&path, |out| out.write_all(&text))
    }

    fn unpack(
        &self,
        pieces: &[PathBuf],
        progress: &mut dyn Progress,
    ) -> Result<Vec<Unpacked>, Error> {
        let stage = self.stage()?;
        let files = self.extract(pieces, stage.path(), progress)?;
        files.iter().try_for_each(|file| self.check_parents(&file.name))?;
        // From here on the folder may hold files of two archives: no marker may vouch for them.
        remove(&self.marker())?;
        for (number, file) in files.iter().enumerate() {
            self.publish(&staged(stage.path(), number), &file.name)?;
        }
        Ok(files)
    }

    /// An empty folder on the same disk. One that a killed process left behind is cleared away.
    fn stage(&self) -> Result<tempfile::TempDir, Error> {
        let name = format!(".{}.unpacking", self.archive.name);
        let path = self.folder.join(&name);
        if path.is_dir() {
            fs::remove_dir_all(&path).map_err(io_error("write", &path))?;
        }
        let made = tempfile::Builder::new().prefix(&name).rand_bytes(0).tempdir_in(self.folder);
        made.map_err(io_error("write", &path))
    }

    fn extract(
        &self,
        pieces: &[PathBuf],
        stage: &Path,
        progress: &mut dyn Progress,
    ) -> Result<Vec<Unpacked>, Error> {
        let packed = BufReader::with_capacity(1 << 16, Counted { inner: chain(pieces)?, progress });
        let mut tar = tar::Archive::new(MultiGzDecoder::new(packed));
        let mut files: Vec<Unpacked> = Vec::new();
        for entry in tar.entries().map_err(|error| self.damaged(&error))? {
            let mut entry = entry.map_err(|error| self.damaged(&error))?;
            let Some(name) = self.name_of(&entry)? else { continue };
            if files.iter().any(|file| file.name == name) {
                return Err(self.refuse(&name.to_string_lossy(), "it is there twice"));
            }
            let bytes = self.write(&mut entry, &staged(stage, files.len()))?;
            files.push(Unpacked { name, bytes });
        }
        // The end of a tar comes before the end of its gzip, which holds the checksum.
        io::copy(&mut tar.into_inner(), &mut io::sink()).map_err(|error| self.damaged(&error))?;
        if files.is_empty() {
            Err(self.damaged(&io::Error::other("no files in it")))
        } else {
            Ok(files)
        }
    }

    /// The path of an entry relative to the data folder; `None` for entries that are only folders or remarks.
    fn name_of<R: Read>(&self, entry: &tar::Entry<'_, R>) -> Result<Option<PathBuf>, Error> {
        let shown = String::from_utf8_lossy(&entry.path_bytes()).into_owned();
        let kind = entry.header().entry_type();
        if kind.is_pax_global_extensions() {
            return Ok(None);
        }
        let path = entry.path().map_err(|error| self.refuse(&shown, &error.to_string()))?;
        let inside = inside(&path).filter(|path| kind.is_dir() || !path.as_os_str().is_empty());
        let inside = inside.ok_or_else(|| self.refuse(&shown, "it leads out of the folder"))?;
        if kind.is_dir() {
            return Ok(None);
        }
        if !kind.is_file() {
            return Err(self.refuse(&shown, "it is a link or a device, not a file"));
        }
        // Some file systems take names that differ in case for the same.
        if FILES.iter().any(|file| inside.as_os_str().eq_ignore_ascii_case(file.name)) {
            return Err(self.refuse(&shown, "it would replace a released file"));
        }
        Ok(Some(inside))
    }

    fn write(&self, entry: &mut impl Read, staged: &Path) -> Result<u64, Error> {
        let mut out = File::create(staged).map_err(io_error("write", staged))?;
        let mut buffer = vec![0; 1 << 16];
        let mut bytes = 0;
        loop {
            let count = match entry.read(&mut buffer) {
                Ok(0) => break,
                Ok(count) => count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                Err(error) => return Err(self.damaged(&error)),
            };
            io::Write::write_all(&mut out, &buffer[..count]).map_err(io_error("write", staged))?;
            bytes += count as u64;
        }
        out.sync_all().map_err(io_error("write", staged))?;
        Ok(bytes)
    }

    /// A link that the user made in the data folder would lead an honest name elsewhere.
    fn check_parents(&self, name: &Path) -> Result<(), Error> {
        let mut parent = self.folder.to_owned();
        for component in name.parent().into_iter().flat_map(Path::components) {
            parent.push(component);
            if fs::symlink_metadata(&parent).is_ok_and(|found| found.is_symlink()) {
                return Err(self
                    .refuse(&name.to_string_lossy(), &format!("{} is a link", parent.display())));
            }
        }
        Ok(())
    }

    /// Gives a staged file its name, in one step.
    fn publish(&self, staged: &Path, name: &Path) -> Result<(), Error> {
        let target = self.folder.join(name);
        let parent = target.parent().unwrap_or(self.folder);
        fs::create_dir_all(parent)
            .and_then(|()| fs::rename(staged, &target))
            .map_err(io_error("write", &target))
    }

    fn refuse(&self, entry: &str, why: &str) -> Error {
        self.problem("regular files inside the data folder", format!("entry `{entry}`: {why}"))
    }

    fn damaged(&self, error: &io::Error) -> Error {
        self.problem("a whole tar.gz", error.to_string())
    }

    fn problem(&self, expected: &str, found: String) -> Error {
        let at = Location::file(self.folder.join(self.archive.name).display().to_string());
        let pieces = self.archive.pieces.join(" and ");
        Problem::new(at, ProblemKind::Archive, expected, found)
            .hint(format!("nothing of it was unpacked: remove {pieces} and fetch again"))
            .into()
    }
}

/// Where the file of that number waits for its name. Names from the archive play no part before all are known.
fn staged(stage: &Path, number: usize) -> PathBuf {
    stage.join(number.to_string())
}

/// The path without `.`, if it stays inside the folder that it is relative to.
fn inside(path: &Path) -> Option<PathBuf> {
    path.components().filter(|part| !matches!(part, Component::CurDir)).try_fold(
        PathBuf::new(),
        |sum, part| match part {
            Component::Normal(name) => Some(sum.join(name)),
            _ => None,
        },
    )
}

/// The pieces, one after the other.
fn chain(pieces: &[PathBuf]) -> Result<Box<dyn Read>, Error> {
    pieces.iter().try_fold(Box::new(io::empty()) as Box<dyn Read>, |before, path| {
        let piece = File::open(path).map_err(io_error("read", path))?;
        Ok(Box::new(before.chain(piece)) as Box<dyn Read>)
    })
}

/// Tells how many packed bytes were read.
struct Counted<'a, R> {
    inner: R,
    progress: &'a mut dyn Progress,
}

impl<R: Read> Read for Counted<'_, R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let count = self.inner.read(buffer)?;
        self.progress.advance(count as u64);
        Ok(count)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_paths_that_stay_inside_pass() {
        assert_eq!(inside(Path::new("./a/b.pkl")), Some(PathBuf::from("a/b.pkl")));
        for bad in ["../a", "a/../../b", "a/../b", "/etc/passwd"] {
            assert_eq!(inside(Path::new(bad)), None, "{bad}");
        }
    }
}
