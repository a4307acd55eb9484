//! Making stages of the tables that declare them.

use crate::space::SpaceConfig;
use crate::stage::Stage;
use crate::table::{Nothing, Override, Table};
use clariq_core::Error;
use clariq_core::{Location, Problem, ProblemKind};

/// Makes a stage of its table.
pub(crate) type Factory = fn(Build) -> Result<Box<dyn Stage>, Error>;

/// What a system's file holds beside its stages that matters to them.
#[derive(Clone, Copy)]
pub(crate) struct Beside<'o> {
    /// The stages that there are, by name.
    pub(crate) registry: &'static [(&'static str, Factory)],
    /// How likeness is measured where a stage does not say.
    pub(crate) space: &'o SpaceConfig,
    /// Whether a model predicts needs.
    pub(crate) need: bool,
    /// The task whose pipeline is made, in a system of several.
    pub(crate) task: Option<&'o str>,
    /// The parameters that replace those of the file.
    pub(crate) overrides: &'o [Override],
}

/// What a stage is made of.
pub(crate) struct Build<'i, 'o> {
    pub(crate) table: Table<'i>,
    beside: Beside<'i>,
    unused: &'o mut Vec<&'i Override>,
}

/// Makes the stage that a table declares. Overrides that it takes are no longer `unused`.
pub(crate) fn build_stage<'i>(
    mut table: Table<'i>,
    beside: Beside<'i>,
    unused: &mut Vec<&'i Override>,
) -> Result<Box<dyn Stage>, Error> {
    let (name, span) = table.take_string("stage")?;
    let Some((_, factory)) = beside.registry.iter().find(|(stage, _)| *stage == name) else {
        let names: Vec<_> = beside.registry.iter().map(|(name, _)| format!("`{name}`")).collect();
        let at = table.file.at(span);
        let expected = format!("a stage, one of {}", names.join(", "));
        return Err(Problem::new(at, ProblemKind::Configuration, expected, format!("`{name}`"))
            .hint("configs/README.md lists all stages and their keys")
            .into());
    };
    for change in beside.overrides {
        if let Some(key) = change.key_of(beside.task, &name) {
            table.set(key, change);
            unused.retain(|other| *other != change);
        }
    }
    factory(Build { table, beside, unused })
}

impl Build<'_, '_> {
    /// Makes the stages of each table of a list, for a stage that has pipelines inside.
    pub(crate) fn inner(&mut self, key: &str) -> Result<Vec<Vec<Box<dyn Stage>>>, Error> {
        let mut pipelines = Vec::new();
        for mut input in self.table.take_tables(key)? {
            let mut stages = Vec::new();
            for table in input.take_tables("stages")? {
                stages.push(build_stage(table, self.beside, self.unused)?);
            }
            pipelines.push(stages);
            // Nothing else may stand beside the stages.
            input.read::<Nothing>()?;
        }
        Ok(pipelines)
    }

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

    /// Refuses a key that looks at needs where no model predicts them.
    pub(crate) fn require_need_model(&self, at: Location, key: &str) -> Result<(), Error> {
        if self.beside.need {
            return Ok(());
        }
        let expected = format!("a table [need], whose predictions `{key}` looks at");
        Err(Problem::new(at, ProblemKind::Configuration, expected, "a system without one")
            .hint(
                "add `[need]` with `model = \"lexical\"`; configs/README.md lists the need models",
            )
            .into())
    }
}
