//! The record beside a run, `<run>.json`: what made it.
//!
//! It holds everything that a figure depends on and nothing else (no time, no thread count, no
//! folder), so that the same inputs give the same bytes. It takes its place last and names the
//! checksums of the files that it describes: a record that does not fit its run was left by an
//! interrupted command.

use crate::session::Session;
use crate::systems::Loaded;
use clariq_core::{Error, sha256_hex, sha256_of_stream};
use clariq_files::Staged;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};
use std::fs::{self, File};
use std::io::Read as _;
use std::path::{Path, PathBuf};

/// Bytes that a record may have: a thousand times what most have.
pub(crate) const MOST_OF_A_RECORD: u64 = 4 << 20;

/// Where the record of a run file is.
pub fn path_of(run: &Path) -> PathBuf {
    let mut name = run.as_os_str().to_owned();
    name.push(".json");
    PathBuf::from(name)
}

/// An output of a command: its kind, its path, and its content.
pub type Output = (&'static str, PathBuf, Staged);

/// What learned models compute with, which decides the last digits of their scores.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Arithmetic {
    isa: String,
    precision: String,
}

impl Arithmetic {
    /// What the models of a system compute with; `None` for a system without any.
    pub(crate) fn of(session: &Session, loaded: &Loaded) -> Option<Self> {
        let options = session.model_options(None);
        let precision = options.precision.to_string();
        loaded.needs_models().then(|| Self { isa: options.computes_with(), precision })
    }
}

/// The record of outputs that are staged already, staged as well.
pub fn stage(run: &Path, mut made_by: Value, files: &[Output]) -> Result<Staged, Error> {
    let mut outputs = serde_json::Map::new();
    for (kind, path, staged) in files {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let source = staged.source();
        let checksum = sha256_of_stream(source.stream()?).map_err(Error::io("read", path))?;
        outputs.insert((*kind).to_owned(), json!({ "file": name, "sha256": checksum }));
    }
    made_by["outputs"] = Value::Object(outputs);
    Staged::new(&path_of(run), |out| {
        serde_json::to_writer_pretty(&mut *out, &made_by)?;
        writeln!(out)
    })
}

/// The record of a run; `None` where there is none that can be read.
pub fn read(run: &Path) -> Option<Value> {
    serde_json::from_slice(&read_small(&path_of(run), MOST_OF_A_RECORD)?).ok()
}

/// A file that the program wrote itself and may write again: it is not counted among the inputs.
/// `None` where it cannot be read, or has more than `most` bytes. A pipe is not waited for.
pub(crate) fn read_small(path: &Path, most: u64) -> Option<Vec<u8>> {
    if !fs::metadata(path).is_ok_and(|found| found.is_file() && found.len() <= most) {
        return None;
    }
    let mut bytes = Vec::new();
    File::open(path).ok()?.take(most).read_to_end(&mut bytes).ok()?;
    Some(bytes)
}

/// Whether the record of a run has another checksum for its `kind` of output; `None` where
/// there is no record.
pub fn contradicts(run: &Path, kind: &str, bytes: &[u8]) -> Option<bool> {
    let record = read(run)?;
    let checksum = record["outputs"][kind]["sha256"].as_str()?;
    Some(checksum != sha256_hex(bytes))
}

/// The checksum of the documents that a run ranks, as its record has it; `None` where no record
/// says so.
pub fn documents_of(run: &Path) -> Option<String> {
    let record = read(run)?;
    Some(record["bank"]["sha256"].as_str()?.to_owned())
}

/// `X.run` has its need file at `X.need`; a name without `.run` gets `.need` appended.
pub fn need_path(run: &Path) -> PathBuf {
    let name = run.to_string_lossy();
    let stem = name.strip_suffix(".gz").unwrap_or(&name);
    PathBuf::from(format!("{}.need", stem.strip_suffix(".run").unwrap_or(stem)))
}

/// The runs that could have the need file `need`.
pub fn runs_of_need(need: &Path) -> Vec<PathBuf> {
    let name = need.to_string_lossy();
    let Some(stem) = name.strip_suffix(".need") else { return Vec::new() };
    ["", ".run", ".run.gz", ".gz"].map(|suffix| PathBuf::from(format!("{stem}{suffix}"))).to_vec()
}
