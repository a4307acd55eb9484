//! The content of an index folder: an index of this program, whole or damaged, or something that
//! must not be touched.
//!
//! tantivy's own checksums leave out `meta.json` and the files that `.managed.json` does not name,
//! and it panics over some short files. So an index carries a list of its files with their SHA-256,
//! which is checked before tantivy sees anything; `sha256sum -c clariq-index.sha256` checks the
//! same.

use crate::checked::{Checked, LARGE};
use crate::error::damaged;
use clariq_core::{Error, problem, sha256_hex, sha256_of_file};
use std::collections::BTreeMap;
use std::fs;
use std::io::{ErrorKind, Write as _};
use std::path::Path;

/// The list of an index's files, a line `SHA-256, two spaces, name` each.
pub(crate) const SUMS: &str = "clariq-index.sha256";

/// tantivy's list of segments, with the payload of the last commit.
const META: &str = "meta.json";

/// The name in the payload that no other program's index has.
const MARK: &str = "clariq_index_format";

/// Files that tantivy writes for writers; a reader needs none of them, so they are not in the list.
const FOR_WRITERS: [&str; 3] = [".managed.json", ".tantivy-meta.lock", ".tantivy-writer.lock"];

/// Whether nothing is there that an index would replace.
pub(crate) fn is_vacant(folder: &Path) -> Result<bool, Error> {
    if !folder.exists() {
        return Ok(true);
    }
    if !folder.is_dir() {
        return Err(foreign(folder, "a file"));
    }
    Ok(fs::read_dir(folder).map_err(Error::io("use", folder))?.next().is_none())
}

/// What the index in the folder says of itself; not checked yet.
pub(crate) fn payload(folder: &Path) -> Result<String, Error> {
    if is_vacant(folder)? {
        let source = std::io::Error::new(ErrorKind::NotFound, "no index has been built here");
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

fn read_payload(folder: &Path) -> Result<Option<String>, Error> {
    let bytes = match fs::read(folder.join(META)) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(Error::io("use", folder)(error)),
    };
    let meta: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    let payload = meta.as_ref().and_then(|meta| meta.get("payload")?.as_str());
    Ok(payload.filter(|payload| payload.contains(MARK)).map(str::to_owned))
}

/// Refuses a folder that replacing its index would take something else from.
pub(crate) fn check_replaceable(folder: &Path) -> Result<(), Error> {
    if is_vacant(folder)? {
        return Ok(());
    }
    let contents = Contents::of(folder)?;
    let ours = contents.index.iter().any(|name| name == SUMS) || read_payload(folder)?.is_some();
    if ours && contents.others.is_empty() { Ok(()) } else { Err(not_ours(folder, &contents)) }
}

/// The names in a folder, sorted.
struct Contents {
    /// Files that an index of tantivy or of this program may have.
    index: Vec<String>,
    /// Anything else.
    others: Vec<String>,
}

impl Contents {
    fn of(folder: &Path) -> Result<Self, Error> {
        let mut contents = Self { index: Vec::new(), others: Vec::new() };
        for entry in fs::read_dir(folder).map_err(Error::io("use", folder))? {
            let entry = entry.map_err(Error::io("use", folder))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let known = name == META
                || name == SUMS
                || FOR_WRITERS.contains(&&*name)
                || is_segment_file(&name);
            let file = entry.file_type().is_ok_and(|kind| kind.is_file());
            if known && file { &mut contents.index } else { &mut contents.others }.push(name);
        }
        contents.index.sort();
        contents.others.sort();
        Ok(contents)
    }

    /// The files that a reader needs.
    fn listed(&self) -> impl Iterator<Item = &str> {
        self.index
            .iter()
            .map(String::as_str)
            .filter(|name| *name != SUMS && !FOR_WRITERS.contains(name))
    }
}

/// tantivy names a segment's files by 32 hexadecimal digits.
fn is_segment_file(name: &str) -> bool {
    name.split_once('.').is_some_and(|(stem, _)| {
        stem.len() == 32 && stem.bytes().all(|byte| byte.is_ascii_hexdigit())
    })
}

fn foreign(folder: &Path, found: impl Into<String>) -> Error {
    problem!(
        folder,
        "a new folder, or one with an index that `clariq index build` wrote",
        (found.into()),
        "name another folder with --index; this one is left as it is"
    )
    .into()
}

fn not_ours(folder: &Path, contents: &Contents) -> Error {
    let found = match &contents.others[..] {
        [] => "an index that another program wrote".to_owned(),
        [one] => format!("`{one}`"),
        [first, ..] => format!("`{first}` and {} more", contents.others.len() - 1),
    };
    foreign(folder, found)
}

/// Writes the list; the last step of a build.
pub(crate) fn seal(folder: &Path) -> Result<(), Error> {
    let line = |name: &str| {
        let sum = sha256_of_file(&folder.join(name))?;
        Ok(format!("{sum}  {name}\n"))
    };
    let list: String = Contents::of(folder)?.listed().map(line).collect::<Result<_, Error>>()?;
    let write = || {
        let mut file = fs::File::create_new(folder.join(SUMS))?;
        file.write_all(list.as_bytes())?;
        file.sync_all()
    };
    write().map_err(Error::io("use", folder))
}

/// The files of an index, each as it was written.
pub(crate) fn read_checked(folder: &Path) -> Result<Checked, Error> {
    let list = match fs::read(folder.join(SUMS)) {
        Ok(list) => String::from_utf8_lossy(&list).into_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Err(damaged(folder, format!("`{SUMS}` is missing")));
        }
        Err(error) => return Err(Error::io("use", folder)(error)),
    };
    let sums: Option<BTreeMap<&str, &str>> =
        list.lines().map(|line| line.split_once("  ").map(|(sum, name)| (name, sum))).collect();
    let sums = sums.ok_or_else(|| damaged(folder, format!("`{SUMS}` is not as it was written")))?;
    let contents = Contents::of(folder)?;
    let present: Vec<&str> = contents.listed().collect();
    if let Some(missing) = sums.keys().find(|name| !present.contains(name)) {
        return Err(damaged(folder, format!("`{missing}` is missing")));
    }
    let mut checked = Checked::new(folder).map_err(Error::io("use", folder))?;
    for name in present {
        let path = folder.join(name);
        let is_large =
            is_segment_file(name) && fs::metadata(&path).is_ok_and(|found| found.len() >= LARGE);
        let (sum, bytes) = if is_large {
            (sha256_of_file(&path)?, None)
        } else {
            let bytes = fs::read(&path).map_err(Error::io("use", folder))?;
            (sha256_hex(&bytes), Some(bytes))
        };
        if sums.get(name) != Some(&&*sum) {
            return Err(damaged(folder, format!("`{name}` is not as it was written")));
        }
        match bytes {
            Some(bytes) => checked.hold(name, &bytes).map_err(Error::io("use", folder))?,
            None => checked.map(name),
        }
    }
    Ok(checked)
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
