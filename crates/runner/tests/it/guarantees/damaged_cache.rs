//! Entries of the cache whose bytes have changed are made again, with a note, and the run is the
//! same.

use crate::common::Bench;
use std::fs;
use std::path::{Path, PathBuf};

/// The files below a folder.
fn files(folder: &Path) -> Vec<PathBuf> {
    let mut all = Vec::new();
    let mut folders = vec![folder.to_owned()];
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

/// Runs a system, damages a file of the cache, and runs it twice more.
fn assert_made_again(
    bench: &Bench,
    (below, ending, note): (&str, &str, &str),
    run: impl Fn(&str) -> String,
) {
    run("first.run");
    let entry = files(&bench.path("cache").join(below));
    zero_end(entry.iter().find(|path| path.to_string_lossy().ends_with(ending)).expect(ending));
    let again = run("second.run");
    assert!(again.contains(note), "{again}");
    assert!(bench.read("first.run") == bench.read("second.run"), "another run");
    let sound = run("third.run");
    assert!(!sound.contains(note), "{sound}");
}

#[test]
fn a_damaged_index_is_rebuilt() {
    let bench = Bench::with_sample();
    assert_made_again(&bench, ("index", ".term", "note: rebuilt the index "), |output| {
        bench.succeed(&format!("run bm25 --data data -o {output}")).stderr
    });
}
