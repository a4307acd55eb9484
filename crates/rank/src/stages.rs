//! Which stages are there? Adding one is adding a file in `stages/` and a line here.

mod bm25;
mod bm25_conversation;
mod cutoff;
mod exclude_asked;
mod fuse;
mod no_question;
mod stop;

use crate::config::Override;
use crate::error::Error;
use crate::stage::Stage;
use crate::table::Table;
use clariq_corpus::{Problem, ProblemKind};

/// What a stage's table may need to be built.
pub(crate) struct Build<'i, 'o> {
    pub(crate) table: Table<'i>,
    overrides: &'i [Override],
    unused: &'o mut Vec<&'i Override>,
}

type Factory = fn(Build) -> Result<Box<dyn Stage>, Error>;

const STAGES: &[(&str, Factory)] = &[
    ("bm25", bm25::build),
    ("bm25_conversation", bm25_conversation::build),
    ("cutoff", cutoff::build),
    ("exclude_asked", exclude_asked::build),
    ("fuse", fuse::build),
    ("no_question", no_question::build),
    ("stop", stop::build),
];

/// Builds the stage that a table declares.
pub(crate) fn build<'i>(
    mut table: Table<'i>,
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
    factory(Build { table, overrides, unused })
}

impl Build<'_, '_> {
    /// Builds the pipelines of a stage that has stages inside.
    pub(crate) fn inner(&mut self, key: &str) -> Result<Vec<Vec<Box<dyn Stage>>>, Error> {
        let mut pipelines = Vec::new();
        for mut input in self.table.take_tables(key)? {
            let mut stages = Vec::new();
            for table in input.take_tables("stages")? {
                stages.push(build(table, self.overrides, self.unused)?);
            }
            pipelines.push(stages);
            // Nothing else may stand beside the stages.
            input.read::<Empty>()?;
        }
        Ok(pipelines)
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct Empty {}
