//! What made a run? The record beside it: `<run>.json`.
//!
//! It holds everything that a figure depends on and nothing else (no time, no thread count, no folder), so that the same
//! inputs give the same bytes. It is written last and names the checksums of the files it speaks of: a record
//! that does not fit its run was left by an interrupted command.

use clariq_corpus::{Source, sha256_hex, write_atomically};
use serde_json::{Value, json};
use std::path::{Path, PathBuf};

/// Where the record of a run file is.
pub(crate) fn path_of(run: &Path) -> PathBuf {
    let mut name = run.as_os_str().to_owned();
    name.push(".json");
    PathBuf::from(name)
}

/// Writes the record of files that are written already.
pub(crate) fn write(run: &Path, mut made_by: Value, files: &[(&str, &Path)]) -> Result<(), clariq_corpus::Error> {
    let mut outputs = serde_json::Map::new();
    for (kind, path) in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let checksum = sha256_hex(&Source::new(path).read()?.bytes);
        outputs.insert((*kind).to_owned(), json!({ "file": name, "sha256": checksum }));
    }
    made_by["outputs"] = Value::Object(outputs);
    write_atomically(&path_of(run), |out| {
        serde_json::to_writer_pretty(&mut *out, &made_by)?;
        writeln!(out)
    })
}

/// Whether the record beside a run speaks of another run; `None` where there is no record.
pub(crate) fn contradicts(run: &Path, bytes: &[u8]) -> Option<bool> {
    let text = std::fs::read_to_string(path_of(run)).ok()?;
    let record: Value = serde_json::from_str(&text).ok()?;
    let checksum = record["outputs"]["run"]["sha256"].as_str()?;
    Some(checksum != sha256_hex(bytes))
}
