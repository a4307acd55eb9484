//! The plan of a system: to rank by one pipeline, or to answer by several.

mod summary;
mod tables;

use clariq_collections::SystemClass;
use clariq_core::{Location, ModelName, Result, bail, count_of, problem};
use clariq_rank::{About, Override, Pipeline, Prompt};
use serde_json::Value;
use std::collections::BTreeMap;
pub use summary::SummaryRule;
pub use tables::{AnswerConfig, AskConfig, FitRule, ResponseRule, StatementRule};

/// The task that ranks the statements of a user.
pub const STATEMENTS: &str = "statements";
/// The task that ranks passages.
pub const PASSAGES: &str = "passages";
/// The task that ranks sentences of the best passages.
const SENTENCES: &str = "sentences";
/// The task whose scores choose statements; the default is `statements`.
pub const CHOSEN: &str = "chosen";

const HINT: &str =
    "`ikat-automatic` is an example; the documentation lists all keys (reference, Systems)";

/// The plan of a system.
pub enum Plan {
    /// To rank the documents of a task.
    Rank(Pipeline),
    /// To answer by the best statements of the user and an extract of the best passages.
    Answer(Box<AnswerPlan>),
}

/// The pipelines and the rules of a system that answers, or asks where it cannot.
pub struct AnswerPlan {
    /// Ranks and chooses the statements of the user; `None` for a system that uses none.
    pub statements: Option<StatementPlan>,
    /// Ranks passages.
    pub passages: Pipeline,
    /// Ranks the sentences of the best passages; `None` for a system that only ranks.
    pub sentences: Option<Pipeline>,
    /// The table `[answer]`.
    pub config: AnswerConfig,
    /// The table `[ask]`, if the system asks clarifying questions.
    pub ask: Option<AskConfig>,
}

/// The pipelines and the rule for the statements of the user.
pub struct StatementPlan {
    /// Ranks them.
    pub ranked: Pipeline,
    /// Scores those that an answer uses; `ranked` does so by default.
    pub chosen: Option<Pipeline>,
    /// Chooses those that an answer uses; without it, none.
    pub rule: Option<StatementRule>,
}

impl Plan {
    /// Makes a plan of the pipeline, the pipelines by task and the tables `[answer]` and `[ask]` of
    /// a configuration; `file` is for messages.
    pub(crate) fn new(
        file: &str,
        pipeline: Pipeline,
        mut tasks: BTreeMap<String, Pipeline>,
        answer: Option<(Location, AnswerConfig)>,
        ask: Option<(Location, AskConfig)>,
    ) -> Result<Self> {
        let Some((at, config)) = answer else {
            if !tasks.is_empty() {
                bail!(file, "a table [answer] beside [tasks]", "none", HINT);
            }
            let Some((at, ask)) = ask else { return Ok(Self::Rank(pipeline)) };
            return Ok(Self::Rank(ask.write_questions(&at, pipeline)?));
        };
        let mut take = |task: &str| {
            let none = || problem!(&at, "a table [[tasks.{task}.stages]]", "none", HINT);
            tasks.remove(task).ok_or_else(none)
        };
        let passages = take(PASSAGES)?;
        let sentences = config.extracts().then(|| take(SENTENCES)).transpose()?;
        if config.response.is_none() {
            check_ranks_alone(&at, &config, ask.as_ref())?;
        }
        if sentences.is_none() && tasks.contains_key(SENTENCES) {
            let expected = "an [answer] made of extracts, for [[tasks.sentences.stages]]";
            bail!(at, expected, "one without them", HINT);
        }
        if let Some((at, ask)) = &ask {
            ask.check_beside_answers(at, sentences.is_some())?;
        }
        let statements = take_statements(&at, &mut tasks, config.statements)?;
        if let Some(task) = tasks.keys().next() {
            let expected =
                format!("one of the tasks {STATEMENTS}, {PASSAGES}, {SENTENCES}, {CHOSEN}");
            bail!(&at, expected, "`{task}`", HINT);
        }
        let ask = ask.map(|(_, ask)| ask);
        let plan = AnswerPlan { statements, passages, sentences, config, ask };
        Ok(Self::Answer(Box::new(plan)))
    }

    /// The table `[answer]`, if the system answers.
    pub fn answer(&self) -> Option<&AnswerConfig> {
        match self {
            Self::Rank(_) => None,
            Self::Answer(plan) => Some(&plan.config),
        }
    }

    /// The table `[ask]`, if the system asks clarifying questions.
    pub fn ask(&self) -> Option<&AskConfig> {
        match self {
            Self::Rank(_) => None,
            Self::Answer(plan) => plan.ask.as_ref(),
        }
    }

    /// The stages, in the order of the tasks' names.
    pub fn stages(&self) -> impl Iterator<Item = About> {
        let pipelines = match self {
            Self::Rank(pipeline) => vec![pipeline],
            Self::Answer(plan) => plan.tasks().map(|(_, pipeline)| pipeline).collect(),
        };
        pipelines.into_iter().flat_map(Pipeline::about)
    }

    /// The stages, and the models that write responses and questions.
    pub(crate) fn about(&self) -> impl Iterator<Item = About> {
        let writers = match self {
            Self::Rank(_) => [None, None],
            Self::Answer(plan) => {
                [plan.config.about(), plan.ask.as_ref().and_then(AskConfig::about)]
            }
        };
        self.stages().chain(writers.into_iter().flatten())
    }

    /// The learned models, each once.
    pub fn models(&self) -> Vec<ModelName> {
        each_once(self.about().flat_map(|about| about.models))
    }

    /// The prompts, each once.
    pub fn prompts(&self) -> Vec<Prompt> {
        each_once(self.about().flat_map(|about| about.prompts))
    }

    /// True if a stage or the table `[ask]` uses predicted needs.
    pub fn sees_need(&self) -> bool {
        let asks = self.ask().is_some_and(|ask| ask.need.is_some());
        asks || self.stages().any(|stage| stage.sees_need)
    }

    /// The depths of the stages that rank documents and statements, those of inner pipelines
    /// included. Stages without a depth keep all documents.
    pub fn depths(&self) -> Vec<StageDepth> {
        let mut depths = Vec::new();
        match self {
            Self::Rank(pipeline) => add_depths("", &pipeline.parameters(), &mut depths),
            Self::Answer(plan) => {
                if let Some(statements) = &plan.statements {
                    add_depths("statements.", &statements.ranked.parameters(), &mut depths);
                }
                add_depths("passages.", &plan.passages.parameters(), &mut depths);
            }
        }
        depths
    }

    /// Warnings about stages that keep fewer documents than the depth that overrides set for another
    /// stage.
    pub fn cut_warnings(&self, overrides: &[Override]) -> Vec<String> {
        let depths = self.depths();
        let (set, others): (Vec<_>, Vec<_>) =
            depths.iter().partition(|depth| overrides.iter().any(|change| depth.is_set_by(change)));
        let mut warnings = Vec::new();
        for deep in &set {
            let is_lower = |other: &&&StageDepth| {
                other.parts().0 == deep.parts().0 && other.depth < deep.depth
            };
            for cutting in others.iter().filter(is_lower) {
                let StageDepth { stage, depth } = cutting;
                warnings.push(format!(
                    "`{}.depth` is {}, and `{stage}` keeps {}: --set {stage}.depth={1}",
                    deep.stage,
                    deep.depth,
                    count_of(*depth, "document")
                ));
            }
        }
        warnings
    }
}

/// Items in the order of their first places.
pub(crate) fn each_once<T: PartialEq>(items: impl Iterator<Item = T>) -> Vec<T> {
    let mut all = Vec::new();
    for item in items {
        if !all.contains(&item) {
            all.push(item);
        }
    }
    all
}

/// The pipelines of statements with their rule: all of them, or none.
fn take_statements(
    at: &Location,
    tasks: &mut BTreeMap<String, Pipeline>,
    rule: Option<StatementRule>,
) -> Result<Option<StatementPlan>> {
    match (tasks.remove(STATEMENTS), rule) {
        (Some(ranked), rule) => {
            Ok(Some(StatementPlan { ranked, chosen: tasks.remove(CHOSEN), rule }))
        }
        (None, Some(_)) => bail!(at, "a table [[tasks.{STATEMENTS}.stages]]", "none", HINT),
        (None, None) if tasks.contains_key(CHOSEN) => {
            bail!(at, "a table [[tasks.{STATEMENTS}.stages]] beside `{CHOSEN}`", "none", HINT)
        }
        (None, None) => Ok(None),
    }
}

/// Refuses a system without responses that has to write something.
fn check_ranks_alone(
    at: &Location,
    config: &AnswerConfig,
    ask: Option<&(Location, AskConfig)>,
) -> Result<()> {
    if let Some((at, _)) = ask {
        bail!(at, "a key `response` in [answer], for questions", "none", HINT);
    }
    if config.class == SystemClass::OnlyResponse {
        let hint = "an only-response run consists of responses; leave `class` at automatic to rank";
        bail!(at, "a key `response`", "class = \"only-response\" without it", hint);
    }
    if config.responses != 1 || config.fits.is_some() {
        bail!(at, "a key `response`", "`responses` or `fits` without it", HINT);
    }
    Ok(())
}

/// The number of documents that a stage keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageDepth {
    /// The stage, after the task in a system of several: `bm25`, `passages.bm25`.
    pub stage: String,
    /// The value of its key `depth`, in documents.
    pub depth: u64,
}

impl StageDepth {
    /// The task of its pipeline, empty in a system of one, and the stage.
    fn parts(&self) -> (&str, &str) {
        self.stage.split_once('.').unwrap_or(("", &self.stage))
    }

    /// True if the override sets this depth.
    fn is_set_by(&self, change: &Override) -> bool {
        let (task, stage) = self.parts();
        let in_task = change.stage == task && change.key == format!("{stage}.depth");
        in_task || change.stage == stage && change.key == "depth"
    }
}

/// Adds the depths in the parameters of a pipeline, in which stages may have pipelines inside.
fn add_depths(task: &str, parameters: &Value, depths: &mut Vec<StageDepth>) {
    match parameters {
        Value::Array(values) => {
            for value in values {
                add_depths(task, value, depths);
            }
        }
        Value::Object(keys) => {
            if let (Some(Value::String(stage)), Some(depth)) =
                (keys.get("stage"), keys.get("depth"))
                && let Some(depth) = depth.as_u64()
            {
                depths.push(StageDepth { stage: format!("{task}{stage}"), depth });
            }
            for value in keys.values() {
                add_depths(task, value, depths);
            }
        }
        _ => {}
    }
}

impl AnswerPlan {
    /// The pipeline and the rule of extracts; `None` for a system that only ranks.
    pub fn extract(&self) -> Option<(&Pipeline, &ResponseRule)> {
        self.sentences.as_ref().zip(self.config.response.as_ref())
    }

    /// The pipelines by task, in the order of their names.
    pub fn tasks(&self) -> impl Iterator<Item = (&'static str, &Pipeline)> {
        let statements = self.statements.as_ref();
        let tasks = [
            (CHOSEN, statements.and_then(|part| part.chosen.as_ref())),
            (PASSAGES, Some(&self.passages)),
            (SENTENCES, self.sentences.as_ref()),
            (STATEMENTS, statements.map(|part| &part.ranked)),
        ];
        tasks.into_iter().filter_map(|(task, pipeline)| Some((task, pipeline?)))
    }
}
