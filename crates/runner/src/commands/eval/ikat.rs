//! `clariq eval` of an iKAT run: rankings and sets of statements, passages and responses.

use super::arguments::EvalArgs;
use crate::failure::Failure;
use crate::output::{Cell, Sheet};
use crate::runs;
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_collections::ikat::Split;
use clariq_collections::ikat::run::Submission;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_experiment::ikat::{Evaluated, Labels, figures, rankings, sets};
use clariq_files::Source;
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
    let labels = Labels::read(&ikat, split)?;
    if labels.are_absent() {
        let at = Location::file(ikat.location());
        let expected = format!("labels of {split}");
        let problem = Problem::new(at, ProblemKind::MissingFile, expected, "topics without labels");
        return Err(problem.hint("the labels of this year are not released: use 2023-test").into());
    }
    let submission = Submission::read(&Source::new(path), split.year())?;
    let evaluated = Evaluated::of_submission(&ikat, split, &submission);
    let rows = if arguments.measures.is_empty() {
        let mut rows = figures(&evaluated, &labels)?;
        rows.retain(|(name, _)| !name.starts_with(SETS));
        rows.extend(sets(&evaluated, &labels));
        rows
    } else {
        rankings(&evaluated, &labels, &runs::measures(&arguments.measures)?)?
    };
    let mut sheet = Sheet::new(&["measure", "value"]);
    for (name, value) in rows {
        sheet.row(vec![Cell::text(name), Cell::Figure(value, 6)]);
    }
    Ok(sheet.print(settings.format)?)
}
