//! Runs the checks of the fuzz targets on their corpora, earlier findings included.
//!
//! `fuzz/README.md` explains how the corpora were made and how to fuzz further.

#[path = "../../../../fuzz/src/readers/mod.rs"]
#[allow(unreachable_pub, reason = "the fuzz targets use it from outside")]
pub mod checks;

use std::fs;
use std::path::Path;

#[test]
fn every_file_of_every_corpus_passes_its_check() {
    for (target, check) in checks::TARGETS {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus").join(target);
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
