//! Tables that name a chat model: the model, its prompt, and how it writes.

mod question;

use crate::context::Context;
use crate::prompt::Prompt;
use crate::stage::{About, Uses};
use crate::table::{ConfigSection, Table};
use crate::tally::Read;
use clariq_core::{
    AnswerForm, ChatParameters, ChatRequest, Completion, ModelKind, ModelName, Request, Result,
    Speaker, Thinking, bail, count_of,
};
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;
use std::time::Instant;

pub use question::{QUESTION, write_questions};
pub(crate) use question::{describe_questions, in_questions};

/// A chat model with a prompt, as a table of a configuration declares it.
#[derive(Debug, Clone, Serialize)]
pub struct Chat {
    /// The name of the model.
    #[serde(rename = "chat")]
    model: String,
    pub prompt: Prompt,
    /// How the model writes.
    #[serde(flatten)]
    pub parameters: ChatParameters,
    /// The largest share of answers that may have another form than was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    unread: Option<f64>,
}

const USUAL_SHARE: f64 = 0.1;

/// The keys of a table that control how a chat model writes.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct ChatKeys {
    /// Tokens that are written at most; the default is that of the use.
    max_tokens: Option<NonZeroU32>,
    /// Randomness of sampling, from 0 (none, the default) to 2.
    temperature: Option<f64>,
    /// The seed of sampling (42).
    seed: Option<u64>,
    /// The largest share of answers that may have another form than was asked for; the default is that of
    /// `[models.NAME]`.
    unread: Option<f64>,
}

/// The defaults of a table that names a chat model.
#[derive(Debug, Clone, Copy)]
pub struct ChatDefaults {
    /// The name of the built-in prompt.
    pub prompt: &'static str,
    /// The variables of the prompt, besides those of [`Conversation`]. With `form`, a prompt must have it.
    pub variables: &'static [&'static str],
    /// Tokens that are written at most.
    pub max_tokens: NonZeroU32,
}

/// A use of a chat model: what is counted of its answers.
#[derive(Clone, Copy)]
pub struct ChatUse<'u> {
    /// The note about answers that are not read, `{count}` of `{all}`.
    pub unread: &'u str,
    /// The largest number of answers that a request of a run takes.
    pub answers: usize,
    /// True for an answer that is what was asked for.
    pub fits: fn(&ChatRequest, &Completion) -> Result<bool>,
}

impl<'u> ChatUse<'u> {
    /// A use whose answers have a form, one for each request.
    pub fn new(unread: &'u str) -> Self {
        Self { unread, answers: 1, fits: |_, completion| Ok(completion.answer.is_some()) }
    }
}

/// The variables that every prompt has.
#[derive(Serialize)]
pub struct Conversation<'a> {
    /// The last utterance of the user.
    utterance: String,
    /// Everything said up to it, oldest first.
    utterances: Vec<PromptUtterance<'a>>,
    /// The statements of the user about themselves.
    statements: &'a [String],
}

const VARIABLES: [&str; 3] = ["utterance", "utterances", "statements"];

/// An utterance in a prompt.
#[derive(Serialize)]
struct PromptUtterance<'a> {
    speaker: &'static str,
    text: &'a str,
}

impl<'a> Conversation<'a> {
    /// The conversation of a request up to the last utterance of the user.
    pub fn of(request: &'a Request) -> Self {
        let last = request.said.iter().rposition(|said| said.speaker == Speaker::User);
        let said = &request.said[..last.map_or(0, |last| last + 1)];
        let utterances = said.iter().map(|said| PromptUtterance {
            speaker: match said.speaker {
                Speaker::User => "user",
                Speaker::System => "system",
            },
            text: &said.text,
        });
        Self {
            utterance: request.last_said(),
            utterances: utterances.collect(),
            statements: &request.statements,
        }
    }
}

impl Chat {
    /// Takes the keys `chat`, `prompt`, `max_tokens`, `temperature`, `seed` and `unread` out of a table.
    pub(crate) fn take(table: &mut Table, defaults: ChatDefaults) -> Result<Self> {
        let (model, _) = table.take_string("chat")?;
        let variables = [&VARIABLES, defaults.variables].concat();
        let prompt = table.take_prompt(defaults.prompt, &variables)?;
        table.check_number("temperature", 0.0..=2.0, "temperature from 0 to 2", "")?;
        table.check_number("unread", 0.0..=1.0, "a share from 0 to 1", "")?;
        let keys: ChatKeys =
            table.take_keys(&["max_tokens", "temperature", "seed", "unread"]).read()?;
        let usual = ChatParameters::default();
        let parameters = ChatParameters {
            max_tokens: keys.max_tokens.unwrap_or(defaults.max_tokens),
            temperature: keys.temperature.unwrap_or(usual.temperature),
            seed: keys.seed.unwrap_or(usual.seed),
            ..usual
        };
        Ok(Self { model, prompt, parameters, unread: keys.unread })
    }

    /// Takes the same keys out of a table that another crate reads, if it has a key `chat`.
    pub fn take_from(section: &mut ConfigSection, defaults: ChatDefaults) -> Result<Option<Self>> {
        let table = &mut section.table;
        table.has("chat").then(|| Self::take(table, defaults)).transpose()
    }

    fn model_name(&self) -> ModelName {
        ModelName::new(&*self.model, ModelKind::Chat)
    }

    /// Describes a use of the model.
    pub fn about(&self, name: &'static str, parameters: &impl Serialize) -> About {
        let mut uses = vec![Uses::LanguageModel];
        if self.parameters.temperature > 0.0 {
            uses.push(Uses::Sampling);
        }
        let models = vec![self.model_name()];
        let prompts = vec![self.prompt.clone()];
        About { uses, models, prompts, ..About::new(name, parameters) }
    }

    /// A request to the model for an answer of a form; `about` is its purpose, for messages. Without a form,
    /// the probabilities of the first token are asked for.
    pub fn request(
        &self,
        context: &Context,
        about: String,
        form: Option<AnswerForm>,
        values: &impl Serialize,
    ) -> Result<ChatRequest> {
        #[derive(Serialize)]
        struct WithForm<'v, V> {
            #[serde(flatten)]
            values: &'v V,
            form: String,
        }
        let format = context.models.chat_model(&self.model_name())?.format();
        if let Some(form) = form.as_ref().filter(|form| !form.is_offered(format)) {
            let expected = format!("a model that writes JSON, for a {}", form.key());
            let hint = "`format = \"text\"` has queries, questions and responses alone";
            let at = format!("[models.{}]", self.model);
            bail!(at, expected, "format = \"text\"", hint);
        }
        let sentence = form.as_ref().map(|form| form.sentence(format)).unwrap_or_default();
        let messages = self.prompt.messages(&WithForm { values, form: sentence })?;
        Ok(ChatRequest { about, messages, parameters: self.parameters.clone(), form })
    }

    /// Completes requests, in order, and reports the speed in tokens. Notes count the completions that
    /// are not what was asked for, are cut, or are of a model that thinks.
    ///
    /// # Errors
    ///
    /// More answers are not what was asked for than may be, however the rest of the run goes.
    pub fn complete(
        &self,
        context: &Context,
        usage: ChatUse,
        requests: &[ChatRequest],
    ) -> Result<Vec<Completion>> {
        let model = context.models.chat_model(&self.model_name())?;
        let share = self.unread.or(model.unread()).unwrap_or(USUAL_SHARE);
        let task = context.observer.begin(&self.model, Some(requests.len() as u64));
        let began = Instant::now();
        let before = model.written_tokens();
        let count = |request: &ChatRequest, completion: &Completion| {
            let fits = (usage.fits)(request, completion)?;
            let read = Read {
                note: usage.unread,
                fits,
                about: &request.about,
                answer: &completion.text,
                share,
                most: usage.answers,
            };
            // The share is one of requests: equal prompts of two requests count twice.
            context.tallies.add_read(&(&request.about, &request.messages), read)
        };
        let completions = model.complete(requests, &|index, completion| {
            let tokens = model.written_tokens() - before;
            let speed = tokens as f64 / began.elapsed().as_secs_f64().max(1e-3);
            task.describe(&format!("{speed:.0} tokens per second"));
            task.advance(1);
            count(&requests[index], completion)
        })?;
        task.finish(&count_of(requests.len(), "completion"));
        for (request, completion) in requests.iter().zip(&completions) {
            count(request, completion)?;
            context.tallies.add_model(&self.model, &completion.model, &request.messages);
            if let Some(tokens) = completion.prompt_tokens {
                let bytes = request.messages.iter().map(|message| message.content.len()).sum();
                context.tallies.add_prompt(&self.model, tokens, bytes);
            }
            self.count_forms(context, request, completion);
        }
        Ok(completions)
    }

    fn count_forms(&self, context: &Context, request: &ChatRequest, completion: &Completion) {
        let model = &self.model;
        let count = |what: &str, is_so: bool| {
            let note = format!("{model}: {{count}} of {{all}} completions {what}");
            context.tallies.add(&note, &request.messages, usize::from(is_so), 1);
        };
        let thinks = completion.thinking == Thinking::Ended;
        count("begin with what the model thinks, which is no part of their text", thinks);
        let is_unended = completion.thinking == Thinking::Unended;
        count("only think, and have no text", is_unended);
        // For log-probabilities, one token is asked for.
        let reason = &completion.cut_by;
        let is_cut = completion.cut && reason.is_empty() && request.parameters.top_logprobs == 0;
        count("are cut at `max_tokens`", is_cut);
        if !reason.is_empty() {
            let note = format!(
                "{model}: completions that the server ended with the reason `{reason}` are not whole: {{count}}"
            );
            context.tallies.add(&note, &request.messages, 1, 1);
        }
    }
}
