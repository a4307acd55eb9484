//! The pages of the documentation. The tests of the command include this file.

use std::fs;
use std::path::{Path, PathBuf};

pub(crate) fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The README, the page for agents, and all pages of the documentation.
pub(crate) fn pages() -> Vec<PathBuf> {
    let mut pages = vec![root().join("README.md"), root().join("AGENTS.md")];
    let mut folders = vec![root().join("docs")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                pages.push(path);
            }
        }
    }
    pages.sort();
    assert!(pages.len() > 20, "{} pages", pages.len());
    pages
}
