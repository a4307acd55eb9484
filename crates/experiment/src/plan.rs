//! The plan of a system: to rank by one pipeline, or to answer by several.

use crate::respond::ANSWER;
use clariq_collections::SystemClass;
use clariq_core::{Hit, Location, ModelName, Need, Request, Result, bail, problem};
use clariq_index::Analyzer;
use clariq_rank::{About, Chat, ConfigSection, Override, Pipeline, Prompt, QUESTION};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::collections::BTreeMap;

/// The task that ranks the statements of a user.
pub const STATEMENTS: &str = "statements";
/// The task that ranks passages.
pub const PASSAGES: &str = "passages";
/// The task that ranks sentences of the best passages.
const SENTENCES: &str = "sentences";
/// The task whose scores choose statements; the default is `statements`.
pub(crate) const CHOSEN: &str = "chosen";

const HINT: &str = "`clariq systems show ikat-automatic` prints an example; the documentation lists all keys (reference, Systems)";

/// The plan of a system.
pub enum Plan {
    /// To rank the documents of a task.
    Rank(Pipeline),
    /// To answer by the best statements of the user and an extract of the best passages.
    Answer(Box<AnswerPlan>),
}

/// The pipelines and the rules of a system that answers, or asks where it cannot.
pub struct AnswerPlan {
    /// Ranks the statements of the user.
    pub statements: Pipeline,
    /// Scores the statements that an answer uses; `statements` does so by default.
    pub chosen: Option<Pipeline>,
    /// Ranks passages.
    pub passages: Pipeline,
    /// Ranks the sentences of the best passages; `None` for a system that only ranks.
    pub sentences: Option<Pipeline>,
    /// The table `[answer]`.
    pub config: AnswerConfig,
    /// The table `[ask]`, if the system asks clarifying questions.
    pub ask: Option<AskConfig>,
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
        let chosen = tasks.remove(CHOSEN);
        let mut take = |task: &str| {
            let none = || problem!(&at, "a table [[tasks.{task}.stages]]", "none", HINT);
            tasks.remove(task).ok_or_else(none)
        };
        let statements = take(STATEMENTS)?;
        let passages = take(PASSAGES)?;
        let extracts = config.response.is_some() && config.chat.is_none();
        let sentences = extracts.then(|| take(SENTENCES)).transpose()?;
        if config.response.is_none() {
            check_ranks_alone(&at, &config, ask.as_ref())?;
        }
        if sentences.is_none() && tasks.contains_key(SENTENCES) {
            let expected = "a key `response` and no `chat`, for [[tasks.sentences.stages]]";
            bail!(at, expected, "an [answer] without extracts", HINT);
        }
        if let Some((at, ask)) = &ask {
            ask.check_conditions(at)?;
            if sentences.is_none() && ask.chat.is_none() {
                let expected = "a key `chat` in [ask], as in [answer]";
                bail!(at, expected, "questions made of extracts", HINT);
            }
        }
        if let Some(task) = tasks.keys().next() {
            let expected =
                format!("one of the tasks {STATEMENTS}, {PASSAGES}, {SENTENCES}, {CHOSEN}");
            bail!(&at, expected, "`{task}`", HINT);
        }
        let ask = ask.map(|(_, ask)| ask);
        let plan = AnswerPlan { statements, chosen, passages, sentences, config, ask };
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

    /// The learned models, each once.
    pub fn models(&self) -> Vec<ModelName> {
        let mut models: Vec<ModelName> = Vec::new();
        let of_chats = self.chats().into_iter().map(Chat::model_name);
        for model in self.stages().flat_map(|stage| stage.models).chain(of_chats) {
            if !models.contains(&model) {
                models.push(model);
            }
        }
        models
    }

    /// The chat models that write responses and, in place of them, questions.
    pub(crate) fn chats(&self) -> Vec<&Chat> {
        let Self::Answer(plan) = self else { return Vec::new() };
        let of_ask = plan.ask.as_ref().and_then(|ask| ask.chat.as_ref());
        plan.config.chat.iter().chain(of_ask).collect()
    }

    /// The prompts of its chat models, each once.
    pub fn prompts(&self) -> Vec<Prompt> {
        let mut prompts: Vec<Prompt> = Vec::new();
        let of_chats = self.chats().into_iter().map(|chat| chat.prompt.clone());
        for prompt in self.stages().flat_map(|stage| stage.prompts).chain(of_chats) {
            if !prompts.contains(&prompt) {
                prompts.push(prompt);
            }
        }
        prompts
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
                add_depths("statements.", &plan.statements.parameters(), &mut depths);
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
                    "`{}.depth` is {}, and `{stage}` keeps {depth} documents: --set {stage}.depth={1}",
                    deep.stage, deep.depth
                ));
            }
        }
        warnings
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

/// How many documents a stage keeps.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StageDepth {
    /// The stage, after the task in a system of several: `bm25`, `passages.bm25`.
    pub stage: String,
    /// Its key `depth`.
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
    pub(crate) fn extract(&self) -> Option<(&Pipeline, &ResponseRule)> {
        self.sentences.as_ref().zip(self.config.response.as_ref())
    }

    /// The pipelines by task, in the order of their names.
    pub(crate) fn tasks(&self) -> impl Iterator<Item = (&'static str, &Pipeline)> {
        let tasks = [
            (CHOSEN, self.chosen.as_ref()),
            (PASSAGES, Some(&self.passages)),
            (SENTENCES, self.sentences.as_ref()),
            (STATEMENTS, Some(&self.statements)),
        ];
        tasks.into_iter().filter_map(|(task, pipeline)| Some((task, pipeline?)))
    }
}

/// The table `[answer]`.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AnswerConfig {
    /// The class of the system, which limits its input.
    pub class: SystemClass,
    /// The number of passages in a submission per turn.
    #[serde(default = "usual_passages")]
    pub passages: usize,
    /// The choice of the statements that an answer uses.
    pub statements: StatementRule,
    /// The number of responses per turn, each from passages of its own.
    #[serde(default = "one_response")]
    pub responses: usize,
    /// The composition of the text; without it, the system only ranks.
    pub response: Option<ResponseRule>,
    /// The chat model that writes the text; without it, the text is an extract.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub chat: Option<Chat>,
    /// When the best passage fits what was said; without it, any does.
    pub fits: Option<FitRule>,
}

/// What the best passage must share with what was said. A run answers every turn; `ask` says so
/// where nothing fits.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct FitRule {
    /// The analyser by which words are compared.
    pub analyzer: Analyzer,
    /// The least share of the words of the utterance, weighted by idf, stop words left out.
    pub words: f64,
}

/// The rule that chooses statements: the best one, and others near to it.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct StatementRule {
    /// The maximum number of statements.
    most: usize,
    /// The minimum score of a statement after the best.
    least: f64,
    /// The maximum difference to the score of the best.
    gap: f64,
}

/// The rule that composes a text of sentences of the best passages.
#[derive(Debug, Clone, Copy, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ResponseRule {
    /// The number of passages whose sentences are used.
    pub sources: usize,
    /// The maximum number of tokens of an answer, which spaCy's count never exceeds.
    pub tokens: usize,
    /// The minimum number of words of an extracted sentence, if any sentence of a passage fits.
    #[serde(default)]
    pub fewest_words: usize,
    /// The maximum number of words of an extracted sentence.
    #[serde(default = "any_length")]
    pub most_words: usize,
}

fn any_length() -> usize {
    1000
}

/// The maximum number of tokens of a response in the guidelines.
pub(crate) const MOST_TOKENS: usize = 250;
/// The maximum number of passages that the validator accepts.
const MOST_PASSAGES: usize = 1000;

/// The maximum number of responses per turn.
const MOST_RESPONSES: usize = 10;

fn usual_passages() -> usize {
    100
}

fn one_response() -> usize {
    1
}

/// The table `[ask]`: when a system asks a clarifying question in place of an answer. It asks if
/// one of the two conditions holds.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct AskConfig {
    /// Ask if the predicted need is at least this.
    pub need: Option<Need>,
    /// Ask if the score of the best passage is below this.
    pub score_below: Option<f64>,
    /// The maximum number of questions in a conversation. All that the system said before that ends
    /// in a question mark counts.
    #[serde(default = "one_question")]
    pub most: usize,
    /// The number of passages that the question offers.
    #[serde(default = "two_choices")]
    pub choices: usize,
    /// The chat model that writes the question; without it, the question offers extracts.
    #[serde(skip_deserializing, skip_serializing_if = "Option::is_none")]
    pub chat: Option<Chat>,
}

/// The maximum number of passages that a question offers.
const MOST_CHOICES: usize = 5;

fn one_question() -> usize {
    1
}

fn two_choices() -> usize {
    2
}

impl AskConfig {
    pub(crate) fn read(mut section: ConfigSection) -> Result<Self> {
        let at = section.at.clone();
        let chat = Chat::take_from(&mut section, QUESTION)?;
        let config = Self { chat, ..section.read()? };
        if config.score_below.is_some_and(|score| !score.is_finite()) {
            bail!(at, "score_below as a finite number", "another", HINT);
        }
        if !(1..=MOST_CHOICES).contains(&config.choices) {
            let found = config.choices.to_string();
            bail!(at, "choices from 1 to {MOST_CHOICES}", found, HINT);
        }
        if config.chat.is_some() && config.choices != two_choices() {
            let hint = "a chat model is given the conversation, and no passages to choose from";
            bail!(at, "no key `choices` beside `chat`", (config.choices.to_string()), hint);
        }
        Ok(config)
    }

    /// Refuses a system that answers and never asks.
    fn check_conditions(&self, at: &Location) -> Result<()> {
        if self.need.is_none() && self.score_below.is_none() {
            bail!(at, "a key `need` or `score_below`", "neither", HINT);
        }
        Ok(())
    }

    /// The pipeline of a system that does not answer: its requests are the questions that a chat
    /// model writes.
    fn write_questions(self, at: &Location, pipeline: Pipeline) -> Result<Pipeline> {
        if self.need.is_some() || self.score_below.is_some() {
            bail!(at, "a table [answer] beside [ask], which has conditions", "none", HINT);
        }
        if self.most != one_question() {
            let expected = "a table [answer] beside [ask] with a key `most`";
            bail!(at, expected, "none", "the stage `stop` limits the questions of a conversation");
        }
        let Some(chat) = self.chat else {
            bail!(at, "a table [answer] beside [ask], or a key `chat`", "neither", HINT);
        };
        let twice = || {
            let hint = "the question would be written for the rewritten utterance; leave one out";
            problem!(at, "either `rewrite` or [ask]", "both", hint).into()
        };
        pipeline.with_questions(chat).ok_or_else(twice)
    }

    /// The reason to ask in place of an answer, if there is one.
    pub(crate) fn reason(&self, request: &Request, passages: &[Hit]) -> Option<String> {
        let best = passages.first()?;
        let asked = request.turns().filter(|turn| turn.system.trim_end().ends_with('?'));
        if asked.count() >= self.most {
            return None;
        }
        if let (Some(least), Some(need)) = (self.need, request.need)
            && need >= least
        {
            return Some(format!("the predicted need is {need}, and from {least} on it asks"));
        }
        let least = self.score_below.filter(|least| best.score < *least)?;
        Some(format!("the best passage scores {}, and below {least} it asks", best.score))
    }
}

impl AnswerConfig {
    pub(crate) fn read(mut section: ConfigSection) -> Result<Self> {
        let at = section.at.clone();
        let chat = Chat::take_from(&mut section, ANSWER)?;
        let config = Self { chat, ..section.read()? };
        config.check(&at)?;
        Ok(config)
    }

    fn check(&self, at: &Location) -> Result<()> {
        let statements = &self.statements;
        let mut ranges = vec![
            ("passages", self.passages, 1..=MOST_PASSAGES),
            ("statements.most", statements.most, 1..=MOST_PASSAGES),
            ("responses", self.responses, 1..=MOST_RESPONSES),
        ];
        if let Some(response) = &self.response {
            // The validator of 2025 counts the words of all responses to a turn together.
            let tokens = MOST_TOKENS / self.responses.max(1);
            ranges.push(("response.sources", response.sources, 1..=MOST_PASSAGES));
            ranges.push(("response.tokens", response.tokens, 1..=tokens));
        }
        for (key, value, range) in ranges {
            if !range.contains(&value) {
                let (from, to) = range.into_inner();
                bail!(at, "{key} from {from} to {to}", "{value}", HINT);
            }
        }
        if self.chat.is_some() && self.response.is_none() {
            bail!(at, "a key `response` beside `chat`", "none", HINT);
        }
        if let (Some(_), Some(response)) = (&self.chat, &self.response)
            && (response.fewest_words != 0 || response.most_words != any_length())
        {
            let expected =
                "no keys `response.fewest_words` and `response.most_words` beside `chat`";
            let hint = "they choose the sentences of an extract";
            bail!(at, expected, "one of them", hint);
        }
        let StatementRule { least, gap, .. } = statements;
        if !least.is_finite() || gap.is_nan() || *gap < 0.0 {
            let expected = "statements.gap of at least 0, and a number as least";
            bail!(at, expected, "least {least} and gap {gap}", HINT);
        }
        if let Some(fits) = self.fits.filter(|fits| !(0.0..=1.0).contains(&fits.words)) {
            let found = fits.words.to_string();
            bail!(at, "fits.words from 0 to 1", found, HINT);
        }
        if let Some(ResponseRule { fewest_words, most_words, .. }) = &self.response
            && fewest_words > most_words
        {
            let expected = "response.fewest_words below response.most_words";
            bail!(at, expected, "{fewest_words} to {most_words}", HINT);
        }
        Ok(())
    }
}

impl StatementRule {
    /// The number of the best statements that are chosen: at least one, if there is one.
    pub fn count(&self, ranking: &[Hit]) -> usize {
        let Some(best) = ranking.first() else { return 0 };
        let is_near = |hit: &&Hit| hit.score >= self.least && best.score - hit.score <= self.gap;
        let more = ranking[1..].iter().take(self.most.saturating_sub(1)).take_while(is_near);
        1 + more.count()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_core::Doc;

    #[test]
    fn the_best_is_always_taken_and_others_only_near_it() {
        let rule = StatementRule { most: 3, least: 0.3, gap: 0.2 };
        let count = |scores: &[f64]| {
            let hits: Vec<Hit> = scores.iter().map(|&score| Hit { doc: Doc(0), score }).collect();
            rule.count(&hits)
        };
        assert_eq!(count(&[]), 0);
        assert_eq!(count(&[0.1]), 1);
        assert_eq!(count(&[0.6, 0.5, 0.45, 0.44]), 3);
        assert_eq!(count(&[0.6, 0.3]), 1);
        assert_eq!(count(&[0.35, 0.29]), 1);
    }
}
