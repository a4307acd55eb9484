//! A file of a command with the record that tells of it, which is read once.

use super::depth::least_depth;
use super::{RunRecord, path_of, runs_of_need};
use clariq_core::{Checksum, read_regular};
use clariq_files::MOST_OF_A_TABLE;
use std::path::{Path, PathBuf};

/// A run, submission or need file, with its record.
pub struct RecordedFile {
    path: PathBuf,
    /// The run that the record is beside: this file, the run of this need file, or the one whose answers
    /// or rankings this file has.
    run: PathBuf,
    record: Option<RunRecord>,
    /// True if a record is there and cannot be read.
    is_damaged: bool,
}

/// The runs whose record tells of a file, the likeliest first.
fn recorded_runs(file: &Path) -> Vec<PathBuf> {
    let mut runs = runs_of_need(file);
    runs.push(file.to_owned());
    // The answers of MTRAG are beside the run.
    if file.extension().is_some_and(|ending| ending == "jsonl") {
        runs.push(file.with_extension("run"));
    }
    // The rankings of a submission are beside it.
    let name = file.to_string_lossy();
    let stems = ["passages", "statements"].map(|task| name.strip_suffix(&format!(".{task}.run")));
    runs.extend(stems.into_iter().flatten().map(|stem| PathBuf::from(format!("{stem}.json"))));
    runs
}

impl RecordedFile {
    /// Reads the record of a file, if there is one.
    pub fn open(path: &Path) -> Self {
        let path = path.to_owned();
        let mut is_damaged = false;
        for run in recorded_runs(&path) {
            let at = path_of(&run);
            if !at.exists() {
                continue;
            }
            let read = read_regular(&at, MOST_OF_A_TABLE).ok();
            let record = read.and_then(|bytes| serde_json::from_slice(&bytes).ok());
            is_damaged |= record.is_none();
            if record.is_some() {
                return Self { path, run, record, is_damaged };
            }
        }
        Self { run: path.clone(), path, record: None, is_damaged }
    }

    /// The path of the run.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The record, if it is beside this file.
    pub fn own(&self) -> Option<&RunRecord> {
        self.record.as_ref().filter(|_| self.run == self.path)
    }

    /// The run that the record is beside.
    pub fn run(&self) -> &Path {
        &self.run
    }

    /// True if a record is beside the file, whether it can be read or not.
    pub fn has_record(&self) -> bool {
        self.record.is_some() || self.is_damaged
    }

    /// The split that the run was made for.
    pub fn split(&self) -> Option<&str> {
        self.record.as_ref()?.split.as_deref()
    }

    /// The remark of the record on the documents that the run ranks, such as that they are a substitute.
    pub fn remark(&self) -> Option<&str> {
        self.record.as_ref()?.remark.as_deref()
    }

    /// The number of documents for a topic that no stage of its system goes beyond.
    pub fn depth(&self) -> Option<usize> {
        least_depth(&self.own()?.stages)
    }

    /// The checksum of the documents that the run ranks.
    pub fn documents(&self) -> Option<Checksum> {
        Some(self.record.as_ref()?.bank.as_ref()?.sha256.clone())
    }

    /// The kind of the file in its record.
    pub fn kind(&self) -> &'static str {
        if self.run == self.path { "run" } else { "need" }
    }

    /// True if the record has another checksum for this content: the command that wrote it was
    /// interrupted. `None` if it has none.
    pub fn contradicts(&self, content: &[u8]) -> Option<bool> {
        let outputs = &self.record.as_ref()?.outputs;
        let output = match self.kind() {
            "run" => outputs.get("run").or_else(|| outputs.get("submission")),
            _ if runs_of_need(&self.path).contains(&self.run) => outputs.get("need"),
            _ => None,
        };
        Some(output?.sha256 != Checksum::of(content))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;

    #[test]
    fn a_file_finds_the_record_that_tells_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let put = |name: &str, split: &str| {
            fs::write(folder.path().join(name), format!(r#"{{"split": "{split}"}}"#)).unwrap();
        };
        put("a.run.json", "of a.run");
        put("b.record.json", "of b.json");
        fs::write(folder.path().join("c.run.json"), "{").unwrap();
        for (file, split, is_own) in [
            ("a.run", Some("of a.run"), true),
            ("a.need", Some("of a.run"), false),
            ("a.jsonl", Some("of a.run"), false),
            ("b.json", Some("of b.json"), true),
            ("b.passages.run", Some("of b.json"), false),
            ("c.run", None, false),
            ("d.run", None, false),
        ] {
            let found = RecordedFile::open(&folder.path().join(file));
            assert_eq!(found.split(), split, "{file}");
            assert_eq!(found.own().is_some(), is_own, "{file}");
            assert_eq!(found.has_record(), !file.starts_with('d'), "{file}");
        }
    }
}
