//! The cache of indexes, models, vectors and generated texts.
//!
//! An entry is a folder with a [`manifest`] of its files. An entry whose files differ from the
//! manifest is made again. If vectors or texts take too much space, the least recently used entries
//! are removed.

use clariq_core::{Checksum, Error, IoAction, Observer, Result};
use clariq_files::{StagedFolder, manifest, remove_folder};
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::LazyLock;
use std::time::SystemTime;
use std::{env, fs};

/// The manifest of an entry, which `sha256sum -c SHA256SUMS` can check.
pub const SUMS: &str = "SHA256SUMS";

/// The folder of the cache: `$CLARIQ_CACHE`, or `clariq` in the user's cache folder (XDG), or in the
/// folder for temporary files.
pub fn folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("CLARIQ_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("clariq")))
        .or_else(|| env::home_dir().map(|home| home.join(".cache/clariq")))
        .unwrap_or_else(|| env::temp_dir().join("clariq"))
}

#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum CacheState {
    /// No entry exists.
    Absent,
    /// Every file is as it was written.
    Sound,
    /// A file is missing, changed or not listed, or cannot be read.
    Damaged {
        /// The file, and the difference.
        found: String,
    },
}

/// Checks every file of an entry against its manifest.
pub(crate) fn check(entry: &Path) -> CacheState {
    if !entry.exists() {
        return CacheState::Absent;
    }
    let sum = |name: &str| Checksum::of_file(&entry.join(name));
    let found = manifest::names(entry, SUMS)
        .and_then(|names| manifest::difference(entry, SUMS, &names, sum));
    match found {
        Ok(None) => CacheState::Sound,
        Ok(Some(found)) => CacheState::Damaged { found },
        Err(error) => CacheState::Damaged { found: error.to_string() },
    }
}

/// Writes the manifest of a complete folder, and puts the folder in the place of an entry.
pub(crate) fn commit(made: StagedFolder) -> Result<()> {
    let folder = made.path();
    manifest::write(folder, SUMS, &manifest::names(folder, SUMS)?)?;
    made.commit(true)
}

/// An entry of one file.
pub(crate) struct CacheEntry<'k> {
    pub(crate) entry: PathBuf,
    pub(crate) file: &'k str,
    /// Its content for messages, in the plural.
    pub(crate) what: &'k str,
}

impl CacheEntry<'_> {
    /// Reads the entry. Makes and writes it if it is missing or damaged.
    pub(crate) fn read_or_make<T>(
        &self,
        observer: &dyn Observer,
        read: impl FnOnce(&Path) -> Option<T>,
        make: impl FnOnce() -> Result<T>,
        write: impl FnOnce(&T, &Path) -> io::Result<()>,
    ) -> Result<T> {
        if let Some(found) = self.read_or_note(observer, read) {
            return Ok(found);
        }
        let made = make()?;
        // The cache is a convenience: a full disk must not stop a run that needs no file.
        let _ =
            self.write(|file| write(&made, file).map_err(Error::io(IoAction::Write, &self.entry)));
        Ok(made)
    }

    /// Reads the entry, if it exists. A damaged one is treated as missing, with a note.
    pub(crate) fn read_or_note<T>(
        &self,
        observer: &dyn Observer,
        read: impl FnOnce(&Path) -> Option<T>,
    ) -> Option<T> {
        self.read(read).unwrap_or_else(|found| {
            let folder = self.entry.display();
            let what = self.what;
            observer.note(&format!(
                "note: the {what} in {folder} are damaged and are computed again: {found}"
            ));
            None
        })
    }

    /// Reads the file of the entry by `read`, and marks the entry as used. The error describes the
    /// damage of an entry.
    pub(crate) fn read<T>(
        &self,
        read: impl FnOnce(&Path) -> Option<T>,
    ) -> Result<Option<T>, String> {
        match check(&self.entry) {
            CacheState::Sound => {
                // Best effort: without it, the entry counts as older.
                let _ = self.set_used();
                Ok(read(&self.entry.join(self.file)))
            }
            CacheState::Damaged { found } => Err(found),
            CacheState::Absent => Ok(None),
        }
    }

    /// Writes the entry, and removes entries that were not used for long.
    pub(crate) fn write(&self, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let made = StagedFolder::create(&self.entry)?;
        write(&made.path().join(self.file))?;
        commit(made)?;
        let _ = self.set_used();
        let folder = self.entry.parent().unwrap_or(Path::new("."));
        remove_unused(folder, MOST_KEPT, *FIRST_USE).map_err(Error::io(IoAction::Read, folder))
    }

    /// Marks the entry as used now.
    fn set_used(&self) -> io::Result<()> {
        let now = SystemTime::now().max(*FIRST_USE);
        set_used(&self.entry, now)
    }
}

/// The time at which this process first used an entry.
static FIRST_USE: LazyLock<SystemTime> = LazyLock::new(SystemTime::now);

/// Sets the time at which an entry was used: the modification time of its manifest.
fn set_used(entry: &Path, now: SystemTime) -> io::Result<()> {
    File::options().append(true).open(entry.join(SUMS))?.set_modified(now)
}

/// The maximum size of all entries in a folder, such as all vectors.
const MOST_KEPT: u64 = 16 << 30;

/// Removes the least recently used entries of a folder until the others have at most `most` bytes.
/// Entries that were used since `since` stay: the entries of one run must not displace each other.
/// Another process that uses a removed entry computes it again.
fn remove_unused(folder: &Path, most: u64, since: SystemTime) -> io::Result<()> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(folder)? {
        let entry = entry?;
        let is_temporary = entry.file_name().as_encoded_bytes().starts_with(b".");
        let Ok(files) = fs::read_dir(entry.path()) else { continue };
        if is_temporary {
            continue;
        }
        let size: io::Result<u64> = files.map(|file| Ok(file?.metadata()?.len())).sum();
        let used = fs::metadata(entry.path().join(SUMS)).or_else(|_| entry.metadata())?;
        entries.push((used.modified()?, size?, entry.path()));
    }
    entries.sort_unstable_by(|a, b| b.cmp(a));
    let mut bytes = 0;
    for (used, size, entry) in entries {
        bytes += size;
        if used < since && bytes > most {
            let _ = remove_folder(&entry);
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::path::Path;

    fn stored(folder: &Path) -> PathBuf {
        let entry = folder.join("entry");
        let made = StagedFolder::create(&entry).unwrap();
        fs::create_dir_all(made.path().join("below")).unwrap();
        fs::write(made.path().join("a.bin"), [0; 1000]).unwrap();
        fs::write(made.path().join("below/b.txt"), "b").unwrap();
        commit(made).unwrap();
        entry
    }

    #[test]
    fn a_changed_entry_is_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let entry = stored(folder.path());
        assert_eq!(check(&entry), CacheState::Sound);
        fs::write(entry.join("below/b.txt"), "").unwrap();
        assert!(matches!(check(&entry), CacheState::Damaged { .. }));
    }

    #[test]
    fn an_entry_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let entry = stored(folder.path());
        fs::write(entry.join("a.bin"), "damaged").unwrap();
        assert_eq!(check(&stored(folder.path())), CacheState::Sound);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        remove_folder(&entry).unwrap();
        assert_eq!(check(&entry), CacheState::Absent);
    }

    #[test]
    fn entries_unused_for_longest_are_removed_first() {
        let folder = tempfile::tempdir().unwrap();
        let entry =
            |name: &str| CacheEntry { entry: folder.path().join(name), file: "f", what: "texts" };
        let write_entry = |name: &str| {
            let write = |file: &Path| {
                fs::write(file, [0; 1000]).unwrap();
                Ok(())
            };
            entry(name).write(write).unwrap();
        };
        let list = || {
            let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
            let mut names: Vec<_> =
                entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
            names.sort();
            names.concat()
        };
        for (name, age) in [("a", 3), ("b", 2), ("c", 1)] {
            write_entry(name);
            let then = SystemTime::now() - std::time::Duration::from_secs(3600 * age);
            set_used(&entry(name).entry, then).unwrap();
        }
        fs::write(folder.path().join("z"), "no entry").unwrap();
        assert_eq!(entry("a").read(|file| fs::read(file).ok()).unwrap().unwrap().len(), 1000);
        remove_unused(folder.path(), 4000, *FIRST_USE).unwrap();
        assert_eq!(list(), "abcz", "there is room for all");
        remove_unused(folder.path(), 2500, *FIRST_USE).unwrap();
        assert_eq!(list(), "acz", "`a` was read after `b`");
        write_entry("d");
        remove_unused(folder.path(), 10, *FIRST_USE).unwrap();
        assert_eq!(list(), "adz", "entries used by this process stay");
    }
}
