//! What is kept of a download that is not complete, and when may it be continued?
//!
//! `<name>.part` holds the bytes so far, `<name>.part.json` where they came from. A part is continued only if it
//! came from the same address and mixing two versions would be noticed: by the server, which is told the `ETag`, or
//! by the checksum afterwards.

use super::io_error;
use clariq_core::Error;
use clariq_files::write_atomically;
use serde::{Deserialize, Serialize};
use std::fs::{self, File, OpenOptions};
use std::io;
use std::path::{Path, PathBuf};

/// Where the bytes of a part came from.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Origin {
    pub(super) url: String,
    /// A strong `ETag`; weak ones say nothing about single bytes (RFC 9110, section 8.8.3.2).
    pub(super) etag: Option<String>,
    /// The size of the whole file in bytes, where the server told.
    pub(super) total: Option<u64>,
}

/// A part that may be continued.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Kept {
    pub(super) bytes: u64,
    pub(super) origin: Origin,
}

/// The two files beside a target.
#[derive(Debug, Clone)]
pub(super) struct Part {
    pub(super) path: PathBuf,
    sidecar: PathBuf,
}

impl Part {
    pub(super) fn beside(target: &Path) -> Self {
        let with = |suffix: &str| {
            let mut name = target.as_os_str().to_owned();
            name.push(suffix);
            PathBuf::from(name)
        };
        Self { path: with(".part"), sidecar: with(".part.json") }
    }

    /// What can be continued from `url`. `verifiable` says that a checksum will tell a mixture from the real file.
    pub(super) fn kept(&self, url: &str, verifiable: bool) -> Option<Kept> {
        let bytes = fs::metadata(&self.path).ok().filter(fs::Metadata::is_file)?.len();
        // A sidecar that cannot be read is no error: the download merely begins again.
        let origin: Origin = serde_json::from_slice(&fs::read(&self.sidecar).ok()?).ok()?;
        let safe = origin.url == url && (verifiable || origin.etag.is_some());
        (bytes > 0 && safe).then_some(Kept { bytes, origin })
    }

    /// An empty part for bytes from there.
    pub(super) fn begin(&self, origin: &Origin) -> Result<File, Error> {
        // The old bytes go first: they must never stand beside a sidecar that is not theirs.
        self.discard()?;
        let text = serde_json::to_vec(origin)
            .map_err(|error| io_error("write", &self.sidecar)(error.into()))?;
        write_atomically(&self.sidecar, |out| out.write_all(&text))?;
        File::create(&self.path).map_err(io_error("write", &self.path))
    }

    /// The part, to go on writing at its end.
    pub(super) fn append(&self) -> Result<File, Error> {
        OpenOptions::new().append(true).open(&self.path).map_err(io_error("write", &self.path))
    }

    /// Removes both files where they exist.
    pub(super) fn discard(&self) -> Result<(), Error> {
        remove(&self.path)?;
        remove(&self.sidecar)
    }

    /// Gives the complete part its name, in one step.
    pub(super) fn keep_as(&self, target: &Path) -> Result<(), Error> {
        let synced =
            OpenOptions::new().append(true).open(&self.path).and_then(|file| file.sync_all());
        synced.and_then(|()| fs::rename(&self.path, target)).map_err(io_error("write", target))?;
        remove(&self.sidecar)
    }
}

/// Removes a file that may not be there.
pub(super) fn remove(path: &Path) -> Result<(), Error> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(io_error("remove", path)(error))
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Write;

    fn origin(etag: Option<&str>) -> Origin {
        Origin { url: "http://host/a".to_owned(), etag: etag.map(str::to_owned), total: Some(9) }
    }

    #[test]
    fn a_part_is_continued_only_where_a_mixture_would_be_noticed() {
        let folder = tempfile::tempdir().unwrap();
        let part = Part::beside(&folder.path().join("a"));
        part.begin(&origin(None)).unwrap().write_all(b"half").unwrap();
        assert_eq!(part.kept("http://host/a", true).map(|kept| kept.bytes), Some(4));
        assert_eq!(part.kept("http://host/a", false), None);
        assert_eq!(part.kept("http://other/a", true), None);
        part.begin(&origin(Some("\"1\""))).unwrap();
        assert_eq!(part.kept("http://host/a", false), None, "nothing has come yet");
        part.append().unwrap().write_all(b"half").unwrap();
        assert!(part.kept("http://host/a", false).is_some());
    }

    #[test]
    fn a_part_of_unknown_origin_is_not_continued() {
        let folder = tempfile::tempdir().unwrap();
        let part = Part::beside(&folder.path().join("a"));
        fs::write(&part.path, "half").unwrap();
        assert_eq!(part.kept("http://host/a", true), None);
        part.discard().unwrap();
        part.discard().unwrap();
    }
}
