//! The page about runs of iKAT.

use super::{Asked, Rendered, uses};
use crate::failure::Failure;
use crate::runs::IkatTurns;
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_collections::ikat::evaluation::page::{Comparison, Entry, render as render_page};
use clariq_collections::ikat::evaluation::{Labels, columns};
use clariq_collections::ikat::{Ikat, Split};
use clariq_core::{Location, Problem, ProblemKind};
use std::path::Path;

/// The page; `None` for other collections.
pub(super) fn render(
    settings: &Settings,
    collection: &dyn Collection,
    asked: &Asked,
) -> Result<Option<Rendered>, Failure> {
    let split = Split::parse(asked.split);
    let (Some(ikat), Some(split)) = (collection.downcast::<Ikat>(), split) else {
        return Ok(None);
    };
    if let Some(need) = asked.arguments.needs.first() {
        let found = format!("`{}` with runs of iKAT", need.display());
        let at = Location::file("--need");
        let problem = Problem::new(at, ProblemKind::Argument, "runs of ClariQ beside it", found);
        return Err(problem.hint("leave it out: iKAT has no need labels").into());
    }
    let turns = IkatTurns::read(ikat, split)?;
    let named = asked.paths.iter().zip(&asked.names);
    let runs = named.map(|(path, name)| entry(settings, &turns, path, name));
    let runs = runs.collect::<Result<Vec<_>, _>>()?;
    let topics = ikat.topics(split)?;
    let page = render_page(&Comparison {
        title: &asked.title("iKAT"),
        ikat,
        split,
        topics,
        labels: as_shown(&turns.labels),
        runs: &runs,
        baseline: asked.baseline,
        seed: settings.seed,
    });
    Ok(Some(Rendered { page, topics: topics.turns().count() }))
}

fn entry(
    settings: &Settings,
    turns: &IkatTurns,
    path: &Path,
    name: &str,
) -> Result<Entry, Failure> {
    let (submission, evaluated) = turns.evaluate(settings, path)?;
    let columns = columns(&evaluated, &turns.labels, None, &[])?;
    Ok(Entry {
        name: name.to_owned(),
        uses: uses(settings, path, "submission"),
        submission,
        statements: evaluated.statements,
        passages: evaluated.passages,
        columns,
    })
}

fn as_shown(labels: &Labels) -> clariq_collections::ikat::evaluation::page::Labels<'_> {
    clariq_collections::ikat::evaluation::page::Labels {
        organisers: labels.organisers.as_ref(),
        nist: labels.nist.as_ref(),
        cited: labels.cited.as_ref(),
        graded: labels.graded.as_ref(),
    }
}
