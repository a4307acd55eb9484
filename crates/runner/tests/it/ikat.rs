//! TREC iKAT by the command.

mod commands;
mod comparison;
mod formats;
mod systems;

use crate::common::{Bench, root};
use std::path::{Path, PathBuf};

/// The released files of the track; tests are skipped without them.
fn released() -> Option<PathBuf> {
    let folder = root().join("../shared/ikat");
    if folder.join("sample_runs").is_dir() {
        return Some(folder.canonicalize().expect("a folder"));
    }
    println!("skipped: the released files are not in {}", folder.display());
    None
}

/// The exit status and the row of `validate`: verdict, answered, errors, warnings, not checked.
fn verdict(bench: &Bench, data: &Path, split: &str, run: &str) -> (Option<i32>, Vec<String>) {
    let data = data.to_str().expect("UTF-8");
    let line = ["validate", run, "--split", split, "--data", data, "--format", "tsv"];
    let finished = bench.run(&line);
    let row = finished.stdout.lines().nth(1).unwrap_or_else(|| panic!("{}", finished.stderr));
    (finished.status, row.split('\t').skip(1).map(str::to_owned).collect())
}

/// The sample's folder.
fn sample() -> String {
    root().join("data/sample-ikat").to_str().expect("UTF-8").to_owned()
}
