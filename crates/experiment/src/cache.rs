//! The cache of indexes, models, vectors and generated texts.
//!
//! An entry is a folder with a [`manifest`] of its files. An entry whose files differ from the
//! manifest is made again. If vectors or texts take too much space, the least recently used entries
//! are removed.

use clariq_core::{
    AddText, Checksum, Documents, Error, IoAction, Observer, Result, TextKeeper, sha256_of_file,
};
use clariq_files::{manifest, with_ending, write_atomically};
use clariq_index::{BuildOptions, TextStore};
use std::fs::File;
use std::io::{self, Write};
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
    let sum = |name: &str| sha256_of_file(&entry.join(name));
    let found = manifest::names(entry, SUMS)
        .and_then(|names| manifest::difference(entry, SUMS, &names, sum));
    match found {
        Ok(None) => CacheState::Sound,
        Ok(Some(found)) => CacheState::Damaged { found },
        Err(error) => CacheState::Damaged { found: error.to_string() },
    }
}

/// Writes the manifest of a complete folder, and puts the folder in the place of an entry.
pub(crate) fn store(made: &Path, entry: &Path) -> Result<()> {
    manifest::write(made, SUMS, &manifest::names(made, SUMS)?)?;
    remove(entry)?;
    fs::rename(made, entry).map_err(Error::io(IoAction::Write, entry))
}

/// Removes an entry. It is renamed first, so that an interrupted removal leaves no incomplete
/// entry.
pub(crate) fn remove(entry: &Path) -> Result<()> {
    if !entry.exists() {
        return Ok(());
    }
    let aside = beside(entry, "old");
    fs::rename(entry, &aside)
        .and_then(|()| fs::remove_dir_all(&aside))
        .map_err(Error::io(IoAction::Write, entry))
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
        write: impl FnOnce(&T, &mut dyn Write) -> io::Result<()>,
    ) -> Result<T> {
        if let Some(found) = self.read_or_note(observer, read) {
            return Ok(found);
        }
        let made = make()?;
        // The cache is a convenience: a full disk must not stop a run that needs no file.
        let _ = self.write(|out| write(&made, out));
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
    pub(crate) fn write(&self, fill: impl FnOnce(&mut dyn Write) -> io::Result<()>) -> Result<()> {
        let made = beside(&self.entry, "made");
        self.write_in(&made, fill).inspect_err(|_| {
            let _ = fs::remove_dir_all(&made);
        })?;
        let _ = self.set_used();
        let folder = self.entry.parent().unwrap_or(Path::new("."));
        remove_unused(folder, MOST_KEPT, *FIRST_USE).map_err(Error::io(IoAction::Read, folder))
    }

    /// Writes the file to the folder `made`, which then becomes the entry.
    fn write_in(
        &self,
        made: &Path,
        fill: impl FnOnce(&mut dyn Write) -> io::Result<()>,
    ) -> Result<()> {
        fs::create_dir_all(made).map_err(Error::io(IoAction::Write, made))?;
        write_atomically(&made.join(self.file), fill)?;
        store(made, &self.entry)
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
        let Ok(files) = fs::read_dir(entry.path()) else { continue };
        let size: io::Result<u64> = files.map(|file| Ok(file?.metadata()?.len())).sum();
        let used = fs::metadata(entry.path().join(SUMS)).or_else(|_| entry.metadata())?;
        entries.push((used.modified()?, size?, entry.path()));
    }
    entries.sort_unstable_by(|a, b| b.cmp(a));
    let mut bytes = 0;
    for (used, size, entry) in entries {
        bytes += size;
        if used < since && bytes > most {
            let _ = remove(&entry);
        }
    }
    Ok(())
}

/// A path beside an entry that no other process uses.
pub(crate) fn beside(entry: &Path, ending: &str) -> PathBuf {
    with_ending(entry, &format!(".{}.{ending}", std::process::id()))
}

/// Below this size, packed or not, files of documents are read into memory.
const MOST_IN_MEMORY: u64 = 512 << 20;

/// Stores of texts in the cache.
#[derive(Debug, Clone)]
pub struct TextStores {
    /// The folder of the cache; the stores are in its subfolder `texts`.
    pub cache: PathBuf,
    /// The size in bytes from which on the texts of files are stored on disk.
    pub min_bytes: u64,
}

impl Default for TextStores {
    /// In the user's cache, from 512 MiB on.
    fn default() -> Self {
        Self { cache: folder(), min_bytes: MOST_IN_MEMORY }
    }
}

impl TextKeeper for TextStores {
    fn takes(&self, bytes: u64) -> bool {
        bytes >= self.min_bytes
    }

    fn keep(
        &self,
        source: &Checksum,
        fill: &dyn Fn(AddText) -> Result<()>,
    ) -> Result<Box<dyn Documents>> {
        let folder = self.cache.join("texts").join(source.short());
        let memory = BuildOptions::default().memory;
        Ok(Box::new(TextStore::open_or_build(&folder, source, memory, fill)?))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_collections::Collection as _;
    use clariq_core::Doc;
    use clariq_files::Source;
    use clariq_track_ikat::{Ikat, PASSAGES};
    use std::fmt::Write as _;
    use std::fs;
    use std::path::Path;

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
        remove(&entry).unwrap();
        assert_eq!(check(&entry), CacheState::Absent);
    }

    #[test]
    fn entries_unused_for_longest_are_removed_first() {
        let folder = tempfile::tempdir().unwrap();
        let entry =
            |name: &str| CacheEntry { entry: folder.path().join(name), file: "f", what: "texts" };
        let list = || {
            let entries = fs::read_dir(folder.path()).unwrap().map(|entry| entry.unwrap());
            let mut names: Vec<_> =
                entries.map(|entry| entry.file_name().into_string().unwrap()).collect();
            names.sort();
            names.concat()
        };
        for (name, age) in [("a", 3), ("b", 2), ("c", 1)] {
            entry(name).write(|out| out.write_all(&[0; 1000])).unwrap();
            let then = SystemTime::now() - std::time::Duration::from_secs(3600 * age);
            set_used(&entry(name).entry, then).unwrap();
        }
        fs::write(folder.path().join("z"), "no entry").unwrap();
        assert_eq!(entry("a").read(|file| fs::read(file).ok()).unwrap().unwrap().len(), 1000);
        remove_unused(folder.path(), 4000, *FIRST_USE).unwrap();
        assert_eq!(list(), "abcz", "there is room for all");
        remove_unused(folder.path(), 2500, *FIRST_USE).unwrap();
        assert_eq!(list(), "acz", "`a` was read after `b`");
        entry("d").write(|out| out.write_all(&[0; 1000])).unwrap();
        remove_unused(folder.path(), 10, *FIRST_USE).unwrap();
        assert_eq!(list(), "adz", "entries used by this process stay");
    }

    /// Writes the sample as a folder, with its passages shuffled and some of them twice.
    fn write_sample(folder: &Path) -> Ikat {
        let sample = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
        let passages = sample.ranked_in(PASSAGES);
        let mut lines: Vec<String> = Doc::all(passages.len())
            .map(|doc| {
                let (id, text) = (passages.id(doc), passages.text(doc).unwrap());
                serde_json::json!({ "id": id, "contents": text }).to_string()
            })
            .collect();
        lines.extend_from_within(3..9);
        lines.sort_by_key(|line| clariq_core::sha256([line.as_bytes()]));
        fs::write(folder.join("passages.jsonl"), lines.join("\n")).unwrap();
        sample
    }

    fn keeper(folder: &Path, min_bytes: u64) -> TextStores {
        TextStores { cache: folder.join("cache"), min_bytes }
    }

    #[test]
    fn passages_stored_on_disk_equal_those_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut sample = write_sample(folder.path());
        let texts = |collection: &Ikat| -> Vec<[String; 2]> {
            let passages = collection.ranked_in(PASSAGES);
            let text = |doc| [passages.id(doc), passages.text(doc).unwrap()].map(Into::into);
            assert!(
                Doc::all(passages.len()).all(|doc| passages.find(&passages.id(doc)) == Some(doc))
            );
            Doc::all(passages.len()).map(text).collect()
        };
        let expected = texts(&sample);
        let file = Source::new(folder.path().join("passages.jsonl"));
        // In the last round, the store exists already.
        for min_bytes in [u64::MAX, 0, 0] {
            let keeper = keeper(folder.path(), min_bytes);
            sample.take_passages(std::slice::from_ref(&file), None, &keeper).unwrap();
            assert_eq!(texts(&sample), expected);
            assert_eq!(folder.path().join("cache/texts").exists(), min_bytes == 0);
        }
    }

    #[test]
    fn reading_files_in_parallel_keeps_their_order() {
        let folder = tempfile::tempdir().unwrap();
        let keeper = keeper(folder.path(), 0);
        let write = |number: usize, line: &str| {
            let path = folder.path().join(format!("{number:02}.jsonl.gz"));
            write_atomically(&path, |out| {
                (0..50).try_for_each(|row| {
                    let (id, text) = (50 * number + row, row * number);
                    writeln!(out, "{{\"id\": \"a:{id:04}\", \"contents\": \"{text}\"}}")
                })?;
                out.write_all(line.as_bytes())
            })
            .unwrap();
            Source::new(path)
        };
        let mut sample = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
        let mut files: Vec<_> = (0..20).map(|number| write(number, "")).collect();
        sample.take_passages(&files, None, &keeper).unwrap();
        let passages = sample.ranked_in(PASSAGES);
        assert_eq!(passages.len(), 1000);
        for doc in Doc::all(1000) {
            assert_eq!(passages.id(doc), format!("a:{:04}", doc.0));
            assert_eq!(passages.text(doc).unwrap(), (doc.0 % 50 * (doc.0 / 50)).to_string());
        }
        // The first of two errors is reported, whichever is found first.
        for number in [3, 17] {
            files[number] = write(number, "no passage\n");
        }
        for _ in 0..10 {
            let taken = sample.take_passages(&files, None, &keeper);
            let error = taken.unwrap_err().to_string();
            assert!(error.contains("03.jsonl.gz:51: "), "{error}");
        }
    }

    #[test]
    fn a_passage_with_two_texts_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let mut text = String::new();
        for words in ["one", "two"] {
            let _ = writeln!(text, "{{\"id\": \"a:1\", \"contents\": \"{words}\"}}");
        }
        let path = folder.path().join("passages.jsonl");
        fs::write(&path, text).unwrap();
        let mut sample = Ikat::open(clariq_track_ikat::SAMPLE, None).unwrap();
        for min_bytes in [u64::MAX, 0] {
            let keeper = keeper(folder.path(), min_bytes);
            let taken = sample.take_passages(&[Source::new(&path)], None, &keeper);
            let error = taken.unwrap_err().to_string();
            assert!(error.contains("passages.jsonl:2: "), "{error}");
            assert!(error.contains("`a:1` with another text"), "{error}");
        }
        let stores = fs::read_dir(folder.path().join("cache/texts")).unwrap();
        assert_eq!(stores.count(), 0, "the incomplete store is removed");
    }
}
