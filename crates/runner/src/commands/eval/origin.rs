//! Which collection a run was made on, by the record beside it.

use crate::failure::Failure;
use crate::settings::Settings;
use clariq_collections::clariq::ClariQ;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_experiment::record;
use std::path::{Path, PathBuf};

/// Opens the collection that a file is scored against. The records of `runs` may speak of it. A run
/// of other questions is refused: every figure of it would be 0, or wrong.
pub(super) fn open(settings: &Settings, file: &Path, runs: &[PathBuf]) -> Result<ClariQ, Failure> {
    let collection = settings.clariq()?;
    let found = runs.iter().find_map(|run| Some((run, record::documents_of(run)?)));
    match found {
        Some((run, documents)) if documents != collection.bank.checksum().as_str() => {
            Err(other_bank(run, &documents, &collection).into())
        }
        Some(_) => Ok(collection),
        None => {
            if file.is_file() {
                settings.note(&format!(
                    "warning: no record beside {} says which question bank it is of",
                    file.display()
                ));
            }
            Ok(collection)
        }
    }
}

fn other_bank(run: &Path, documents: &str, collection: &ClariQ) -> Problem {
    let short = |checksum: &str| checksum.chars().take(12).collect::<String>();
    let bank = collection.bank.checksum().short();
    let expected = format!("a run of the question bank {bank} in {}", collection.data);
    let found = format!("one of the bank {}, as its record says", short(documents));
    Problem::new(Location::file(run.display().to_string()), ProblemKind::Argument, expected, found)
        .hint("--data names the folder of the collection that the run was made on")
}
