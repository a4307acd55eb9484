//! Entries of the cache whose bytes have changed: they are made again, with a note, and the run is
//! the same.

use crate::common::{Bench, LEARNED};
use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let (mut all, mut folders) = (Vec::new(), vec![folder.to_owned()]);
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).expect("a folder") {
            let path = entry.expect("an entry").path();
            if path.is_dir() { folders.push(path) } else { all.push(path) }
        }
    }
    all
}

/// Replaces the last bytes of a file by zeros, so that its length and header are as before.
fn zero_end(path: &Path) {
    let mut bytes = fs::read(path).expect("a file");
    let kept = bytes.len() - bytes.len().min(64);
    assert!(bytes[kept..].iter().any(|&byte| byte != 0), "{} ends in zeros", path.display());
    bytes[kept..].fill(0);
    fs::write(path, bytes).expect("written");
}

fn is_made_again(system: &str, below: &str, ending: &str, note: &str) {
    let bench = Bench::with_sample();
    bench.write_tiny();
    bench.succeed(&format!("run {system} --data data -o first.run"));
    let entry = files(&bench.path("cache").join(below));
    zero_end(entry.iter().find(|path| path.to_string_lossy().ends_with(ending)).expect(ending));
    let again = bench.succeed(&format!("run {system} --data data -o second.run"));
    assert!(again.stderr.contains(note), "{}", again.stderr);
    assert!(bench.read("first.run") == bench.read("second.run"), "{system}: another run");
    let sound = bench.succeed(&format!("run {system} --data data -o third.run"));
    assert!(!sound.stderr.contains(note), "{}", sound.stderr);
}

#[test]
fn a_damaged_index() {
    is_made_again("bm25", "index", ".term", "note: rebuilt the index ");
}

#[test]
fn damaged_vectors() {
    if LEARNED.is_some() {
        is_made_again("tiny.toml", "embeddings", "vectors.safetensors", "are computed again: ");
    }
}
