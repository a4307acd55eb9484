//! A temporary folder with the files of a test. The tests of other crates include this file.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

/// A temporary folder.
pub(crate) struct Folder(TempDir);

/// The root of the workspace.
pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

impl Folder {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().expect("a temporary folder"))
    }

    /// A folder with a copy of the sample collection in `data`.
    pub(crate) fn with_sample() -> Self {
        let folder = Self::new();
        folder.copy("data/sample", "data");
        folder
    }

    /// Copies a folder of the workspace.
    pub(crate) fn copy(&self, from: &str, to: &str) {
        let source = root().join(from);
        for entry in
            fs::read_dir(&source).unwrap_or_else(|error| panic!("{}: {error}", source.display()))
        {
            let path = entry.expect("an entry").path();
            let name = path.file_name().expect("a name").to_string_lossy();
            if path.is_dir() {
                self.copy(&format!("{from}/{name}"), &format!("{to}/{name}"));
            } else {
                self.write(&format!("{to}/{name}"), fs::read(&path).expect("a file"));
            }
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, content: impl AsRef<[u8]>) {
        let path = self.path(name);
        fs::create_dir_all(path.parent().expect("a folder")).expect("created");
        fs::write(path, content).expect("written");
    }

    pub(crate) fn read(&self, name: &str) -> Vec<u8> {
        fs::read(self.path(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8(self.read(name)).expect("UTF-8")
    }

    pub(crate) fn json(&self, name: &str) -> Value {
        serde_json::from_slice(&self.read(name)).unwrap_or_else(|error| panic!("{name}: {error}"))
    }

    /// Rewrites a text file.
    pub(crate) fn edit(&self, name: &str, change: impl FnOnce(String) -> String) {
        let changed = change(self.text(name));
        self.write(name, changed);
    }

    pub(crate) fn remove(&self, name: &str) {
        fs::remove_file(self.path(name)).expect("removed");
    }

    /// Writes the topics of 2023's test and the passages of iKAT's sample into a folder, after a change
    /// of the topics.
    pub(crate) fn write_ikat(&self, folder: &str, change: impl FnOnce(&mut Vec<Value>)) {
        let read = |name: &str| {
            fs::read(root().join("data/sample-ikat").join(name)).expect("a file of the sample")
        };
        let topics = "2023_test_topics.json";
        let mut all: Vec<Value> = serde_json::from_slice(&read(topics)).expect("topics");
        change(&mut all);
        self.write(&format!("{folder}/{topics}"), Value::from(all).to_string());
        self.write(&format!("{folder}/passages.jsonl"), read("passages.jsonl"));
    }

    /// Every file outside the cache, by its path, and every other entry with empty content.
    pub(crate) fn snapshot(&self) -> BTreeMap<PathBuf, Vec<u8>> {
        let mut all = BTreeMap::new();
        let mut folders = vec![self.path("")];
        while let Some(folder) = folders.pop() {
            for entry in fs::read_dir(folder).expect("a folder") {
                let path = entry.expect("an entry").path();
                if path.is_dir() && path != self.path("cache") {
                    folders.push(path.clone());
                }
                let content =
                    if path.is_file() { fs::read(&path).expect("a file") } else { Vec::new() };
                all.insert(path, content);
            }
        }
        all.remove(&self.path("cache"));
        all
    }
}
