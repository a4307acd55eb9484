//! The folder of an index: its content, opening it, and replacing it in one step.
//!
//! A folder contains an index of this program, complete or damaged, or files that must not be
//! touched. tantivy's checksums do not cover `meta.json` and the files that `.managed.json` does not
//! name, and tantivy panics on some short files. So an index has a list of its files with their
//! SHA-256, which is checked before tantivy opens it.

use crate::checked::{CheckedFiles, META};
use clariq_core::{Error, IoAction, Problem, ProblemKind, Result, problem, read_regular};
use clariq_files::{MOST_OF_A_CONFIGURATION, StagedFolder, manifest};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use tantivy::{Index, SegmentReader, TantivyError};

/// The list of an index's files.
const SUMS: &str = "clariq-index.sha256";

/// A name in the payload that tells this program's indexes from others.
const MARK: &str = "clariq_index_format";

/// Files that only writers use. They are not in the list.
const FOR_WRITERS: [&str; 3] = [".managed.json", ".tantivy-meta.lock", ".tantivy-writer.lock"];

/// The error of an index with missing or changed files.
pub(crate) fn damaged(folder: &Path, found: impl Into<String>) -> Error {
    let expected = "the files as they were written with the index";
    Problem::at(folder, expected, found).kind(ProblemKind::Damaged).into()
}

/// The error of an index that cannot be written.
pub(crate) fn refused(folder: &Path) -> impl Fn(TantivyError) -> Error {
    move |error| {
        if let TantivyError::IoError(source) = &error
            && let Some(code) = source.raw_os_error()
            && is_without_space(source.kind())
        {
            return Error::io(IoAction::Write, folder)(io::Error::from_raw_os_error(code));
        }
        let expected = "an index folder with free space, whose files no other program changes";
        problem!(folder, expected, (error.to_string())).kind(ProblemKind::Index).into()
    }
}

/// True for the refusals of a disk, or of a limit, for which building again is no remedy.
fn is_without_space(kind: ErrorKind) -> bool {
    matches!(kind, ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge)
}

/// The error of an index with other content than this program writes.
pub(crate) fn invalid(found: impl Into<String>) -> TantivyError {
    TantivyError::InvalidArgument(found.into())
}

/// True if the folder does not exist or is empty.
pub(crate) fn is_vacant(folder: &Path) -> Result<bool> {
    if !folder.exists() {
        return Ok(true);
    }
    if !folder.is_dir() {
        return Err(foreign(folder, "a file"));
    }
    Ok(fs::read_dir(folder).map_err(Error::io(IoAction::Use, folder))?.next().is_none())
}

/// Returns the metadata of the index in the folder, before its files are checked.
pub(crate) fn payload(folder: &Path) -> Result<String> {
    if is_vacant(folder)? {
        let source = io::Error::new(ErrorKind::NotFound, "no index has been built here");
        return Err(Error::io(IoAction::Use, folder)(source));
    }
    match read_payload(folder)? {
        Some(payload) => Ok(payload),
        None if folder.join(SUMS).is_file() => {
            Err(damaged(folder, format!("`{META}` is missing or not as it was written")))
        }
        None => Err(not_ours(folder, &FolderContents::of(folder)?)),
    }
}

fn read_payload(folder: &Path) -> Result<Option<String>> {
    let bytes = match read_regular(&folder.join(META), MOST_OF_A_CONFIGURATION) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io(IoAction::Use, folder)(error)),
    };
    let meta: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    let payload = meta.as_ref().and_then(|meta| meta.get("payload")?.as_str());
    Ok(payload.filter(|payload| payload.contains(MARK)).map(str::to_owned))
}

/// Opens the index in the folder after checking its files. If `written` is the list that [`make`]
/// has just returned for it, the files are not read again.
pub(crate) fn open(folder: &Path, written: Option<&[u8]>) -> Result<Index> {
    let mut files = CheckedFiles::new(folder).map_err(Error::io(IoAction::Use, folder))?;
    let names = FolderContents::of(folder)?.index;
    if written.is_some() && list(folder).as_deref() == written {
        names.iter().try_for_each(|name| files.take(name).map(drop))?;
    } else if let Some(found) = manifest::difference(folder, SUMS, &names, |name| files.add(name))?
    {
        return Err(damaged(folder, found));
    }
    Index::open(files).map_err(|error| damaged(folder, error.to_string()))
}

/// The single segment of an index.
pub(crate) fn segment(index: &Index) -> tantivy::Result<SegmentReader> {
    match index.reader()?.searcher().segment_readers() {
        [segment] => Ok(segment.clone()),
        segments => Err(invalid(format!("{} segments in place of one", segments.len()))),
    }
}

/// Refuses to replace anything but an index.
pub(crate) fn check_replaceable(folder: &Path) -> Result<()> {
    if is_vacant(folder)? {
        return Ok(());
    }
    let contents = FolderContents::of(folder)?;
    let ours = folder.join(SUMS).is_file() || read_payload(folder)?.is_some();
    if ours && contents.others.is_empty() { Ok(()) } else { Err(not_ours(folder, &contents)) }
}

/// The sorted names in a folder.
#[derive(Default)]
struct FolderContents {
    /// Files of an index.
    index: Vec<String>,
    /// Other files.
    others: Vec<String>,
}

impl FolderContents {
    fn of(folder: &Path) -> Result<Self> {
        let mut contents = Self::default();
        for entry in fs::read_dir(folder).map_err(Error::io(IoAction::Use, folder))? {
            let entry = entry.map_err(Error::io(IoAction::Use, folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            if !entry.file_type().is_ok_and(|kind| kind.is_file()) {
                contents.others.push(name);
            } else if name == META || is_segment_file(&name) {
                contents.index.push(name);
            } else if name != SUMS && !FOR_WRITERS.contains(&&*name) {
                contents.others.push(name);
            }
        }
        contents.index.sort();
        contents.others.sort();
        Ok(contents)
    }
}

/// The files of a segment begin with 32 hexadecimal digits.
fn is_segment_file(name: &str) -> bool {
    name.split_once('.').is_some_and(|(stem, _)| {
        stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn foreign(folder: &Path, found: &str) -> Error {
    let expected = "a new folder, or one with an index of this program";
    let hint = "name another folder with --index; this one is left as it is";
    problem!(folder, expected, found, hint).into()
}

fn not_ours(folder: &Path, contents: &FolderContents) -> Error {
    match &contents.others[..] {
        [] => foreign(folder, "an index that another program wrote"),
        [one] => foreign(folder, &format!("`{one}`")),
        [first, rest @ ..] => foreign(folder, &format!("`{first}` and {} more", rest.len())),
    }
}

/// Calls `write` with a temporary folder beside `folder`, and puts that in its place, so that a kill
/// at any moment leaves the old index or the new one. `folder` must not exist, or contain an index
/// that is replaced. Returns the list of the files, or `None` if another process has built an index
/// here meanwhile.
pub(crate) fn make(
    folder: &Path,
    write: impl FnOnce(&Path) -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    let replace = !is_vacant(folder)?;
    let before = list(folder);
    let staged = StagedFolder::create(folder)?;
    let new = staged.path();
    write(new)?;
    manifest::write(new, SUMS, &FolderContents::of(new)?.index)?;
    if list(folder).is_some_and(|list| Some(list) != before) {
        // The caller opens the index of the other process.
        return Ok(None);
    }
    // Building takes time: check again, so that no new file is lost.
    if replace {
        check_replaceable(folder)?;
    }
    let written = list(new);
    // Between the two renames there is no index: another command would build one.
    staged.commit(replace)?;
    Ok(written)
}

/// The list of files of the index in `folder`. It differs between builds, because segments have
/// random names.
fn list(folder: &Path) -> Option<Vec<u8>> {
    read_regular(&folder.join(SUMS), MOST_OF_A_CONFIGURATION).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn segment_files_have_names_of_32_hexadecimal_digits() {
        assert!(is_segment_file("0123456789abcdef0123456789abcdef.term"));
        assert!(is_segment_file("0123456789abcdef0123456789abcdef.7.del"));
        for name in [
            "notes.txt",
            "0123456789abcdef0123456789abcdeg.term",
            "0123456789abcdef0123456789abcdef",
            ".git",
        ] {
            assert!(!is_segment_file(name), "{name}");
        }
    }
}
