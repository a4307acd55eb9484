//! The folders of the tests' models, and copies of them that a test may change.

use clariq_core::{Error, Problem};
use serde_json::{Value, json};
use std::fs;
use std::path::{Path, PathBuf};
use tempfile::TempDir;

pub(crate) fn data() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data")
}

/// A BERT of two layers.
pub(crate) fn tiny() -> PathBuf {
    data().join("tiny")
}

/// A copy of a folder of the tests' data.
pub(crate) fn copy(name: &str) -> TempDir {
    let folder = TempDir::new().unwrap();
    for entry in fs::read_dir(data().join(name)).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    folder
}

pub(crate) fn put(folder: &Path, file: &str, content: &Value) {
    let at = folder.join(file);
    fs::create_dir_all(at.parent().unwrap()).unwrap();
    fs::write(at, content.to_string()).unwrap();
}

pub(crate) fn change(folder: &Path, file: &str, change: impl FnOnce(&mut Value)) {
    let mut content = serde_json::from_slice(&fs::read(folder.join(file)).unwrap()).unwrap();
    change(&mut content);
    put(folder, file, &content);
}

/// An entry of `modules.json`.
pub(crate) fn module(path: &str, class: &str) -> Value {
    json!({ "path": path, "type": format!("sentence_transformers.models.{class}") })
}

/// The problem with which a model is refused.
pub(crate) fn problem_of<T>(opened: Result<T, Error>) -> Problem {
    match opened {
        Err(Error::Problem(problem)) => *problem,
        Err(other) => panic!("another error: {other}"),
        Ok(_) => panic!("it was accepted"),
    }
}
