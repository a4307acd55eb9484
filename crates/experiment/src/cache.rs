//! The cache: where indexes, models and vectors are kept between runs, and the checksums that tell
//! a damaged entry.
//!
//! An entry is a folder with a list of its files, which is written before the folder takes its
//! name. An entry whose files are not those of its list is made again.

use clariq_core::{Error, sha256_of_file};
use clariq_files::write_atomically;
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::{env, fs};

/// The list of an entry's files, a line `SHA-256, two spaces, name` each; `sha256sum -c SHA256SUMS`
/// checks the same.
pub const SUMS: &str = "SHA256SUMS";

/// `$CLARIQ_CACHE`, or `clariq` in the user's cache folder (XDG base directories), or in the folder
/// for temporary files.
pub fn folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("CLARIQ_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("clariq")))
        .or_else(|| env::home_dir().map(|home| home.join(".cache/clariq")))
        .unwrap_or_else(|| env::temp_dir().join("clariq"))
}

/// What a look at an entry found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum State {
    /// There is none.
    Absent,
    /// Every file is as it was written.
    Sound,
    /// Something is not, or nobody can tell.
    Damaged {
        /// What.
        found: String,
    },
}

/// Checks every file of an entry against the list.
pub(crate) fn check(entry: &Path) -> State {
    if !entry.exists() {
        return State::Absent;
    }
    match difference(entry) {
        None => State::Sound,
        Some(found) => State::Damaged { found },
    }
}

fn difference(entry: &Path) -> Option<String> {
    let Ok(list) = fs::read_to_string(entry.join(SUMS)) else {
        return Some(format!("`{SUMS}` is missing"));
    };
    for line in list.lines() {
        let Some((sum, name)) = line.split_once("  ") else {
            return Some(format!("`{SUMS}` is not as it was written"));
        };
        match sha256_of_file(&entry.join(name)) {
            Ok(found) if found == sum => {}
            Ok(_) => return Some(format!("`{name}` is not as it was written")),
            Err(_) => return Some(format!("`{name}` is missing")),
        }
    }
    // A list that was cut short checks too few files.
    match files(entry) {
        Ok(files) if files.len() == list.lines().count() => None,
        _ => Some("its files are not those of its list".to_owned()),
    }
}

/// Writes the list of a folder that is complete, and gives it its place; what is there already is
/// removed first.
pub(crate) fn store(made: &Path, entry: &Path) -> Result<(), Error> {
    let mut list = String::new();
    for (name, path) in files(made)? {
        let sum = sha256_of_file(&path)?;
        let _ = writeln!(list, "{sum}  {name}");
    }
    write_atomically(&made.join(SUMS), |out| out.write_all(list.as_bytes()))?;
    remove(entry)?;
    fs::rename(made, entry).map_err(refused("create", entry))
}

/// Removes an entry by way of another name, so that no half of it ever stands under its own.
pub(crate) fn remove(entry: &Path) -> Result<(), Error> {
    if !entry.exists() {
        return Ok(());
    }
    let aside = beside(entry, "old");
    fs::rename(entry, &aside)
        .and_then(|()| fs::remove_dir_all(&aside))
        .map_err(refused("replace", entry))
}

/// A folder beside an entry that no other process uses.
pub(crate) fn beside(entry: &Path, ending: &str) -> PathBuf {
    let mut name = entry.as_os_str().to_owned();
    name.push(format!(".{}.{ending}", std::process::id()));
    PathBuf::from(name)
}

/// All files of a folder but the list, by their names below it, with `/` between folders.
fn files(folder: &Path) -> Result<BTreeMap<String, PathBuf>, Error> {
    let (mut all, mut folders) = (BTreeMap::new(), vec![(String::new(), folder.to_owned())]);
    while let Some((prefix, folder)) = folders.pop() {
        for entry in fs::read_dir(&folder).map_err(refused("read", &folder))? {
            let path = entry.map_err(refused("read", &folder))?.path();
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            let name = format!("{prefix}{name}");
            if path.is_dir() {
                folders.push((format!("{name}/"), path));
            } else if name != SUMS {
                all.insert(name, path);
            }
        }
    }
    Ok(all)
}

fn refused(action: &'static str, path: &Path) -> impl FnOnce(std::io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { action, path, source }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stored(folder: &Path) -> PathBuf {
        let (made, entry) = (folder.join("made"), folder.join("entry"));
        fs::create_dir_all(made.join("below")).unwrap();
        fs::write(made.join("a.bin"), [0; 1000]).unwrap();
        fs::write(made.join("below/b.txt"), "b").unwrap();
        store(&made, &entry).unwrap();
        entry
    }

    #[test]
    fn whatever_happens_to_an_entry_shows() {
        let damages: [fn(&Path); 6] = [
            |entry| fs::write(entry.join("a.bin"), [1; 1000]).unwrap(),
            |entry| fs::write(entry.join("below/b.txt"), "").unwrap(),
            |entry| fs::remove_file(entry.join("a.bin")).unwrap(),
            |entry| fs::write(entry.join("c"), "new").unwrap(),
            |entry| fs::write(entry.join(SUMS), "").unwrap(),
            |entry| fs::remove_file(entry.join(SUMS)).unwrap(),
        ];
        for (number, damage) in damages.into_iter().enumerate() {
            let folder = tempfile::tempdir().unwrap();
            let entry = stored(folder.path());
            assert_eq!(check(&entry), State::Sound);
            damage(&entry);
            assert!(matches!(check(&entry), State::Damaged { .. }), "{number}");
        }
    }

    #[test]
    fn an_entry_replaces_the_one_before() {
        let folder = tempfile::tempdir().unwrap();
        let entry = stored(folder.path());
        fs::write(entry.join("a.bin"), "damaged").unwrap();
        assert_eq!(check(&stored(folder.path())), State::Sound);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
        remove(&entry).unwrap();
        assert_eq!(check(&entry), State::Absent);
    }
}
