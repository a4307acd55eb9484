//! The fuzz target `systems` keeps its promises on its corpus, earlier findings included.

#[path = "../../../../fuzz/src/systems.rs"]
#[allow(unreachable_pub, reason = "the fuzz target uses it from outside")]
#[allow(clippy::missing_panics_doc, reason = "panicking is what a check is for")]
pub mod systems;

use std::fs;
use std::path::Path;

#[test]
fn every_file_of_the_corpus_passes_its_check() {
    let corpus = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus/systems");
    let mut files = 0;
    for entry in fs::read_dir(corpus).unwrap() {
        let path = entry.unwrap().path();
        // Shown with the panic of a check that fails.
        println!("{}", path.display());
        systems::systems(&fs::read(path).unwrap());
        files += 1;
    }
    assert!(files > 0, "no corpus");
}
