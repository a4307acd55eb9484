//! The file of a system: TOML with pipelines of stages, declared uses, and expected scores.

use crate::build::{Overridden, SystemSettings, build_pipeline, take_pipeline};
use crate::pipeline::Pipeline;
use crate::space::SpaceConfig;
use crate::stage::Uses;
use crate::stages::STAGES;
use crate::table::{ConfigFile, ConfigSection, Override, Table};
use clariq_core::{Location, Name, Result, bail, similar};
use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// The scores that a system should reach on one split of one collection.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ExpectedScores {
    /// The collection's name, for the table.
    pub collection: String,
    /// The first digits of the bank's checksum: scores hold for one bank only.
    pub bank: String,
    /// The split's name.
    pub split: String,
    /// The tolerance within which a score is `close`, for approximate methods.
    #[serde(default)]
    pub tolerance: f64,
    /// Scores by measure, as this program computes them.
    #[serde(default)]
    pub measures: BTreeMap<String, f64>,
    /// Scores by measure, as they were published for the same method.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
    /// The measures of all scores, with their lines.
    #[serde(skip)]
    pub lines: Vec<(String, Location)>,
}

/// The form of a system's multi-turn runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ConversationConfig {
    /// Lines for each context.
    pub lines: NonZeroUsize,
    /// The contents of the fields rank and score.
    pub scores: WrittenScores,
}

impl Default for ConversationConfig {
    fn default() -> Self {
        Self { lines: NonZeroUsize::MIN, scores: WrittenScores::default() }
    }
}

/// The contents of the fields rank and score of a multi-turn run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrittenScores {
    /// Ranks from 1 and the scores of the ranking.
    #[default]
    Own,
    /// Ranks from 0, and the number of remaining questions in the ranking, as in the published runs.
    Remaining,
}

/// A system as its file declares it, without the tables that other crates read.
pub struct SystemFile {
    /// Its name: the stem of its output files and its run tag.
    pub name: String,
    /// A description in one line.
    pub description: String,
    /// The data on which its parameters were chosen, if any were.
    pub chosen_on: Option<String>,
    /// Inputs beyond one request and the documents.
    pub uses: Vec<Uses>,
    /// The pipeline; it has no stages in a system with several tasks.
    pub pipeline: Pipeline,
    /// The pipeline of each task, by name, in a system with several tasks.
    pub tasks: BTreeMap<String, Pipeline>,
    /// The form of its multi-turn runs.
    pub conversation: ConversationConfig,
    /// The scores it should reach.
    pub expected: Vec<ExpectedScores>,
}

/// The tables of a system that other crates read.
pub struct Sections<'i> {
    /// The tables `[models.NAME]`.
    pub models: Option<ConfigSection<'i>>,
    /// The table `[need]`.
    pub need: Option<ConfigSection<'i>>,
    /// The table `[answer]`.
    pub answer: Option<ConfigSection<'i>>,
    /// The table `[ask]`.
    pub ask: Option<ConfigSection<'i>>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct SystemHeader {
    name: String,
    #[serde(default)]
    description: String,
    chosen_on: Option<String>,
    /// Other words for it, for who looks for a built-in system.
    #[serde(default, rename = "also")]
    _also: Vec<String>,
    #[serde(default)]
    uses: Vec<Uses>,
    #[serde(default)]
    conversation: ConversationConfig,
}

impl SystemFile {
    /// Parses the text of a configuration without the tables that other crates read; `name` is for
    /// messages.
    pub fn parse(name: &str, text: &str, overrides: &[Override]) -> Result<Self> {
        Ok(Self::parse_with_sections(name, text, overrides)?.0)
    }

    /// Parses the text of a configuration, and takes out the tables that other crates read.
    pub fn parse_with_sections<'i>(
        name: &'i str,
        text: &'i str,
        overrides: &'i [Override],
    ) -> Result<(Self, Sections<'i>)> {
        let mut table = Table::parse(ConfigFile { name, text, overrides })?;
        let at = Location::line(name, 1);
        let none = Overridden { used: vec![false; overrides.len()], names: Vec::new() };
        let overridden = RefCell::new(none);
        let mut space = table.take_table("space")?;
        if let Some(table) = &mut space {
            overridden.borrow_mut().apply(table, None, "space")?;
        }
        let space: SpaceConfig = space.map(Table::read).transpose()?.unwrap_or_default();
        let need = table.has("need");
        let settings = SystemSettings {
            registry: STAGES,
            space: &space,
            need,
            task: None,
            is_rewritten: false,
            overridden: &overridden,
        };
        let mut pipeline = take_pipeline(&mut table, settings)?;
        let is_rewritten = pipeline.preparation.is_some();
        let mut tasks = BTreeMap::new();
        for (task, table) in table.take_named_tables("tasks")? {
            let settings = SystemSettings { task: Some(&task), is_rewritten, ..settings };
            let own = build_pipeline(table, settings)?;
            let preparation = own.preparation.or(pipeline.preparation.clone());
            tasks.insert(task, Pipeline { preparation, ..own });
        }
        if !tasks.is_empty() {
            pipeline.preparation = None;
        }
        let mut take = |key| -> Result<Option<ConfigSection>> {
            let at = table.at(key);
            let Some(mut table) = table.take_table(key)? else { return Ok(None) };
            settings.override_keys(&mut table, key)?;
            Ok(Some(ConfigSection { at, table }))
        };
        let sections = Sections {
            models: take("models")?,
            need: take("need")?,
            answer: take("answer")?,
            ask: take("ask")?,
        };
        let Overridden { used, names } = overridden.into_inner();
        if let Some((unused, _)) = overrides.iter().zip(used).find(|(_, used)| !used) {
            let Override { stage, key, .. } = unused;
            let models = sections.models.as_ref();
            let hint = if models.is_some_and(|models| models.table.has(stage)) {
                format!("did you mean `models.{stage}.{key}`?")
            } else if let Some(known) = similar(stage, names.iter().map(String::as_str)) {
                format!("did you mean `{known}.{key}`?")
            } else {
                "leave the option out, or choose a system that has it".to_owned()
            };
            let expected = format!("a stage or a table `{}` in {name}", unused.stage);
            bail!((unused.location()), expected, "a system without it", hint)
        }
        let expected = table.take_tables("expected")?;
        let expected = expected.into_iter().map(ExpectedScores::read).collect::<Result<_>>()?;
        let SystemHeader { name, description, chosen_on, uses, conversation, .. } = table.read()?;
        let file =
            Self { name, description, chosen_on, uses, pipeline, tasks, conversation, expected };
        file.check(&at)?;
        Ok((file, sections))
    }

    /// The pipelines of all tasks, or the only one.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        [&self.pipeline].into_iter().chain(self.tasks.values())
    }

    fn check(&self, at: &Location) -> Result<()> {
        let is_empty = |pipeline: &Pipeline| pipeline.stages.is_empty();
        if self.pipelines().all(is_empty) || self.tasks.values().any(is_empty) {
            let hint = "the documentation lists all stages (reference, Stages)";
            bail!(at, "at least one [[stages]] table", "none", hint)
        }
        if !is_empty(&self.pipeline) && !self.tasks.is_empty() {
            let hint = "a system ranks for one task by [[stages]], or for several by \
                        [[tasks.NAME.stages]]";
            bail!(at, "either [[stages]] or [tasks]", "both", hint)
        }
        check_name(&self.name, at)?;
        let about = self.pipelines().flat_map(Pipeline::about);
        if let Some(uses) =
            about.flat_map(|stage| stage.uses).find(|uses| !self.uses.contains(uses))
        {
            let hint = "the input of a system is shown beside its scores and must be declared";
            bail!(at, "uses = [\"{uses}\"]", (format!("{:?}", self.uses)), hint)
        }
        Ok(())
    }
}

/// Refuses a name that files cannot have.
pub(crate) fn check_name(name: &str, at: &Location) -> Result<()> {
    if Name::new(name).is_err() {
        let expected = "a name of letters, digits, `-`, `_` and `.`";
        let hint = "the name is used in file names and as run tag";
        bail!(at, expected, "`{name}`", hint)
    }
    Ok(())
}

impl ExpectedScores {
    pub(crate) fn read(table: Table) -> Result<Self> {
        let lines = ["measures", "published"].map(|key| table.keys_of(key)).concat();
        Ok(Self { lines, ..table.read()? })
    }
}
