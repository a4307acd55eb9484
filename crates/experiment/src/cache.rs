//! The cache: where indexes, models and vectors are kept between runs.
//!
//! An entry is a folder with a [`manifest`], which is written before the folder takes its name. An
//! entry whose files differ from it is made again.

use clariq_core::{Error, sha256_of_file};
use clariq_files::manifest;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The list of an entry's files; `sha256sum -c SHA256SUMS` checks the same.
pub const SUMS: &str = "SHA256SUMS";

/// `$CLARIQ_CACHE`, or `clariq` in the user's cache folder (XDG base directories), or in the folder
/// for temporary files.
pub fn folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("CLARIQ_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("clariq")))
        .or_else(|| env::home_dir().map(|home| home.join(".cache/clariq")))
        .unwrap_or_else(|| env::temp_dir().join("clariq"))
}

/// The state of an entry.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// There is none.
    Absent,
    /// Every file is as it was written.
    Sound,
    /// A file is missing, changed or not listed, or cannot be read.
    Damaged {
        /// Which, and how it differs.
        found: String,
    },
}

/// Checks every file of an entry against the list.
pub(crate) fn check(entry: &Path) -> State {
    if !entry.exists() {
        return State::Absent;
    }
    let sum = |name: &str| sha256_of_file(&entry.join(name));
    let found = manifest::names(entry, SUMS)
        .and_then(|names| manifest::difference(entry, SUMS, &names, sum));
    match found {
        Ok(None) => State::Sound,
        Ok(Some(found)) => State::Damaged { found },
        Err(error) => State::Damaged { found: error.to_string() },
    }
}

/// Writes the list of a folder that is complete, and gives it its place; what is there already is
/// removed first.
pub(crate) fn store(made: &Path, entry: &Path) -> Result<(), Error> {
    manifest::write(made, SUMS, &manifest::names(made, SUMS)?)?;
    remove(entry)?;
    fs::rename(made, entry).map_err(Error::io("create", entry))
}

/// Removes an entry by way of another name, so that no half of it ever stands under its own.
pub(crate) fn remove(entry: &Path) -> Result<(), Error> {
    if !entry.exists() {
        return Ok(());
    }
    let aside = beside(entry, "old");
    fs::rename(entry, &aside)
        .and_then(|()| fs::remove_dir_all(&aside))
        .map_err(Error::io("replace", entry))
}

/// A folder beside an entry that no other process uses.
pub(crate) fn beside(entry: &Path, ending: &str) -> PathBuf {
    let mut name = entry.as_os_str().to_owned();
    name.push(format!(".{}.{ending}", std::process::id()));
    PathBuf::from(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(folder: &Path) -> PathBuf {
        let (made, entry) = (folder.join("made"), folder.join("entry"));
        fs::create_dir_all(made.join("below")).unwrap();
        fs::write(made.join("a.bin"), [0; 1000]).unwrap();
        fs::write(made.join("below/b.txt"), "b").unwrap();
        store(&made, &entry).unwrap();
        entry
    }

    #[test]
    fn a_changed_entry_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let entry = stored(folder.path());
        assert_eq!(check(&entry), State::Sound);
        fs::write(entry.join("below/b.txt"), "").unwrap();
        assert!(matches!(check(&entry), State::Damaged { .. }));
    }

    #[test]
    fn an_entry_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let entry = stored(folder.path());
        fs::write(entry.join("a.bin"), "damaged").unwrap();
        assert_eq!(check(&stored(folder.path())), State::Sound);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        remove(&entry).unwrap();
        assert_eq!(check(&entry), State::Absent);
    }
}
