//! `clariq eval` of an iKAT run: rankings and sets of statements, passages and responses.

use super::arguments::EvalArgs;
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::runs::{self, IkatTurns};
use crate::settings::Settings;
use clariq_collections::ikat::Split;
use clariq_collections::ikat::evaluation::{figures, rankings, sets};
use std::path::Path;

/// The ends of the names of figures that [`sets`] gives in full.
const SETS: &str = "sets ";

pub(super) fn ikat(
    settings: &Settings,
    arguments: &EvalArgs,
    split: Split,
    path: &Path,
) -> Result<(), Failure> {
    let ikat = settings.ikat()?;
    let turns = IkatTurns::read(&ikat, split)?;
    let (_, evaluated) = turns.evaluate(settings, path)?;
    let labels = &turns.labels;
    let rows = if arguments.measures.is_empty() {
        let mut rows = figures(&evaluated, labels)?;
        rows.retain(|(name, _)| !name.starts_with(SETS));
        rows.extend(sets(&evaluated, labels));
        rows
    } else {
        rankings(&evaluated, labels, &runs::measures(&arguments.measures)?)?
    };
    let mut sheet = Sheet::new(&["measure", "value"]);
    for (name, value) in rows {
        sheet.row(vec![Cell::text(name), Cell::Figure(value, 6)]);
    }
    Ok(sheet.print(settings.format)?)
}
