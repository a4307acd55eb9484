//! Which stages are there? Adding one is adding a file in `stages/` and a line here.

mod bm25;
mod bm25_conversation;
mod competition;
mod cutoff;
mod dense;
mod dense_conversation;
mod exclude;
mod exclude_asked;
mod feedback;
mod fuse;
mod no_question;
mod open_questions;
mod rerank;
mod said;
mod stop;
mod ties;

use crate::config::Override;
use crate::error::Error;
use crate::space::SpaceConfig;
use crate::stage::{Ranking, Stage};
use crate::table::Table;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_index::Hit;
use std::cmp::Ordering;

/// What a stage's table may need to be built.
pub(crate) struct Build<'i, 'o> {
    pub(crate) table: Table<'i>,
    beside: Beside<'o>,
    overrides: &'i [Override],
    unused: &'o mut Vec<&'i Override>,
}

/// What stands in a system's file beside its stages and matters to them.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'o> {
    /// How likeness is measured where a stage does not say.
    pub(crate) space: &'o SpaceConfig,
    /// Whether there is a need model.
    pub(crate) need: bool,
}

type Factory = fn(Build) -> Result<Box<dyn Stage>, Error>;

const STAGES: &[(&str, Factory)] = &[
    ("bm25", bm25::build),
    ("bm25_conversation", bm25_conversation::build),
    ("competition", competition::build),
    ("cross_encode", rerank::build_cross_encode),
    ("cutoff", cutoff::build),
    ("dense", dense::build),
    ("dense_conversation", dense_conversation::build),
    ("exclude", exclude::build),
    ("exclude_asked", exclude_asked::build),
    ("feedback", feedback::build),
    ("fuse", fuse::build),
    ("no_question", no_question::build),
    ("open_questions", open_questions::build),
    ("rerank", rerank::build),
    ("stop", stop::build),
];

/// Builds the stage that a table declares.
pub(crate) fn build<'i>(
    mut table: Table<'i>,
    beside: Beside,
    overrides: &'i [Override],
    unused: &mut Vec<&'i Override>,
) -> Result<Box<dyn Stage>, Error> {
    let (name, span) = table.take_string("stage")?;
    let Some((_, factory)) = STAGES.iter().find(|(stage, _)| *stage == name) else {
        let names: Vec<_> = STAGES.iter().map(|(name, _)| format!("`{name}`")).collect();
        let at = table.file.at(span);
        let expected = format!("a stage, one of {}", names.join(", "));
        return Err(Problem::new(at, ProblemKind::Configuration, expected, format!("`{name}`"))
            .hint("configs/README.md lists all stages and their keys")
            .into());
    };
    for change in overrides.iter().filter(|change| change.stage == name) {
        table.set(change);
        unused.retain(|other| *other != change);
    }
    factory(Build { table, beside, overrides, unused })
}

impl Build<'_, '_> {
    /// Builds the pipelines of a stage that has stages inside.
    pub(crate) fn inner(&mut self, key: &str) -> Result<Vec<Vec<Box<dyn Stage>>>, Error> {
        let mut pipelines = Vec::new();
        for mut input in self.table.take_tables(key)? {
            let mut stages = Vec::new();
            for table in input.take_tables("stages")? {
                stages.push(build(table, self.beside, self.overrides, self.unused)?);
            }
            pipelines.push(stages);
            // Nothing else may stand beside the stages.
            input.read::<Empty>()?;
        }
        Ok(pipelines)
    }
}

impl Build<'_, '_> {
    /// The space that the stage works in: its own, or that of the system.
    pub(crate) fn space(&mut self) -> Result<SpaceConfig, Error> {
        let at = self.table.at("space");
        let space = match self.table.take_table("space")? {
            Some(own) => own.read()?,
            None => self.beside.space.clone(),
        };
        space.check(at)?;
        Ok(space)
    }

    /// Whether the system has a model that predicts needs.
    pub(crate) fn predicts_need(&self) -> bool {
        self.beside.need
    }
}

/// A key at some place looks at needs, and nothing predicts them.
fn no_need_model(at: Location, key: &str) -> Error {
    let expected = format!("a table [need], whose predictions `{key}` looks at");
    Problem::new(at, ProblemKind::Configuration, expected, "a system without one")
        .hint("add `[need]` with `model = \"lexical\"`; configs/README.md lists the need models")
        .into()
}

/// Questions in the order of their scores, at most so many.
fn ranked(questions: &[u32], scores: impl Iterator<Item = f32>, depth: usize) -> Ranking {
    let hit = |(&question, score): (&u32, f32)| Hit { question, score: f64::from(score) };
    let mut ranking: Ranking = questions.iter().zip(scores).map(hit).collect();
    if depth < ranking.len() {
        // No two are equal, so that the first are the same ones whatever the order of the rest.
        ranking.select_nth_unstable_by(depth, best_first);
        // A copy, so that a block of rankings does not hold the room of the whole bank for each.
        ranking = ranking[..depth].to_vec();
    }
    ranking.sort_unstable_by(best_first);
    ranking
}

/// The order of every ranking.
fn best_first(a: &Hit, b: &Hit) -> Ordering {
    b.score.total_cmp(&a.score).then(b.question.cmp(&a.question))
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}
