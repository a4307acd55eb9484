//! The identity of a file, whatever its path, and the folder of a path.
//!
//! The crate `same-file` compares files that it keeps open: a process may have more inputs than it may
//! have open files, and opening a pipe would wait for its other end.

use std::fs::{self, File, Metadata};
use std::os::unix::fs::MetadataExt;
use std::path::Path;

/// The device and the number of a file on it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub(crate) struct FileIdentity {
    device: u64,
    inode: u64,
}

impl From<Metadata> for FileIdentity {
    fn from(found: Metadata) -> Self {
        Self { device: found.dev(), inode: found.ino() }
    }
}

/// True if the file that is open is the one at a path.
pub(crate) fn is_at(file: &File, path: &Path) -> bool {
    match (file.metadata(), fs::symlink_metadata(path)) {
        (Ok(open), Ok(named)) => FileIdentity::from(open) == FileIdentity::from(named),
        _ => false,
    }
}

/// The folder that a path is in; the current one for a name alone.
pub(crate) fn folder_of(path: &Path) -> &Path {
    path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."))
}
