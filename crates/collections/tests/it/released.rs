//! Finds the files that tracks release. They are not part of the repository; tests that need them are
//! skipped without them.

use clariq_files::Source;
use std::path::{Path, PathBuf};

/// A folder of released files, or `None` after printing that the test is skipped.
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
