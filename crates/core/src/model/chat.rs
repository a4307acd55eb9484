//! Chat models: conversations of messages in, a text for each out.

use super::form::{Answer, AnswerForm, AnswerFormat};
use crate::checksum::Checksum;
use crate::problem::Result;
use serde::{Deserialize, Serialize};
use std::num::NonZeroU32;

/// The author of a message, as chat models name them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ChatRole {
    /// Instructions to the model.
    System,
    /// The person, or the task.
    User,
    /// The model itself, in earlier replies.
    Assistant,
}

/// A message to a chat model.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChatMessage {
    /// Its author; serialized as `system`, `user` or `assistant`.
    pub role: ChatRole,
    /// The text, exactly as it is sent to the model.
    pub content: String,
}

impl ChatMessage {
    /// A message of an author.
    pub fn new(role: ChatRole, content: impl Into<String>) -> Self {
        Self { role, content: content.into() }
    }
}

/// How a chat model writes. The defaults sample nothing: the most probable token is always taken.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct ChatParameters {
    /// Tokens that are written at most.
    pub max_tokens: NonZeroU32,
    /// Randomness of sampling, from 0 (none) to 2. A system that sets it above 0 declares it.
    pub temperature: f64,
    /// Seed of sampling.
    pub seed: u64,
    /// Alternatives of the first token whose log-probabilities are requested, from 0 (none) to 20.
    pub top_logprobs: u8,
}

impl Default for ChatParameters {
    fn default() -> Self {
        const MAX_TOKENS: NonZeroU32 = NonZeroU32::new(512).unwrap();
        Self { max_tokens: MAX_TOKENS, temperature: 0.0, seed: 42, top_logprobs: 0 }
    }
}

/// A conversation that a chat model continues.
#[derive(Debug, Clone, PartialEq)]
pub struct ChatRequest {
    /// The purpose of the request, for error messages: `request 101`. It does not change the
    /// completion.
    pub about: String,
    /// The messages, oldest first.
    pub messages: Vec<ChatMessage>,
    /// How the model writes.
    pub parameters: ChatParameters,
    /// The form of the answer; `None` where only the probabilities of its first token are asked for.
    pub form: Option<AnswerForm>,
}

/// The text that a chat model wrote.
#[derive(Debug, Clone, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Completion {
    /// The text; empty if the server returned none.
    pub text: String,
    /// True if it ends elsewhere than where the model would end it, mostly at `max_tokens`.
    pub cut: bool,
    /// The server's reason for the end of a text that is cut, if it is not `max_tokens`.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub cut_by: String,
    /// The model's name, as its server gives it.
    pub model: String,
    /// Tokens that were read; `None` if the server does not count them.
    pub prompt_tokens: Option<u64>,
    /// Tokens that were written; `None` if the server does not count them.
    pub completion_tokens: Option<u64>,
    /// Alternatives of the first token with their natural log-probabilities, most probable first;
    /// empty if none were requested or the server gives none.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub first_token: Vec<(String, f64)>,
    /// The text in the form that was asked for; `None` if it has another form or is cut. In
    /// recordings, there is the text alone.
    #[serde(skip)]
    pub answer: Option<Answer>,
    /// The thoughts of the model before `text`, if its server leaves them in the text. In recordings, the
    /// text is whole.
    #[serde(skip)]
    pub thinking: Thinking,
}

/// The thoughts of a model before its answer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Thinking {
    /// The server shows none.
    #[default]
    None,
    /// It came to an end, and is no part of the text.
    Ended,
    /// It did not come to an end, and there is no text.
    Unended,
}

/// Is given the number of a request and its completion as soon as it is there, from several threads. After
/// an error, no further request is sent.
pub type EachCompletion<'e> = &'e (dyn Fn(usize, &Completion) -> Result<()> + Sync);

/// Conversations in, completions out.
pub trait ChatModel: Send + Sync {
    /// Completes each conversation, in order; a completion does not depend on the others. `each` may not see
    /// all of them.
    fn complete(&self, requests: &[ChatRequest], each: EachCompletion) -> Result<Vec<Completion>>;

    /// How its server is told the form of an answer.
    fn format(&self) -> AnswerFormat {
        AnswerFormat::Schema
    }

    /// The largest share of answers that may have another form, if its table has one.
    fn unread(&self) -> Option<f64> {
        None
    }

    /// Tokens that were written so far, as far as they are counted.
    fn written_tokens(&self) -> u64 {
        0
    }

    /// Checksum of everything that determines the completions, besides the requests.
    fn checksum(&self) -> &Checksum;
}
