//! An index folder: what is in it, opening it, and replacing it in one step.
//!
//! A folder holds an index of this program, whole or damaged, or something that must not be
//! touched. tantivy's own checksums leave out `meta.json` and the files that `.managed.json` does
//! not name, and it panics over some short files. So an index carries a list of its files with
//! their SHA-256, which is checked before tantivy sees anything.

use crate::checked::{Checked, META};
use clariq_core::{Error, Problem, ProblemKind, Result, problem, read_regular};
use clariq_files::{MOST_OF_A_CONFIGURATION, manifest, temporary};
use std::fs;
use std::io::{self, ErrorKind};
use std::path::Path;
use tantivy::{Index, SegmentReader, TantivyError};

/// The list of an index's files.
const SUMS: &str = "clariq-index.sha256";

/// The name in the payload that no other program's index has.
const MARK: &str = "clariq_index_format";

/// Files that tantivy writes for writers; a reader needs none of them, so they are not in the list.
const FOR_WRITERS: [&str; 3] = [".managed.json", ".tantivy-meta.lock", ".tantivy-writer.lock"];

/// How the names of temporary folders begin.
const PREFIX: &str = ".clariq-index-";

/// An index whose files are missing or changed.
pub(crate) fn damaged(folder: &Path, found: impl Into<String>) -> Error {
    let expected = "the files as `clariq index build` wrote them";
    let problem = Problem::at(folder, expected, found).hint(build_again(folder));
    problem.kind(ProblemKind::Damaged).into()
}

/// An index that tantivy cannot write.
pub(crate) fn refused(folder: &Path) -> impl Fn(TantivyError) -> Error {
    move |error| {
        let expected = "an index folder with space, whose files nobody else changes meanwhile";
        let (found, hint) = (error.to_string(), build_again(folder));
        problem!(folder, expected, found, hint).into()
    }
}

fn build_again(folder: &Path) -> String {
    format!("`clariq index build --force --index {}` builds it again", folder.display())
}

/// An index that does not hold what this program writes.
pub(crate) fn invalid(found: impl Into<String>) -> TantivyError {
    TantivyError::InvalidArgument(found.into())
}

/// Whether nothing is there that an index would replace.
pub(crate) fn is_vacant(folder: &Path) -> Result<bool> {
    if !folder.exists() {
        return Ok(true);
    }
    if !folder.is_dir() {
        return Err(foreign(folder, "a file"));
    }
    Ok(fs::read_dir(folder).map_err(Error::io("use", folder))?.next().is_none())
}

/// The metadata that this program wrote with the index in the folder; not checked yet.
pub(crate) fn payload(folder: &Path) -> Result<String> {
    if is_vacant(folder)? {
        let source = io::Error::new(ErrorKind::NotFound, "no index has been built here");
        return Err(Error::io("use", folder)(source));
    }
    match read_payload(folder)? {
        Some(payload) => Ok(payload),
        None if folder.join(SUMS).is_file() => {
            Err(damaged(folder, format!("`{META}` is missing or not as it was written")))
        }
        None => Err(not_ours(folder, &Contents::of(folder)?)),
    }
}

fn read_payload(folder: &Path) -> Result<Option<String>> {
    let bytes = match read_regular(&folder.join(META), MOST_OF_A_CONFIGURATION) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("use", folder)(error)),
    };
    let meta: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    let payload = meta.as_ref().and_then(|meta| meta.get("payload")?.as_str());
    Ok(payload.filter(|payload| payload.contains(MARK)).map(str::to_owned))
}

/// Opens the index in the folder, each file of which must be as it was written. Where `written` is
/// what [`make`] has just returned for it, its files are not read once more.
pub(crate) fn open(folder: &Path, written: Option<&[u8]>) -> Result<Index> {
    let mut files = Checked::new(folder).map_err(Error::io("use", folder))?;
    let names = Contents::of(folder)?.index;
    if written.is_some() && list(folder).as_deref() == written {
        names.iter().try_for_each(|name| files.take(name).map(drop))?;
    } else if let Some(found) = manifest::difference(folder, SUMS, &names, |name| files.add(name))?
    {
        return Err(damaged(folder, found));
    }
    Index::open(files).map_err(|error| damaged(folder, error.to_string()))
}

/// The one segment of an index.
pub(crate) fn segment(index: &Index) -> tantivy::Result<SegmentReader> {
    match index.reader()?.searcher().segment_readers() {
        [segment] => Ok(segment.clone()),
        segments => Err(invalid(format!("{} segments in place of one", segments.len()))),
    }
}

/// Refuses a folder in which something other than an index would be replaced.
pub(crate) fn check_replaceable(folder: &Path) -> Result<()> {
    if is_vacant(folder)? {
        return Ok(());
    }
    let contents = Contents::of(folder)?;
    let ours = folder.join(SUMS).is_file() || read_payload(folder)?.is_some();
    if ours && contents.others.is_empty() { Ok(()) } else { Err(not_ours(folder, &contents)) }
}

/// The names in a folder, sorted.
#[derive(Default)]
struct Contents {
    /// Files that a reader of an index needs.
    index: Vec<String>,
    /// What no index has.
    others: Vec<String>,
}

impl Contents {
    fn of(folder: &Path) -> Result<Self> {
        let mut contents = Self::default();
        for entry in fs::read_dir(folder).map_err(Error::io("use", folder))? {
            let entry = entry.map_err(Error::io("use", folder))?;
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

/// tantivy names a segment's files by 32 hexadecimal digits.
fn is_segment_file(name: &str) -> bool {
    name.split_once('.').is_some_and(|(stem, _)| {
        stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn foreign(folder: &Path, found: &str) -> Error {
    let expected = "a new folder, or one with an index that `clariq index build` wrote";
    let hint = "name another folder with --index; this one is left as it is";
    problem!(folder, expected, found, hint).into()
}

fn not_ours(folder: &Path, contents: &Contents) -> Error {
    match &contents.others[..] {
        [] => foreign(folder, "an index that another program wrote"),
        [one] => foreign(folder, &format!("`{one}`")),
        [first, rest @ ..] => foreign(folder, &format!("`{first}` and {} more", rest.len())),
    }
}

/// Makes `folder` of the files that `write` puts into a temporary folder beside it, whose path it
/// gets, so that a kill at any moment leaves the old index or the new one. `folder` must not exist
/// or hold an index to be replaced. Returns the list of the files, unless another process has built
/// here meanwhile.
pub(crate) fn make(
    folder: &Path,
    write: impl FnOnce(&Path) -> Result<()>,
) -> Result<Option<Vec<u8>>> {
    // A link to a folder elsewhere stays one: what it points to is replaced, from beside it.
    let folder = &fs::canonicalize(folder).unwrap_or_else(|_| folder.to_owned());
    let parent =
        folder.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let refused = Error::io("use", folder);
    fs::create_dir_all(parent).map_err(&refused)?;
    let (replace, before) = (!is_vacant(folder)?, list(folder));
    let temporary = temporary::folder_in(parent, PREFIX.as_ref()).map_err(&refused)?;
    // One level down, because the temporary folder itself is private to the user.
    let new = temporary.path().join("index");
    fs::create_dir(&new).map_err(&refused)?;
    write(&new)?;
    manifest::write(&new, SUMS, &Contents::of(&new)?.index)?;
    if list(folder).is_some_and(|list| Some(list) != before) {
        // Another process has built here meanwhile; the caller checks and opens what it wrote.
        return Ok(None);
    }
    // Again, because building takes time: nothing that came meanwhile may be lost.
    if replace {
        check_replaceable(folder)?;
    }
    let (old, written) = (temporary.path().join("old"), list(&new));
    swap(&new, folder, replace.then_some(&*old)).map_err(refused)?;
    Ok(written)
}

/// The list of files of the index in `folder`, which no two builds have in common: segments have
/// random names.
fn list(folder: &Path) -> Option<Vec<u8>> {
    read_regular(&folder.join(SUMS), MOST_OF_A_CONFIGURATION).ok()
}

/// Puts `new` in place of `folder`, which is moved to `old`, or is vacant where there is no `old`.
/// Between the two renames there is no index at all, which the next command sees as one to be
/// built.
fn swap(new: &Path, folder: &Path, old: Option<&Path>) -> io::Result<()> {
    match old.map(|old| fs::rename(folder, old)) {
        Some(Err(error)) if error.kind() != ErrorKind::NotFound => return Err(error),
        Some(_) => (),
        // An empty folder; removing any other is refused, as is the renaming below.
        None => drop(fs::remove_dir(folder)),
    }
    let Err(error) = fs::rename(new, folder) else { return Ok(()) };
    // Another process that built here at the same time was first; the caller checks and opens what
    // it wrote.
    if fs::read_dir(folder).is_ok_and(|mut files| files.next().is_some()) {
        return Ok(());
    }
    match old {
        Some(old) => fs::rename(old, folder).and(Err(error)),
        None => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_names_that_tantivy_gives_are_segment_files() {
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
