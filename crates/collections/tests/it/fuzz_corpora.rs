//! Readers keep their promises on everything that fuzzing began with or stumbled over.
//!
//! `fuzz/README.md` says how the corpora were made and how to fuzz further.

#[path = "../../../../fuzz/src/readers/mod.rs"]
#[allow(unreachable_pub, reason = "the fuzz targets use it from outside")]
pub mod checks;

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn corpora() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus")
}

#[test]
fn every_file_of_every_corpus_passes_its_check() {
    for (target, check) in checks::TARGETS {
        let folder = corpora().join(target);
        let mut files = 0;
        for entry in
            fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        {
            let path = entry.unwrap().path();
            // Shown with the panic of a check that fails.
            println!("{}", path.display());
            check(&fs::read(path).unwrap());
            files += 1;
        }
        assert!(files > 0, "no corpus in {}", folder.display());
    }
}

/// Targets whose corpora the tests of other crates run: `model`, `experiment` and `bert`.
const ELSEWHERE: [&str; 5] = ["models", "plans", "records", "systems", "tokenizers"];

#[test]
fn every_corpus_has_a_target() {
    let names = |folder: &str| -> BTreeSet<String> {
        let entries = fs::read_dir(corpora().join(folder)).unwrap();
        entries
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_string_lossy().into_owned())
            .collect()
    };
    let targets: BTreeSet<String> = checks::TARGETS
        .iter()
        .map(|(target, _)| *target)
        .chain(ELSEWHERE)
        .map(str::to_owned)
        .collect();
    assert_eq!(names("."), targets);
    assert_eq!(names("../fuzz_targets"), targets);
}
