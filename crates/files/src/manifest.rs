//! Lists of a folder's files with their SHA-256: written when the folder is complete, and checked
//! whenever it is opened, to detect missing, changed and half-written files.
//!
//! A list is a file of the folder with a line `SHA-256, two spaces, name` for each of the others;
//! `sha256sum -c LIST` checks the same.

use crate::output::write_atomically;
use crate::source::MOST_OF_A_TABLE;
use clariq_core::{Checksum, Error, IoAction, Result, read_regular};
use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::fs;
use std::io::ErrorKind;
use std::path::Path;

/// Writes the list of the named files of a folder.
pub fn write(folder: &Path, list: &str, names: &[String]) -> Result<()> {
    let mut lines = String::new();
    for name in names {
        let sum = Checksum::of_file(&folder.join(name))?;
        let _ = writeln!(lines, "{sum}  {name}");
    }
    write_atomically(&folder.join(list), |out| out.write_all(lines.as_bytes()))
}

/// The first difference between the files `present` and the list, if there is one. `sum` reads a file
/// and returns its SHA-256.
pub fn difference(
    folder: &Path,
    list: &str,
    present: &[String],
    mut sum: impl FnMut(&str) -> Result<Checksum>,
) -> Result<Option<String>> {
    let lines = match read_regular(&folder.join(list), MOST_OF_A_TABLE) {
        Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
        Err(error) if error.kind() == ErrorKind::NotFound => {
            return Ok(Some(format!("`{list}` is missing")));
        }
        Err(error) => return Err(Error::io(IoAction::Read, folder.join(list))(error)),
    };
    let mut sums = BTreeMap::new();
    for line in lines.lines() {
        let Some((checksum, name)) = line.split_once("  ") else {
            return Ok(Some(format!("`{list}` is not as it was written")));
        };
        sums.insert(name, checksum);
    }
    for name in present {
        let Some(expected) = sums.remove(name.as_str()) else {
            return Ok(Some(format!("`{name}` is not in `{list}`")));
        };
        if sum(name)?.as_str() != expected {
            return Ok(Some(format!("`{name}` is not as it was written")));
        }
    }
    Ok(sums.into_keys().next().map(|name| format!("`{name}` is missing")))
}

/// The sorted names of all files of a folder except the list, with `/` between folders.
pub fn names(folder: &Path, list: &str) -> Result<Vec<String>> {
    let mut names = Vec::new();
    let mut prefixes = vec![String::new()];
    while let Some(prefix) = prefixes.pop() {
        let folder = folder.join(&prefix);
        for entry in fs::read_dir(&folder).map_err(Error::io(IoAction::Read, &folder))? {
            let entry = entry.map_err(Error::io(IoAction::Read, &folder))?;
            let name = format!("{prefix}{}", entry.file_name().to_string_lossy());
            if entry.path().is_dir() {
                prefixes.push(format!("{name}/"));
            } else if name != list {
                names.push(name);
            }
        }
    }
    names.sort();
    Ok(names)
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIST: &str = "SHA256SUMS";

    fn difference_of(folder: &Path) -> Option<String> {
        let names = names(folder, LIST).unwrap();
        difference(folder, LIST, &names, |name| Checksum::of_file(&folder.join(name))).unwrap()
    }

    #[test]
    fn missing_added_and_changed_files_are_differences() {
        type Damage = (fn(&Path), &'static str);
        let damages: [Damage; 7] = [
            (|folder| fs::write(folder.join("a.bin"), [1; 1000]).unwrap(), "`a.bin` is not as"),
            (|folder| fs::write(folder.join("below/b.txt"), "").unwrap(), "`below/b.txt` is not"),
            (|folder| fs::remove_file(folder.join("a.bin")).unwrap(), "`a.bin` is missing"),
            (|folder| fs::write(folder.join("c"), "new").unwrap(), "`c` is not in `SHA256SUMS`"),
            (|folder| fs::write(folder.join(LIST), "").unwrap(), "`a.bin` is not in"),
            (|folder| fs::write(folder.join(LIST), "x").unwrap(), "`SHA256SUMS` is not as"),
            (|folder| fs::remove_file(folder.join(LIST)).unwrap(), "`SHA256SUMS` is missing"),
        ];
        for (damage, expected) in damages {
            let folder = tempfile::tempdir().unwrap();
            fs::create_dir(folder.path().join("below")).unwrap();
            fs::write(folder.path().join("a.bin"), [0; 1000]).unwrap();
            fs::write(folder.path().join("below/b.txt"), "b").unwrap();
            write(folder.path(), LIST, &names(folder.path(), LIST).unwrap()).unwrap();
            assert_eq!(difference_of(folder.path()), None);
            damage(folder.path());
            let found = difference_of(folder.path()).unwrap();
            assert!(found.starts_with(expected), "{found}");
        }
    }
}
