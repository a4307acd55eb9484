//! The files that a person may have meant by the path of a missing one.

use clariq_core::similar;
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};

/// The number of files that a hint lists.
const LISTED: usize = 3;
/// A folder with more files than this is not searched to its end.
const MOST_FILES: usize = 10_000;

/// The hint about a missing file: a file of a similar name nearby, or those with the same ending.
pub(crate) fn hint(missing: &Path) -> String {
    let mut found = files_near(missing);
    // A link to nothing is listed, too.
    found.retain(|path| path != missing);
    found.sort();
    let wanted = name_of(missing);
    let nearest = nearest(&wanted, &found).or_else(|| {
        // The ending may be what is misspelt.
        let folder = missing.parent()?;
        nearest(&wanted, &entries_of(folder).filter(|path| path.is_file()).collect::<Vec<_>>())
    });
    if let Some(nearest) = nearest {
        return format!("did you mean `{}`?", nearest.display());
    }
    let Some(folder) = existing_folder(missing) else { return "check the path".to_owned() };
    if missing.extension().is_none() {
        found = files_of_system(&folder.join(RUNS), &wanted);
        found.sort_by_key(|path| (path.extension() == Some("need".as_ref()), path.clone()));
    }
    let listed: Vec<String> =
        found.iter().take(LISTED).map(|path| format!("`{}`", path.display())).collect();
    let others = if found.len() > LISTED { ", …" } else { "" };
    match &listed[..] {
        [] => format!("check the path: {} has no such file", shown(&folder)),
        listed => format!("check the path: there are {}{others}", listed.join(", ")),
    }
}

/// The folder beside a missing one whose name is similar.
pub fn nearest_folder(missing: &Path) -> Option<PathBuf> {
    let folders: Vec<PathBuf> =
        entries_of(missing.parent()?).filter(|path| path.is_dir()).collect();
    nearest(&name_of(missing), &folders)
}

fn name_of(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// The path with the name that is most similar to `wanted`, if it is similar enough.
fn nearest(wanted: &str, paths: &[PathBuf]) -> Option<PathBuf> {
    let names: Vec<String> = paths.iter().map(|path| name_of(path)).collect();
    let meant = similar(wanted, names.iter().map(String::as_str))?;
    let nearest = paths.iter().zip(&names).filter(|(_, name)| *name == meant);
    nearest.map(|(path, _)| path.clone()).min()
}

/// The hint about a folder in the place of a file: one of the files in it, a run if there is one.
pub(crate) fn inside(folder: &Path) -> String {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten().take(MOST_FILES);
    let mut files: Vec<PathBuf> = entries.map(|entry| folder.join(entry.file_name())).collect();
    files.retain(|path| path.is_file());
    files.sort_by_key(|path| (path.extension() != Some("run".as_ref()), path.clone()));
    match files.first() {
        Some(file) => format!("name a file inside it, such as `{}`", file.display()),
        None => "there is no file inside it".to_owned(),
    }
}

/// The folder of runs where none is named.
const RUNS: &str = "runs";

/// The files in the folders of runs that are named after a system.
fn files_of_system(runs: &Path, system: &str) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for folder in files_in(runs, None).1 {
        found.extend(files_in(&folder, Some("run".as_ref())).0);
        found.extend(files_in(&folder, Some("need".as_ref())).0);
    }
    let beginning = format!("{system}.");
    found.retain(|path| name_of(path).starts_with(&beginning));
    found
}

fn shown(folder: &Path) -> String {
    if folder.as_os_str().is_empty() {
        "this folder".to_owned()
    } else {
        folder.display().to_string()
    }
}

/// The folder of a path, or the nearest above it that exists.
fn existing_folder(path: &Path) -> Option<PathBuf> {
    path.ancestors()
        .skip(1)
        .find(|folder| folder.as_os_str().is_empty() || folder.is_dir())
        .map(Path::to_owned)
}

/// The files with the same ending in the folder of a missing one and in the folders inside it.
fn files_near(missing: &Path) -> Vec<PathBuf> {
    let Some(folder) = existing_folder(missing) else { return Vec::new() };
    let (mut found, folders) = files_in(&folder, missing.extension());
    // The folder that a person works in has too many others.
    if !folder.as_os_str().is_empty() {
        for folder in folders {
            found.extend(files_in(&folder, missing.extension()).0);
        }
    }
    found
}

/// The files of a folder with an ending, and its folders.
fn files_in(folder: &Path, ending: Option<&OsStr>) -> (Vec<PathBuf>, Vec<PathBuf>) {
    let (folders, files): (Vec<_>, Vec<_>) = entries_of(folder).partition(|path| path.is_dir());
    (files.into_iter().filter(|file| file.extension() == ending).collect(), folders)
}

/// The entries of a folder.
fn entries_of(folder: &Path) -> impl Iterator<Item = PathBuf> {
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let entries = fs::read_dir(place).into_iter().flatten().flatten().take(MOST_FILES);
    entries.map(|entry| folder.join(entry.file_name()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[cfg(unix)]
    #[test]
    fn a_link_to_nothing_is_not_the_file_that_is_meant() {
        let folder = tempfile::tempdir().unwrap();
        let link = folder.path().join("a.jsonl");
        std::os::unix::fs::symlink("nothing", &link).unwrap();
        let none = format!("check the path: {} has no such file", folder.path().display());
        assert_eq!(hint(&link), none);
    }

    #[test]
    fn a_missing_file_is_told_the_nearest_name_or_those_that_exist() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        fs::create_dir_all(at("runs/sample")).unwrap();
        for name in ["runs/sample/bm25.dev.run", "runs/sample/dense.dev.run", "notes.txt"] {
            fs::write(at(name), "").unwrap();
        }
        let shown = |name: &str| at(name).display().to_string();
        let similar = format!("did you mean `{}`?", shown("runs/sample/bm25.dev.run"));
        for typo in [
            "runs/sample/bm52.dev.run",
            "runs/bm25.dev.run",
            "runs/smaple/bm25.dev.run",
            "runs/sample/bm25.dev.rum",
        ] {
            assert_eq!(hint(&at(typo)), similar);
        }
        assert_eq!(nearest_folder(&at("rusn")), Some(at("runs")));
        assert_eq!(nearest_folder(&at("elsewhere")), None);
        assert_eq!(
            hint(&at("runs/sample/quite-another.2023-test.run")),
            format!(
                "check the path: there are `{}`, `{}`",
                shown("runs/sample/bm25.dev.run"),
                shown("runs/sample/dense.dev.run")
            )
        );
        assert_eq!(
            hint(&at("bm25")),
            format!("check the path: there are `{}`", shown("runs/sample/bm25.dev.run"))
        );
        assert_eq!(
            hint(&at("qrels.trec")),
            format!("check the path: {} has no such file", folder.path().display())
        );
    }
}
