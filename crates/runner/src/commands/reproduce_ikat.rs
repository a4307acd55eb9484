//! `clariq reproduce` of systems for iKAT.

use crate::commands::reproduce::arguments::ReproduceArgs;
use crate::commands::reproduce::figures::{figure_cells, new_sheet};
use crate::failure::{Failure, Outcome};
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_collections::ikat::{Folder, Split};
use clariq_experiment::Loaded;
use clariq_experiment::ikat::check;
use clariq_experiment::reproduce::Verdict;

/// What the figures of passages are of, which no published figure is.
const SUBSTITUTE: &str = "note: passages are those that the organisers' responses cite, a substitute \
                          for the licensed collection: figures on them compare with each other alone";

/// Runs systems on every split with labels, and compares what they reach with what they expect.
pub(crate) fn reproduce_ikat(
    settings: &Settings,
    arguments: &ReproduceArgs,
    systems: &[Loaded],
) -> Result<Outcome, Failure> {
    let ikat = settings.ikat()?;
    if *ikat.folder() != Folder::Sample {
        settings.note(SUBSTITUTE);
    }
    let only = arguments.split.as_deref();
    let only = only.map(|name| (&ikat as &dyn Collection).find_split(name)).transpose()?;
    let session = settings.session(&ikat, &arguments.place)?;
    let (mut sheet, mut failed) = (new_sheet(), false);
    for split in ikat.folder().splits() {
        let is_wanted = only.is_none_or(|only| only == split.name());
        if !is_wanted || !has_figures(systems, split) && only.is_none() {
            continue;
        }
        let session = session.clone().answering(split.name());
        for figure in check(&session, &ikat, systems, split, &arguments.runs)? {
            failed |= figure.verdict == Some(Verdict::Fail);
            sheet.row(figure_cells(&figure, split.name()));
        }
    }
    sheet.print(settings.format)?;
    settings.note(&format!("run files are in {}", arguments.runs.display()));
    Ok(if failed { Outcome::CheckFailed } else { Outcome::Done })
}

/// Whether a system expects figures of a split.
fn has_figures(systems: &[Loaded], split: Split) -> bool {
    let expects = |loaded: &Loaded| {
        loaded.system.expected.iter().any(|expected| expected.split == split.name())
    };
    systems.iter().any(expects)
}
