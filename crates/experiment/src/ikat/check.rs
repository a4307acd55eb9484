//! The check of what systems reach against the figures that their configurations expect.

use super::answer::answer;
use super::evaluate::{Evaluated, Labels};
use super::figures::figures;
use super::write::{Paths, write};
use crate::error::Error;
use crate::reproduce::{Figure, compare};
use crate::session::Session;
use crate::systems::Loaded;
use clariq_collections::ikat::{Ikat, PASSAGES, Split};
use std::path::Path;

/// Runs systems on a split, writes their runs into the folder `runs`, and compares what they reach.
///
/// Figures hold for one collection of passages, by whose checksum the expected ones are found.
///
/// # Errors
///
/// Whatever ranking, reading labels and writing report.
pub fn check<'s>(
    session: &Session,
    ikat: &Ikat,
    systems: &'s [Loaded],
    split: Split,
    runs: &Path,
) -> Result<Vec<Figure<'s>>, Error> {
    let labels = Labels::read(ikat, split)?;
    let mut compared = Vec::new();
    for loaded in systems {
        let answers = answer(session, ikat, loaded, split)?;
        let name = &loaded.system.name;
        write(session, ikat, loaded, &answers, &Paths::usual(runs, ikat, name, split))?;
        let checksum = ikat.bank(PASSAGES).checksum().as_str();
        let expected = loaded.system.expected.iter().find(|expected| {
            checksum.starts_with(&expected.bank) && expected.split == split.name()
        });
        for (measure, obtained) in figures(&Evaluated::of_answers(ikat, &answers), &labels)? {
            compared.push(compare(name, expected, measure, obtained));
        }
    }
    Ok(compared)
}
