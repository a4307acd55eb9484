//! Systems: TOML files that declare a pipeline, a need model, what they look at, and the figures
//! they should reach.

use crate::build::{Beside, build_stage};
use crate::pipeline::Pipeline;
use crate::space::SpaceConfig;
use crate::stage::Uses;
use crate::stages::STAGES;
use crate::table::{File, Override, Section, Table};
use clariq_core::Error;
use clariq_core::{Location, ModelName, Name, Problem, ProblemKind};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// The figures that a system should reach on one split of one collection.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The collection's name, for the table.
    pub collection: String,
    /// The first digits of the bank's checksum: figures hold for one bank only.
    pub bank: String,
    /// The split's name.
    pub split: String,
    /// How far a figure may be off and still be `close`, where the method is approximate.
    #[serde(default)]
    pub tolerance: f64,
    /// Measure and figure, as this program computes it.
    pub measures: BTreeMap<String, f64>,
    /// Measure and figure, as it was published.
    #[serde(default)]
    pub published: BTreeMap<String, f64>,
}

/// How a multi-turn run of a system is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ConversationConfig {
    /// Lines for each context.
    #[serde(default = "one_line")]
    pub lines: NonZeroUsize,
    /// The contents of the fields rank and score.
    #[serde(default)]
    pub scores: WrittenScores,
}

impl Default for ConversationConfig {
    fn default() -> Self {
        Self { lines: one_line(), scores: WrittenScores::default() }
    }
}

/// The official scorer reads no rank, and nothing of a score but its order.
fn one_line() -> NonZeroUsize {
    NonZeroUsize::MIN
}

/// What a multi-turn run says of its ranks and scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum WrittenScores {
    /// Ranks from 1 and the scores of the ranking.
    #[default]
    Own,
    /// Ranks from 0, and how many questions are left in the ranking: as the published runs have it.
    Remaining,
}

/// A system as its file declares it.
pub struct System {
    /// Its name: the stem of its output files and its run tag.
    pub name: String,
    /// What it is, in a sentence.
    pub description: String,
    /// What it looks at beyond one request and the documents.
    pub uses: Vec<Uses>,
    /// What makes its ranking; without stages in a system of several tasks.
    pub pipeline: Pipeline,
    /// What makes its ranking of each task, by the task's name, in a system of several.
    pub tasks: BTreeMap<String, Pipeline>,
    /// How it answers of what it found; the crate `experiment` reads it.
    pub answer: Option<Section>,
    /// What makes its need file; the crate `need` reads it.
    pub need: Option<Section>,
    /// How its multi-turn runs are written.
    pub conversation: ConversationConfig,
    /// The figures it should reach.
    pub expected: Vec<Expected>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Header {
    name: String,
    #[serde(default)]
    description: String,
    #[serde(default)]
    uses: Vec<Uses>,
    #[serde(default)]
    conversation: ConversationConfig,
    #[serde(default)]
    expected: Vec<Expected>,
}

impl System {
    /// Reads a configuration file.
    pub fn read(source: &Source, overrides: &[Override]) -> Result<Self, Error> {
        let input = source.read_at_most(MOST_OF_A_CONFIGURATION)?;
        match std::str::from_utf8(&input.bytes) {
            Ok(text) => Self::parse(&input.name, text, overrides),
            Err(error) => {
                let sound = &input.bytes[..error.valid_up_to()];
                let line = sound.split(|&byte| byte == b'\n').count() as u64;
                let found = format!("the byte 0x{:02x}", input.bytes[sound.len()]);
                Err(Problem::new(Location::line(input.name, line), ProblemKind::NotUtf8, "TOML in UTF-8", found)
                    .hint("convert the file, for example with `iconv -f latin1 -t utf-8`, if it is a configuration")
                    .into())
            }
        }
    }

    /// Parses the text of a configuration; `name` is the file's, for messages.
    pub fn parse(name: &str, text: &str, overrides: &[Override]) -> Result<Self, Error> {
        let file = File { name, text };
        let mut table = Table::parse(file)?;
        let space: SpaceConfig =
            table.take_table("space")?.map(Table::read).transpose()?.unwrap_or_default();
        let need = table.has("need");
        let beside = Beside { registry: STAGES, space: &space, need, task: None, overrides };
        let mut tables = table.take_tables("stages")?;
        let mut unused: Vec<&Override> = overrides.iter().collect();
        let mut built = Vec::with_capacity(tables.len());
        for stage in tables.drain(..) {
            built.push(build_stage(stage, beside, &mut unused)?);
        }
        let mut tasks = BTreeMap::new();
        let named = table.take_named_tables("tasks", "stages")?;
        let names: Vec<String> = named.iter().map(|(task, _)| task.clone()).collect();
        for ((task, stages), name) in named.into_iter().zip(&names) {
            let mut pipeline = Pipeline { stages: Vec::with_capacity(stages.len()) };
            let beside = Beside { task: Some(name), ..beside };
            for stage in stages {
                pipeline.stages.push(build_stage(stage, beside, &mut unused)?);
            }
            tasks.insert(task, pipeline);
        }
        if let Some(unused) = unused.first() {
            return Err(no_such_stage(file, unused).into());
        }
        let need = table.take_section("need")?;
        let answer = table.take_section("answer")?;
        let header: Header = table.read()?;
        let system = Self {
            name: header.name,
            description: header.description,
            uses: header.uses,
            pipeline: Pipeline { stages: built },
            tasks,
            answer,
            need,
            conversation: header.conversation,
            expected: header.expected,
        };
        system.check(file)?;
        Ok(system)
    }

    /// The learned models that its stages ask for, each once, in their order.
    pub fn models(&self) -> Vec<ModelName> {
        let mut models: Vec<ModelName> = Vec::new();
        for model in self.pipelines().flat_map(Pipeline::about).flat_map(|stage| stage.models) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }

    /// The pipelines of all tasks, or the one that there is.
    pub fn pipelines(&self) -> impl Iterator<Item = &Pipeline> {
        [&self.pipeline].into_iter().chain(self.tasks.values())
    }

    fn check(&self, file: File) -> Result<(), Error> {
        let problem = |expected: &str, found: String, hint: &str| {
            Problem::new(file.at(0..0), ProblemKind::Configuration, expected, found).hint(hint)
        };
        let is_empty = |pipeline: &Pipeline| pipeline.stages.is_empty();
        if self.pipelines().all(is_empty) || self.tasks.values().any(is_empty) {
            let found = "none".to_owned();
            return Err(problem(
                "at least one [[stages]] table",
                found,
                "configs/README.md lists all stages",
            )
            .into());
        }
        if !is_empty(&self.pipeline) && !self.tasks.is_empty() {
            let hint = "a system ranks for one task by [[stages]], or for several by \
                        [[tasks.NAME.stages]]";
            let expected = "either [[stages]] or [tasks]";
            return Err(problem(expected, "both".to_owned(), hint).into());
        }
        if Name::new(&*self.name).is_err() {
            let hint = "the name is used in file names and as run tag";
            return Err(problem(
                "a name of letters, digits, `-`, `_` and `.`",
                format!("`{}`", self.name),
                hint,
            )
            .into());
        }
        let about = self.pipelines().flat_map(Pipeline::about);
        let mut looked_at = about.flat_map(|stage| stage.uses);
        if let Some(uses) = looked_at.find(|uses| !self.uses.contains(uses)) {
            let hint = "what a system looks at is shown beside its figures and must be declared";
            return Err(
                problem(&format!("uses = [\"{uses}\"]"), format!("{:?}", self.uses), hint).into()
            );
        }
        Ok(())
    }
}

fn no_such_stage(file: File, unused: &Override) -> Problem {
    let expected = format!("a stage `{}` in {}", unused.stage, file.name);
    Problem::new(unused.location(), ProblemKind::Argument, expected, "a system without that stage")
        .hint("leave the option out, or choose a system that has the stage")
}
