//! `tokenizers` of `fuzz/` keeps its promises on everything that fuzzing began with or stumbled over.

#[path = "../../../../fuzz/src/tokenizers.rs"]
#[allow(unreachable_pub, reason = "the fuzz target uses it from outside")]
#[allow(clippy::missing_panics_doc, reason = "panicking is what a check is for")]
pub mod checks;

use std::fs;
use std::path::Path;

#[test]
fn every_file_of_the_corpus_passes_its_check() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/tokenizers");
    let mut files = 0;
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        // Shown with the panic of a check that fails.
        println!("{}", path.display());
        checks::tokenizers(&fs::read(path).unwrap());
        files += 1;
    }
    assert!(files > 0, "no corpus");
}
