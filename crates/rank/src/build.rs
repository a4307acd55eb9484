//! Builds pipelines and stages from the tables that declare them.

use crate::pipeline::{Pipeline, Preparation};
use crate::rewrite::REWRITE;
use crate::rewriters::read_rewriter;
use crate::space::SpaceConfig;
use crate::stage::Stage;
use crate::table::Table;
use clariq_core::{Result, bail, similar};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::cell::RefCell;

pub(crate) type Factory = fn(Build) -> Result<Box<dyn Stage>>;

/// Settings of a system's file that its stages depend on.
#[derive(Clone, Copy)]
pub(crate) struct SystemSettings<'i> {
    /// All stages, by name.
    pub(crate) registry: &'static [(&'static str, Factory)],
    /// The default similarity of stages.
    pub(crate) space: &'i SpaceConfig,
    /// True if a model predicts needs.
    pub(crate) need: bool,
    /// The task whose pipeline is built, in a system with several tasks.
    pub(crate) task: Option<&'i str>,
    /// True if the requests of the pipeline were rewritten.
    pub(crate) is_rewritten: bool,
    pub(crate) overridden: &'i RefCell<Overridden>,
}

/// The use that was made of overrides so far.
pub(crate) struct Overridden {
    /// For each override, true if a stage or table has used it.
    pub(crate) used: Vec<bool>,
    /// The stages and tables that overrides can be for.
    pub(crate) names: Vec<String>,
}

/// Builds a stage that is deserialized from its table as it is.
pub(crate) fn of_keys<S: Stage + DeserializeOwned + 'static>(
    build: Build,
) -> Result<Box<dyn Stage>> {
    Ok(Box::new(build.table.read::<S>()?))
}

pub(crate) struct Build<'i> {
    pub(crate) table: Table<'i>,
    settings: SystemSettings<'i>,
}

/// Takes the keys `stages` and `rewrite` out of a table, and builds the pipeline that they declare.
pub(crate) fn take_pipeline(
    table: &mut Table<'_>,
    settings: SystemSettings<'_>,
) -> Result<Pipeline> {
    let mut preparation = None;
    if let Some(mut table) = table.take_table(REWRITE)? {
        settings.override_keys(&mut table, REWRITE)?;
        preparation = Some(Preparation::Rewrite(read_rewriter(table)?));
    }
    let is_rewritten = settings.is_rewritten || preparation.is_some();
    let settings = SystemSettings { is_rewritten, ..settings };
    let mut stages = Vec::new();
    for table in table.take_tables("stages")? {
        stages.push(build_stage(table, settings)?);
    }
    Ok(Pipeline { preparation, stages })
}

/// Builds the pipeline of a table that must have no other keys.
pub(crate) fn build_pipeline<'i>(
    mut table: Table<'i>,
    settings: SystemSettings<'i>,
) -> Result<Pipeline> {
    #[derive(Deserialize)]
    #[serde(deny_unknown_fields)]
    struct Nothing {}

    let pipeline = take_pipeline(&mut table, settings)?;
    table.read::<Nothing>()?;
    Ok(pipeline)
}

impl Overridden {
    /// Applies the overrides of a stage, or of another table such as `[answer]`, to its table.
    pub(crate) fn apply(
        &mut self,
        table: &mut Table<'_>,
        task: Option<&str>,
        stage: &str,
    ) -> Result<()> {
        self.names.push(stage.to_owned());
        for (index, change) in table.file.overrides.iter().enumerate() {
            if let Some(key) = change.key_of(task, stage) {
                table.set(key, index)?;
                self.used[index] = true;
            }
        }
        Ok(())
    }
}

impl SystemSettings<'_> {
    /// Applies the overrides of a stage, or of another table, in the task whose pipeline is built.
    pub(crate) fn override_keys(&self, table: &mut Table<'_>, stage: &str) -> Result<()> {
        self.overridden.borrow_mut().apply(table, self.task, stage)
    }
}

fn build_stage<'i>(mut table: Table<'i>, settings: SystemSettings<'i>) -> Result<Box<dyn Stage>> {
    let (name, span) = table.take_string("stage")?;
    let Some((_, factory)) = settings.registry.iter().find(|(stage, _)| *stage == name) else {
        let names: Vec<&str> = settings.registry.iter().map(|(name, _)| *name).collect();
        let expected = format!("a stage, one of `{}`", names.join("`, `"));
        let hint = match similar(&name, names) {
            Some(known) => format!("did you mean `{known}`?"),
            None => {
                "the documentation lists all stages and their keys (reference, Stages)".to_owned()
            }
        };
        bail!((table.file.at(span)), expected, "`{name}`", hint)
    };
    settings.override_keys(&mut table, &name)?;
    factory(Build { table, settings })
}

impl Build<'_> {
    /// Builds the pipelines under a key, for a stage that contains pipelines.
    pub(crate) fn inner(&mut self, key: &str) -> Result<Vec<Pipeline>> {
        let mut pipelines = Vec::new();
        for input in self.table.take_tables(key)? {
            if self.settings.is_rewritten && input.has(REWRITE) {
                let hint = "remove `rewrite` from around the stage, or from all of its inputs";
                let at = input.at(REWRITE);
                bail!(at, "requests that are rewritten once", "`rewrite` within `rewrite`", hint);
            }
            pipelines.push(build_pipeline(input, self.settings)?);
        }
        Ok(pipelines)
    }

    /// The space that the stage works in: its own, or that of the system.
    pub(crate) fn space(&mut self) -> Result<SpaceConfig> {
        let at = self.table.at("space");
        let space = match self.table.take_table("space")? {
            Some(own) => own.read()?,
            None => self.settings.space.clone(),
        };
        space.check(at)?;
        Ok(space)
    }

    /// Refuses a key that uses predicted needs if the system has no need model.
    pub(crate) fn require_need_model(&self, key: &str) -> Result<()> {
        if self.settings.need || !self.table.has(key) {
            return Ok(());
        }
        let expected = format!("a table [need], whose predictions `{key}` uses");
        let hint = "add `[need]` with `model = \"lexical\"`; the documentation lists the need models (reference, Models)";
        bail!((self.table.at(key)), expected, "a system without one", hint)
    }
}
