//! The names of runs, after their files.

use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The endings of runs: TREC runs, and submissions to iKAT.
const RUNS: [&str; 3] = [".run", ".json", ".jsonl"];

/// The name of a file without `.gz` and the ending of a run or need file.
pub(crate) fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let whole = name.strip_suffix(".gz").unwrap_or(&name);
    let mut endings = RUNS.iter().chain(&[".need"]);
    let stem = endings.find_map(|ending| whole.strip_suffix(ending));
    stem.unwrap_or(whole).to_owned()
}

/// File names without their endings; whole paths where these are not unique.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    let mut seen = HashSet::new();
    if names.iter().all(|name| seen.insert(name)) {
        return names;
    }
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// The names of runs of a split, without the split if all names have it.
pub(crate) fn names_on(paths: &[PathBuf], split: &str) -> Vec<String> {
    let names = names(paths);
    let ending = format!(".{split}");
    let short: Option<Vec<&str>> = names.iter().map(|name| name.strip_suffix(&*ending)).collect();
    match short {
        Some(short) => short.into_iter().map(str::to_owned).collect(),
        None => names,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_after_their_files_if_the_names_are_unique() {
        let paths = |names: [&str; 2]| names.map(PathBuf::from);
        assert_eq!(
            names(&paths(["runs/bm25.dev.run", "old/dense.dev.run.gz"])),
            ["bm25.dev", "dense.dev"]
        );
        assert_eq!(names(&paths(["a/bm25.run", "b/bm25.run"])), ["a/bm25.run", "b/bm25.run"]);
        assert_eq!(names(&paths(["a.2023-test.json", "b.need"])), ["a.2023-test", "b"]);
        assert_eq!(names_on(&paths(["a.dev.run", "b.dev.run"]), "dev"), ["a", "b"]);
        assert_eq!(names_on(&paths(["a.dev.run", "mine.run"]), "dev"), ["a.dev", "mine"]);
    }
}
