//! `systems`, `plans` and `records` of `fuzz/` keep their promises on everything that fuzzing began with or
//! stumbled over.

#[path = "../../../../fuzz/src/plans.rs"]
#[allow(unreachable_pub, reason = "the fuzz target uses it from outside")]
#[allow(clippy::missing_panics_doc, reason = "panicking is what a check is for")]
pub mod plans;
#[path = "../../../../fuzz/src/systems.rs"]
#[allow(unreachable_pub, reason = "the fuzz target uses it from outside")]
#[allow(clippy::missing_panics_doc, reason = "panicking is what a check is for")]
pub mod systems;

use std::fs;
use std::path::Path;

#[test]
fn every_file_of_the_corpora_passes_its_check() {
    let corpora = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fuzz/corpus");
    let plans = ("plans", plans::plans as fn(&[u8]));
    for (name, check) in [plans, ("records", plans::records), ("systems", systems::systems)] {
        let mut files = 0;
        for entry in fs::read_dir(corpora.join(name)).unwrap() {
            let path = entry.unwrap().path();
            // Shown with the panic of a check that fails.
            println!("{}", path.display());
            check(&fs::read(path).unwrap());
            files += 1;
        }
        assert!(files > 0, "no corpus");
    }
}
