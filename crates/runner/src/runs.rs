//! What `compare`, `eval` and `report` ask of runs and measures alike.

use crate::failure::Failure;
use clariq_core::{Problem, bail, problem};
use clariq_eval::{Measure, parse_measures};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// The endings of runs: TREC runs, and submissions to iKAT.
const RUNS: [&str; 3] = [".run", ".json", ".jsonl"];

/// The name of a file without `.gz` and the ending of a run or need file.
fn stem(path: &Path) -> String {
    let name = path.file_name().unwrap_or(path.as_os_str()).to_string_lossy();
    let whole = name.strip_suffix(".gz").unwrap_or(&name);
    let mut endings = RUNS.iter().chain(&[".need"]);
    let stem = endings.find_map(|ending| whole.strip_suffix(ending));
    stem.unwrap_or(whole).to_owned()
}

/// File names without their endings; whole paths where these are not unique.
pub(crate) fn names(paths: &[PathBuf]) -> Vec<String> {
    let names: Vec<String> = paths.iter().map(|path| stem(path)).collect();
    if repeated(&names).is_none() {
        return names;
    }
    paths.iter().map(|path| path.display().to_string()).collect()
}

/// Refuses a file that is given twice, under whatever name: it would be compared with itself.
pub(crate) fn check_differ(paths: &[PathBuf], argument: &str) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    let file = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
    let Some(again) = paths.iter().find(|path| !seen.insert(file(path))) else { return Ok(()) };
    let (again, hint) = (again.display(), "--baseline says which run the others are compared with");
    Err(problem!(argument, "every file once", "`{again}` twice", hint))
}

/// The measures of a flag that is given once or more, each measure once.
pub(crate) fn measures(names: &[String]) -> Result<Vec<Box<dyn Measure>>, Failure> {
    let mut all = Vec::new();
    for text in names {
        let measures = parse_measures(text)?;
        if measures.is_empty() {
            bail!("-m", "the name of a measure", "`{text}`", "for example -m nDCG@10");
        }
        for measure in measures {
            if !all.contains(&measure) {
                all.push(measure);
            }
        }
    }
    Ok(all)
}

/// The first name that occurs twice.
fn repeated(names: &[String]) -> Option<&String> {
    let mut seen = HashSet::new();
    names.iter().find(|name| !seen.insert(*name))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn runs_are_named_after_their_files_where_that_tells_them_apart() {
        let paths = |names: [&str; 2]| names.map(PathBuf::from);
        assert_eq!(
            names(&paths(["runs/bm25.dev.run", "old/dense.dev.run.gz"])),
            ["bm25.dev", "dense.dev"]
        );
        assert_eq!(names(&paths(["a/bm25.run", "b/bm25.run"])), ["a/bm25.run", "b/bm25.run"]);
        assert_eq!(names(&paths(["a.2023-test.json", "b.need"])), ["a.2023-test", "b"]);
    }
}
