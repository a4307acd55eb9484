//! What is handed in to iKAT, scored turn by turn.

use super::{CompareArgs, Scorer};
use crate::failure::Failure;
use crate::runs::{self, IkatTurns};
use crate::settings::Settings;
use clariq_collections::Collection;
use clariq_collections::ikat::evaluation::{Part, columns};
use clariq_collections::ikat::{Ikat, Split};
use clariq_core::{Location, Problem, ProblemKind};
use clariq_eval::{Column, Measure};
use std::path::Path;

struct Turns<'a> {
    known: IkatTurns<'a>,
    part: Option<Part>,
    measures: Vec<Box<dyn Measure>>,
}

/// The scorer of iKAT; `None` for other collections.
pub(super) fn scorer<'a>(
    collection: &'a dyn Collection,
    split: &str,
    arguments: &CompareArgs,
) -> Result<Option<Box<dyn Scorer + 'a>>, Failure> {
    let (Some(ikat), Some(split)) = (collection.downcast::<Ikat>(), Split::parse(split)) else {
        return Ok(None);
    };
    if arguments.ties.is_some() {
        let problem = refusal("--ties", "runs of ClariQ beside it", "runs of iKAT");
        return Err(problem.hint("leave it out: equal scores are in the order of ids").into());
    }
    let part = arguments.task.as_deref().map(part).transpose()?;
    let measures = runs::measures(&arguments.measures)?;
    if let Some(part) = part.filter(|part| !part.is_ranking() && !measures.is_empty()) {
        let found = format!("--task {}", part.name());
        let problem = refusal("-m", "--task statements or --task passages", &found);
        return Err(problem.hint("sets and responses have measures of their own").into());
    }
    let known = IkatTurns::read(ikat, split)?;
    Ok(Some(Box::new(Turns { known, part, measures })))
}

fn part(name: &str) -> Result<Part, Problem> {
    Part::named(name).ok_or_else(|| {
        let expected = format!("one of {}", Part::ALL.map(Part::name).join(", "));
        refusal("--task", &expected, &format!("`{name}`"))
            .hint("--task says what is scored of the runs; without it, all is")
    })
}

fn refusal(flag: &str, expected: &str, found: &str) -> Problem {
    Problem::new(Location::file(flag), ProblemKind::Argument, expected, found)
}

impl Scorer for Turns<'_> {
    fn score(&self, settings: &Settings, path: &Path) -> Result<Vec<Column>, Failure> {
        let (_, evaluated) = self.known.evaluate(settings, path)?;
        Ok(columns(&evaluated, &self.known.labels, self.part, &self.measures)?)
    }
}
