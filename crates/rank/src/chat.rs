//! Tables that name a chat model: the model, its prompt, and how it writes.

mod question;

use crate::context::Context;
use crate::prompt::Prompt;
use crate::stage::{About, Uses};
use crate::table::{ConfigSection, Table};
use crate::tally::Read;
use clariq_core::{
    ChatParameters, ChatRequest, Completion, ModelKind, ModelName, Request, Result, Speaker,
    Thinking, count_of,
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
    max_tokens: Option<NonZeroU32>,
    temperature: Option<f64>,
    seed: Option<u64>,
    unread: Option<f64>,
}

/// The defaults of a table that names a chat model.
#[derive(Debug, Clone, Copy)]
pub struct ChatDefaults {
    /// The name of the built-in prompt.
    pub prompt: &'static str,
    /// The variables of the prompt, besides those of [`Conversation`].
    pub variables: &'static [&'static str],
    /// Tokens that are written at most.
    pub max_tokens: NonZeroU32,
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

    /// A request to the model; `about` is its purpose, for messages.
    pub fn request(&self, about: String, values: &impl Serialize) -> Result<ChatRequest> {
        let messages = self.prompt.messages(values)?;
        Ok(ChatRequest { about, messages, parameters: self.parameters.clone() })
    }

    /// Counts if the answer to a request is what was asked for. `note` is a text with `{count}` and
    /// `{all}`.
    pub fn count_read(
        &self,
        context: &Context,
        request: &ChatRequest,
        completion: &Completion,
        note: &str,
        fits: bool,
    ) {
        let read = Read {
            note,
            fits,
            answer: &completion.text,
            limit: self.unread.unwrap_or(USUAL_SHARE),
        };
        // The share is one of requests: equal prompts of two requests count twice.
        context.tallies.add_read(&(&request.about, &request.messages), read);
    }

    /// Completes requests, in order, and reports the speed in tokens. Notes count the completions that
    /// are cut, and those of a model that thinks.
    pub fn complete(&self, context: &Context, requests: &[ChatRequest]) -> Result<Vec<Completion>> {
        let model = context.models.chat_model(&self.model_name())?;
        let task = context.observer.begin(&self.model, Some(requests.len() as u64));
        let began = Instant::now();
        let before = model.written_tokens();
        let mut completions = model.complete(requests, &|completions| {
            let tokens = model.written_tokens() - before;
            let speed = tokens as f64 / began.elapsed().as_secs_f64().max(1e-3);
            task.describe(&format!("{speed:.0} tokens per second"));
            task.advance(completions);
        })?;
        task.finish(&count_of(requests.len(), "completion"));
        for (request, completion) in requests.iter().zip(&mut completions) {
            let echo = end_of_prompt(request, &completion.text);
            if let Some(end) = echo {
                completion.text = completion.text[end..].trim_start().to_owned();
            }
            let note = format!(
                "{}: {{count}} of {{all}} completions repeat their prompt, which is no part of their text",
                self.model
            );
            context.tallies.add(&note, &request.messages, usize::from(echo.is_some()), 1);
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

/// Where a text goes on that has the whole prompt in it; a prompt of one line may be part of an answer.
fn end_of_prompt(request: &ChatRequest, text: &str) -> Option<usize> {
    let prompt = request.messages.last()?.content.trim();
    let at = text.rfind(prompt).filter(|_| prompt.lines().count() > 1)?;
    Some(at + prompt.len())
}
