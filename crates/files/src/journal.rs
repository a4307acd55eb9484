//! A cache in one file, to which every new value is appended at once: an interrupted command loses
//! nothing, and several may append.

use clariq_core::{Checksum, open_regular};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;

/// A longer line is damaged.
const MOST_OF_AN_ENTRY: usize = 256 << 20;

/// Values by key. A line of the file is a checksum, a key without white space, and the value as JSON.
/// Values of earlier commands stay in the file until they are asked for, so that it may be larger than
/// memory.
#[derive(Debug)]
pub struct Journal<T> {
    /// The places of the values in the file when it was opened.
    places: HashMap<String, Place>,
    source: Option<File>,
    values: HashMap<String, T>,
    target: Option<File>,
    damaged: usize,
    trouble: Option<String>,
}

#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    length: usize,
}

impl<T> Default for Journal<T> {
    /// A journal without a file.
    fn default() -> Self {
        Self {
            places: HashMap::new(),
            source: None,
            values: HashMap::new(),
            target: None,
            damaged: 0,
            trouble: None,
        }
    }
}

impl<T: Serialize + DeserializeOwned + Clone> Journal<T> {
    /// Opens or creates a file.
    pub fn open(path: &Path) -> Self {
        let source = open_regular(path).ok();
        let index = source.as_ref().and_then(|file| Index::read(file, MOST_OF_AN_ENTRY).ok());
        let Index { places, damaged, is_cut } = index.unwrap_or_default();
        let mut journal = Self { places, source, damaged, ..Self::default() };
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        let target = folder.and_then(|()| open_to_append(path));
        match target {
            Ok(target) => journal.target = Some(target),
            Err(error) => journal.trouble = Some(error.to_string()),
        }
        if is_cut {
            // The last line was cut: the next one must not continue it.
            journal.append("\n");
        }
        journal
    }

    /// The number of damaged lines, which are ignored.
    pub fn damaged(&self) -> usize {
        self.damaged
    }

    /// The reason why values are no longer written, and only kept in memory.
    pub fn trouble(&self) -> Option<&str> {
        self.trouble.as_deref()
    }

    /// The number of values.
    pub fn count(&self) -> usize {
        self.places.len() + self.values.len()
    }

    /// True if there is a value of a key.
    pub fn has(&self, key: &str) -> bool {
        self.values.contains_key(key) || self.places.contains_key(key)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<T> {
        if let Some(value) = self.values.get(key) {
            return Some(value.clone());
        }
        let place = self.places.get(key)?;
        let mut json = vec![0; place.length];
        self.source.as_ref()?.read_exact_at(&mut json, place.start).ok()?;
        serde_json::from_slice(&json).ok()
    }

    /// Adds a value, and appends it to the file. After the first failure nothing more is written.
    ///
    /// # Panics
    ///
    /// The value cannot be JSON.
    pub fn put(&mut self, key: String, value: T) {
        let json = serde_json::to_string(&value).expect("plain data");
        let entry = format!("{key} {json}");
        // One write, so that lines of several processes do not mix.
        self.append(&format!("{} {entry}\n", checksum(&entry)));
        self.places.remove(&key);
        self.values.insert(key, value);
    }

    fn append(&mut self, text: &str) {
        let Some(target) = &mut self.target else { return };
        if let Err(error) = target.write_all(text.as_bytes()) {
            self.trouble = Some(error.to_string());
            self.target = None;
        }
    }
}

/// Opens or creates a file. A pipe would be waited for until somebody reads it.
fn open_to_append(path: &Path) -> io::Result<File> {
    if fs::metadata(path).is_ok_and(|found| found.file_type().is_fifo()) {
        return Err(io::Error::new(io::ErrorKind::InvalidInput, "it is a pipe"));
    }
    File::options().append(true).create(true).open(path)
}

/// The content of a file.
#[derive(Default)]
struct Index {
    places: HashMap<String, Place>,
    damaged: usize,
    /// True if the last line has no end.
    is_cut: bool,
}

impl Index {
    fn read(file: &File, longest: usize) -> io::Result<Self> {
        let mut index = Self::default();
        let mut lines = BufReader::with_capacity(1 << 16, file);
        let mut line = Vec::new();
        let mut start = 0;
        loop {
            let length = read_line(&mut lines, &mut line, longest)?;
            if length == 0 {
                return Ok(index);
            }
            index.is_cut = !line.ends_with(b"\n");
            let text = line.strip_suffix(b"\n").unwrap_or(&line);
            match parse(text) {
                Some((key, at)) => {
                    let place = Place { start: start + at as u64, length: text.len() - at };
                    index.places.insert(key.to_owned(), place);
                }
                None => index.damaged += usize::from(!text.is_empty()),
            }
            start += length;
        }
    }
}

/// Reads a line with its end, and returns its length; of one that is too long, the first bytes and the
/// end are kept.
fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>, longest: usize) -> io::Result<u64> {
    line.clear();
    let mut length = 0;
    loop {
        let bytes = lines.fill_buf()?;
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.map_or(bytes.len(), |end| end + 1)];
        if line.len() + part.len() <= longest || end.is_some() {
            line.extend_from_slice(part);
        }
        let count = part.len();
        let is_last = end.is_some() || part.is_empty();
        length += count as u64;
        lines.consume(count);
        if is_last {
            return Ok(length);
        }
    }
}

fn checksum(entry: &str) -> String {
    Checksum::of_pieces([entry.as_bytes()]).short().to_owned()
}

/// The key of a line and the position of its value; `None` if it is damaged.
fn parse(line: &[u8]) -> Option<(&str, usize)> {
    let (sum, entry) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    if sum != checksum(entry) {
        return None;
    }
    let (key, json) = entry.split_once(' ')?;
    Some((key, line.len() - json.len()))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::process::Command;

    #[test]
    fn values_are_written_at_once_and_damaged_lines_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/journal");
        let mut one = Journal::<String>::open(&path);
        one.put("a".to_owned(), "first line\nsecond".to_owned());
        one.put("b".to_owned(), "old".to_owned());
        one.put("b".to_owned(), "new".to_owned());
        assert_eq!((one.damaged(), one.trouble()), (0, None));
        // The first journal is still open.
        let mut two = Journal::<String>::open(&path);
        assert_eq!((two.get("a").unwrap().as_str(), two.damaged()), ("first line\nsecond", 0));
        assert_eq!(two.get("b").unwrap(), "new");
        two.put("c".to_owned(), "kept".to_owned());
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let mut cut = Journal::<String>::open(&path);
        assert_eq!((cut.get("c"), cut.has("c"), cut.damaged()), (None, false, 1));
        cut.put("d".to_owned(), "after".to_owned());
        fs::write(&path, fs::read_to_string(&path).unwrap().replace("new", "now")).unwrap();
        let last = Journal::<String>::open(&path);
        assert_eq!((last.get("d").unwrap().as_str(), last.damaged()), ("after", 2));
        assert_eq!(last.get("b").unwrap(), "old", "the damaged line counts as missing");
    }

    #[test]
    fn a_journal_that_cannot_be_written_works_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let mut journal = Journal::<u8>::open(folder.path());
        journal.put("a".to_owned(), 1);
        assert_eq!((journal.get("a"), journal.damaged()), (Some(1), 0));
        assert_eq!(journal.trouble(), Some("Is a directory (os error 21)"));
        let pipe = folder.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
        assert_eq!(Journal::<u8>::open(&pipe).trouble(), Some("it is a pipe"));
        // Every write to this device fails as on a full disk.
        let mut full = Journal::<u8>::open(Path::new("/dev/full"));
        assert_eq!(full.trouble(), None);
        full.put("a".to_owned(), 1);
        full.put("b".to_owned(), 2);
        assert_eq!((full.get("a"), full.get("b")), (Some(1), Some(2)));
        assert_eq!(full.trouble(), Some("No space left on device (os error 28)"));
    }

    #[test]
    fn values_stay_in_the_file_and_lines_that_are_too_long_are_damaged() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::<String>::open(&path);
        journal.put("a".to_owned(), "one".to_owned());
        journal.put("b".to_owned(), "x".repeat(100_000));
        journal.put("c".to_owned(), "three".to_owned());
        let index = Index::read(&File::open(&path).unwrap(), 1000).unwrap();
        assert_eq!((index.places.len(), index.damaged, index.is_cut), (2, 1, false));
        let journal = Journal::<String>::open(&path);
        assert!(journal.values.is_empty());
        assert_eq!(journal.get("b").unwrap().len(), 100_000);
        assert_eq!(journal.get("c").unwrap(), "three");
    }
}
