//! Which documents a run was made of, by the record beside it.

use crate::failure::Failure;
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_core::{Documents, Location, Problem, ProblemKind};
use clariq_experiment::record;
use std::path::{Path, PathBuf};

/// Compares the documents that a file is scored against with those that the records of `runs` speak
/// of. A run of others is refused: every figure of it would be 0, or wrong.
pub(super) fn check(
    settings: &Settings,
    collection: &dyn Collection,
    documents: &dyn Documents,
    file: &Path,
    runs: &[PathBuf],
) -> Result<(), Failure> {
    let found = runs.iter().find_map(|run| Some((run, record::documents_of(run)?)));
    match found {
        Some((run, of)) if of != documents.checksum().as_str() => {
            Err(other_bank(run, &of, documents, collection).into())
        }
        None if file.is_file() => {
            settings.note(&format!(
                "warning: no record beside {} says which question bank it is of",
                file.display()
            ));
            Ok(())
        }
        _ => Ok(()),
    }
}

fn other_bank(
    run: &Path,
    of: &str,
    documents: &dyn Documents,
    collection: &dyn Collection,
) -> Problem {
    let short: String = of.chars().take(12).collect();
    let bank = documents.checksum().short();
    let expected = format!("a run of the question bank {bank} in {}", collection.location());
    let found = format!("one of the bank {short}, as its record says");
    Problem::new(Location::file(run.display().to_string()), ProblemKind::Argument, expected, found)
        .hint("--data names the folder of the collection that the run was made on")
}
