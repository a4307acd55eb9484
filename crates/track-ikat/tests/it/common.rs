//! The released iKAT files, if they are present.

use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

/// The folder with the released files; without it, a line says that the test is skipped.
pub(crate) fn released() -> Option<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/ikat");
    if folder.join("golden").is_dir() {
        return Some(folder);
    }
    println!("skipped: the released files are not in {}", folder.display());
    None
}

/// The canonical passages by id, without the white space around them.
pub(crate) fn passages(released: &Path) -> BTreeMap<String, String> {
    let mut passages = BTreeMap::new();
    for split in ["train", "test"] {
        let path = released.join(format!("passages/2023_{split}_topics_psg_text.jsonl"));
        for line in fs::read_to_string(path).expect("passages").lines() {
            let record: Value = serde_json::from_str(line).expect("JSON");
            let field = |name: &str| record[name].as_str().expect("a text").to_owned();
            let id = format!("{}:{}", field("doc_id"), field("passage_id"));
            passages.insert(id, field("passage_text").trim().to_owned());
        }
    }
    passages
}

/// The rows of a table with a header.
pub(crate) fn rows(path: &Path) -> Vec<Vec<String>> {
    let table = fs::read_to_string(path).expect("a table");
    table.lines().skip(1).map(|row| row.split('\t').map(str::to_owned).collect()).collect()
}
