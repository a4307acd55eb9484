//! A cache in one file, to which every new value is appended at once: an interrupted command loses
//! nothing, and several may append.

use clariq_core::{Checksum, open_regular};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Seek, Write};
use std::os::unix::fs::{FileExt, FileTypeExt};
use std::path::Path;

/// A longer line is damaged.
const MOST_OF_AN_ENTRY: usize = 256 << 20;
/// The content of a line in the place of one that is too long.
const DAMAGED: &[u8] = b"too long";

/// Values by key. A line of the file is a checksum, a key without white space, and the value as JSON.
/// Values stay in the file until they are asked for, so that it may be larger than memory: of each, its
/// place is kept, in less than 100 bytes.
#[derive(Debug)]
pub struct Journal<T> {
    places: HashMap<KeySum, Place>,
    source: Option<File>,
    /// Values that are not in the file.
    values: HashMap<String, T>,
    target: Option<File>,
    damaged: usize,
    trouble: Option<String>,
}

/// The beginning of the checksum of a key.
type KeySum = u128;

fn sum_of(key: &str) -> KeySum {
    let digits = Checksum::of(key.as_bytes());
    u128::from_str_radix(&digits.as_str()[..32], 16).expect("a checksum has 64 digits")
}

#[derive(Debug, Clone, Copy)]
struct Place {
    start: u64,
    length: u32,
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
        let folder = path.parent().map_or(Ok(()), fs::create_dir_all);
        let target = folder.and_then(|()| open_to_append(path));
        let source = open_regular(path).ok();
        let index = source.as_ref().and_then(|file| Index::read(file, MOST_OF_AN_ENTRY).ok());
        let Index { places, damaged, is_cut } = index.unwrap_or_default();
        let mut journal = Self { places, source, damaged, ..Self::default() };
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
        self.values.contains_key(key) || self.places.contains_key(&sum_of(key))
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<T> {
        if let Some(value) = self.values.get(key) {
            return Some(value.clone());
        }
        let place = self.places.get(&sum_of(key))?;
        let mut json = vec![0; place.length as usize];
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
        let end = self.append(&format!("{} {entry}\n", checksum(&entry)));
        let place = end.filter(|_| self.source.is_some()).and_then(|end| {
            let start = end.checked_sub(1 + json.len() as u64)?;
            Some(Place { start, length: u32::try_from(json.len()).ok()? })
        });
        if let Some(place) = place {
            self.values.remove(&key);
            self.places.insert(sum_of(&key), place);
        } else {
            self.places.remove(&sum_of(&key));
            self.values.insert(key, value);
        }
    }

    /// Writes at the end of the file, and returns the new end; `None` if nothing can be written.
    fn append(&mut self, text: &str) -> Option<u64> {
        let target = self.target.as_mut()?;
        // Where others append as well, the position is that behind one's own text.
        match target.write_all(text.as_bytes()).and_then(|()| target.stream_position()) {
            Ok(end) => Some(end),
            Err(error) => {
                self.trouble = Some(error.to_string());
                self.target = None;
                None
            }
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
    places: HashMap<KeySum, Place>,
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
                    let length = (text.len() - at) as u32;
                    index.places.insert(sum_of(key), Place { start: start + at as u64, length });
                }
                None => index.damaged += usize::from(!text.is_empty()),
            }
            start += length;
        }
    }
}

/// Reads a line with its end, and returns its length; of one that is too long, nothing but the end is kept.
fn read_line(lines: &mut impl BufRead, line: &mut Vec<u8>, longest: usize) -> io::Result<u64> {
    line.clear();
    let mut length = 0;
    loop {
        let bytes = lines.fill_buf()?;
        let end = memchr::memchr(b'\n', bytes);
        let part = &bytes[..end.map_or(bytes.len(), |end| end + 1)];
        let count = part.len();
        length += count as u64;
        if length <= longest as u64 {
            line.extend_from_slice(part);
        } else {
            *line = DAMAGED.to_vec();
            line.extend(end.map(|_| b'\n'));
        }
        lines.consume(count);
        if end.is_some() || count == 0 {
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
        assert!(journal.values.is_empty(), "what is in the file is not in memory as well");
        assert_eq!(journal.get("b").unwrap().len(), 100_000);
        let index = Index::read(&File::open(&path).unwrap(), 1000).unwrap();
        assert_eq!((index.places.len(), index.damaged, index.is_cut), (2, 1, false));
        let journal = Journal::<String>::open(&path);
        assert!(journal.values.is_empty());
        assert_eq!(journal.get("b").unwrap().len(), 100_000);
        assert_eq!(journal.get("c").unwrap(), "three");
    }

    #[test]
    fn a_file_of_more_than_8_gib_is_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut journal = Journal::<String>::open(&path);
        journal.put("a".to_owned(), "before".to_owned());
        // The hole is a line without an end, and takes no space on disk.
        let size = (8 << 30) + 5;
        File::options().write(true).open(&path).unwrap().set_len(size).unwrap();
        journal.put("b".to_owned(), "behind".to_owned());
        journal.put("c".to_owned(), "last".to_owned());
        for key in ["a", "b", "c"] {
            assert!(journal.get(key).is_some(), "{key}");
        }
        assert!(journal.values.is_empty());
        assert!(journal.places[&sum_of("c")].start > size);
        let file = File::open(&path).unwrap();
        let index = Index::read(&file, 1000).unwrap();
        assert_eq!((index.places.len(), index.damaged, index.is_cut), (2, 1, false));
        // The line with the hole is damaged, and `b` with it.
        let again = Journal::<String>::open(&path);
        let found = ["a", "b", "c"].map(|key| again.get(key));
        assert_eq!(found, [Some("before".to_owned()), None, Some("last".to_owned())]);
    }

    #[test]
    fn several_append_to_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("journal");
        let mut one = Journal::<String>::open(&path);
        let mut two = Journal::<String>::open(&path);
        for number in 0..50 {
            one.put(format!("one{number}"), "1".repeat(number));
            two.put(format!("two{number}"), "2".repeat(number));
        }
        let three = Journal::<String>::open(&path);
        for number in 0..50 {
            for (name, digit) in [("one", "1"), ("two", "2")] {
                let key = format!("{name}{number}");
                let of_its_own = if name == "one" { &one } else { &two };
                for journal in [of_its_own, &three] {
                    assert_eq!(journal.get(&key).unwrap(), digit.repeat(number), "{key}");
                }
            }
        }
        assert_eq!((three.count(), three.damaged()), (100, 0));
    }
}
