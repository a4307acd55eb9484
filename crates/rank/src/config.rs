//! What is a system? A TOML file: its pipeline, its need model, what it looks at, and the figures it should reach.

use crate::error::Error;
use crate::pipeline::Pipeline;
use crate::space::SpaceConfig;
use crate::stages::{self, Beside};
use crate::table::{File, Table};
use clariq_collections::clariq::Split;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::fmt;
use std::num::NonZeroUsize;

/// What a system looks at beyond one request and the question bank. Every table of results shows it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Uses {
    /// Labels of other topics.
    TrainLabels,
    /// The other requests of the batch.
    Batch,
}

impl fmt::Display for Uses {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(match self {
            Self::TrainLabels => "train-labels",
            Self::Batch => "batch",
        })
    }
}

/// The figures that a system should reach on one split of one collection.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    /// The collection's name, for the table.
    pub collection: String,
    /// The first digits of the bank's checksum: figures hold for one bank only.
    pub bank: String,
    /// The split.
    pub split: Split,
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
    /// What stands in the fields of rank and score.
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

/// The clarification-need model of a system.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NeedConfig {
    /// The model's name.
    pub model: String,
    /// The blocks of features of a model that has one regression, or one per step, and the weight of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub features: Option<BTreeMap<String, f64>>,
    /// The same for each regression of an ensemble.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub members: Option<Vec<BTreeMap<String, f64>>>,
    /// The inverse of the penalty on weights.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub c: Option<f64>,
    /// The power of the prior that probabilities are divided by.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub prior_power: Option<f64>,
    /// The recipe of a fine-tuned classifier.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recipe: Option<String>,
    /// The encoder of features that are made with one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub encoder: Option<String>,
}

/// A parameter given on the command line in place of the file's.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Override {
    /// The stage whose parameter it is.
    pub stage: String,
    /// The parameter.
    pub key: String,
    /// Its value, as TOML.
    pub value: String,
}

impl Override {
    /// Where it was given, for messages.
    pub(crate) fn location(&self) -> Location {
        Location::file(format!("command line, {}.{}={}", self.stage, self.key, self.value))
    }
}

/// A system as its file declares it.
pub struct System {
    /// Its name: the stem of its output files and its run tag.
    pub name: String,
    /// What it is, in a sentence.
    pub description: String,
    /// What it looks at beyond one request and the bank.
    pub uses: Vec<Uses>,
    /// What makes its ranking.
    pub pipeline: Pipeline,
    /// What makes its need file.
    pub need: Option<NeedConfig>,
    /// How its multi-turn runs are written.
    pub conversation: ConversationConfig,
    /// Where the file declares it, for messages.
    pub need_at: Location,
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
    need: Option<NeedConfig>,
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
        let beside = Beside { space: &space, need: table.has("need") };
        let mut tables = table.take_tables("stages")?;
        let mut unused: Vec<&Override> = overrides.iter().collect();
        let mut built = Vec::with_capacity(tables.len());
        for stage in tables.drain(..) {
            built.push(stages::build(stage, beside, overrides, &mut unused)?);
        }
        if let Some(unused) = unused.first() {
            return Err(no_such_stage(file, unused).into());
        }
        let need_at = table.at("need");
        let header: Header = table.read()?;
        let system = Self {
            name: header.name,
            description: header.description,
            uses: header.uses,
            pipeline: Pipeline { stages: built },
            need: header.need,
            need_at,
            conversation: header.conversation,
            expected: header.expected,
        };
        system.check(file)?;
        Ok(system)
    }

    /// The learned models that its stages ask for, each once, in their order.
    pub fn models(&self) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for name in self.pipeline.stages.iter().flat_map(|stage| stage.models()) {
            if !names.contains(&name) {
                names.push(name);
            }
        }
        names
    }

    fn check(&self, file: File) -> Result<(), Error> {
        let problem = |expected: &str, found: String, hint: &str| {
            Problem::new(file.at(0..0), ProblemKind::Configuration, expected, found).hint(hint)
        };
        if self.pipeline.stages.is_empty() {
            let found = "none".to_owned();
            return Err(problem(
                "at least one [[stages]] table",
                found,
                "configs/README.md lists all stages",
            )
            .into());
        }
        let plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
        if self.name.is_empty() || self.name.starts_with('.') || !self.name.chars().all(plain) {
            let hint = "the name is used in file names and as run tag";
            return Err(problem(
                "a name of letters, digits, `-`, `_` and `.`",
                format!("`{}`", self.name),
                hint,
            )
            .into());
        }
        let undeclared = self
            .pipeline
            .stages
            .iter()
            .flat_map(|stage| stage.uses())
            .find(|uses| !self.uses.contains(uses));
        if let Some(uses) = undeclared {
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
