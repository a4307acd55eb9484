//! Where the files that tracks release are. They are no part of the repository, and tests that need
//! them skip.

use clariq_files::Source;
use std::path::{Path, PathBuf};

/// A folder of released files, or `None` with a line that says so.
pub(crate) fn released(name: &str) -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared").join(name);
    if folder.is_dir() {
        return Some(folder.canonicalize().expect("a folder"));
    }
    println!("skipped: the released files are not in {}", folder.display());
    None
}

/// A file of such a folder.
pub(crate) fn file(folder: &Path, name: &str) -> Source {
    Source::new(folder.join(name))
}
