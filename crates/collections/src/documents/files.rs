//! The files of documents in a folder, by their names.

use clariq_core::{Error, bail};
use clariq_files::Source;
use std::fs;
use std::path::{Path, PathBuf};

/// The files of documents that a path names: itself, or those of a folder.
pub fn document_files(path: &Path) -> Result<Vec<Source>, Error> {
    if !path.is_dir() {
        return Ok(vec![Source::new(path)]);
    }
    let files: Vec<Source> = files_in(path).into_iter().map(Source::Path).collect();
    if files.is_empty() {
        let hint =
            "their names end in .jsonl, .json or .trecweb, and packed in .gz or .zst behind that";
        bail!(path, "a folder with files of documents", "none", hint);
    }
    Ok(files)
}

/// The files of documents in a folder, packed or not, in the order of their names.
pub(crate) fn files_in(folder: &Path) -> Vec<PathBuf> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut files: Vec<PathBuf> = entries.map(|entry| entry.path()).collect();
    files.retain(|path| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let plain = name.strip_suffix(".gz").or(name.strip_suffix(".zst")).unwrap_or(&name);
        let endings = [".jsonl", ".json", ".trecweb"];
        !name.starts_with('.') && endings.iter().any(|ending| plain.ends_with(ending))
    });
    files.sort();
    files
}
