//! A cache in one file, to which every new value is appended at once: an interrupted command loses
//! nothing, and several may append.

use clariq_core::{read_regular, sha256};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::collections::HashMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::Path;

/// The maximum size of the file in bytes.
pub const MOST_OF_A_JOURNAL: u64 = 8 << 30;

/// Values by key. A line of the file is a checksum, a key without white space, and the value as JSON.
#[derive(Debug)]
pub struct Journal<T> {
    values: HashMap<String, T>,
    /// `None` if nothing can be written; values are then only kept in memory.
    file: Option<File>,
}

impl<T> Default for Journal<T> {
    /// A journal without a file.
    fn default() -> Self {
        Self { values: HashMap::new(), file: None }
    }
}

impl<T: Serialize + DeserializeOwned> Journal<T> {
    /// Opens or creates a file. Also returns the number of damaged lines, which are ignored.
    pub fn open(path: &Path) -> (Self, usize) {
        let bytes = read_regular(path, MOST_OF_A_JOURNAL).unwrap_or_default();
        let mut values = HashMap::new();
        let mut damaged = 0;
        for line in bytes.split(|&byte| byte == b'\n').filter(|line| !line.is_empty()) {
            match parse(line) {
                Some((key, value)) => {
                    values.insert(key, value);
                }
                None => damaged += 1,
            }
        }
        let folder = path.parent().map(fs::create_dir_all);
        let file = folder.and_then(Result::ok);
        let file = file.and_then(|()| File::options().append(true).create(true).open(path).ok());
        if let Some(mut file) =
            file.as_ref().filter(|_| bytes.last().is_some_and(|&end| end != b'\n'))
        {
            // The last line was cut: the next one must not continue it.
            let _ = file.write_all(b"\n");
        }
        (Self { values, file }, damaged)
    }

    /// The value of a key.
    pub fn get(&self, key: &str) -> Option<&T> {
        self.values.get(key)
    }

    /// Adds a value, and appends it to the file, best effort.
    pub fn put(&mut self, key: String, value: T) {
        if let Some(file) = &mut self.file
            && let Ok(json) = serde_json::to_string(&value)
        {
            let entry = format!("{key} {json}");
            // One write, so that lines of several processes do not mix.
            let _ = file.write_all(format!("{} {entry}\n", checksum(&entry)).as_bytes());
        }
        self.values.insert(key, value);
    }
}

fn checksum(entry: &str) -> String {
    sha256([entry.as_bytes()]).short().to_owned()
}

fn parse<T: DeserializeOwned>(line: &[u8]) -> Option<(String, T)> {
    let (sum, entry) = std::str::from_utf8(line).ok()?.split_once(' ')?;
    if sum != checksum(entry) {
        return None;
    }
    let (key, json) = entry.split_once(' ')?;
    Some((key.to_owned(), serde_json::from_str(json).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_written_at_once_and_damaged_lines_are_ignored() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("new/journal");
        let (mut one, damaged) = Journal::<String>::open(&path);
        one.put("a".to_owned(), "first line\nsecond".to_owned());
        one.put("b".to_owned(), "old".to_owned());
        one.put("b".to_owned(), "new".to_owned());
        assert_eq!(damaged, 0);
        // The first journal is still open.
        let (mut two, damaged) = Journal::<String>::open(&path);
        assert_eq!((two.get("a").unwrap().as_str(), damaged), ("first line\nsecond", 0));
        assert_eq!(two.get("b").unwrap(), "new");
        two.put("c".to_owned(), "kept".to_owned());
        let whole = fs::read_to_string(&path).unwrap();
        fs::write(&path, &whole[..whole.len() - 3]).unwrap();
        let (mut cut, damaged) = Journal::<String>::open(&path);
        assert_eq!((cut.get("c"), damaged), (None, 1));
        cut.put("d".to_owned(), "after".to_owned());
        fs::write(&path, fs::read_to_string(&path).unwrap().replace("new", "now")).unwrap();
        let (last, damaged) = Journal::<String>::open(&path);
        assert_eq!((last.get("d").unwrap().as_str(), damaged), ("after", 2));
        assert_eq!(last.get("b").unwrap(), "old", "the damaged line counts as missing");
    }

    #[test]
    fn a_journal_that_cannot_be_written_works_in_memory() {
        let folder = tempfile::tempdir().unwrap();
        let (mut journal, damaged) = Journal::<u8>::open(folder.path());
        journal.put("a".to_owned(), 1);
        assert_eq!((journal.get("a"), damaged), (Some(&1), 0));
    }
}
