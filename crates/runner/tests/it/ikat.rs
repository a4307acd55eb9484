//! TREC iKAT by the command.

mod commands;
mod comparison;
mod formats;
mod systems;

use crate::common::root;
use std::path::PathBuf;

/// The released files of the track; tests are skipped without them.
fn released() -> Option<PathBuf> {
    let folder = root().join("../shared/ikat");
    if folder.join("sample_runs").is_dir() {
        return Some(folder.canonicalize().expect("a folder"));
    }
    println!("skipped: the released files are not in {}", folder.display());
    None
}

/// The sample's folder.
fn sample() -> String {
    root().join("data/sample-ikat").to_str().expect("UTF-8").to_owned()
}
