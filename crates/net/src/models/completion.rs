//! The answer of a chat model, as `OpenAI` documents it and other servers vary it.

use serde::de::Error;
use serde::{Deserialize, Deserializer};
use serde_json::Value;

/// Values that only inform are read in any form.
#[derive(Deserialize)]
pub(super) struct ChatResponse {
    #[serde(default)]
    pub(super) model: Value,
    #[serde(deserialize_with = "some_choices")]
    pub(super) choices: Vec<CompletionChoice>,
    #[serde(default)]
    pub(super) usage: Value,
}

fn some_choices<'de, D: Deserializer<'de>>(choices: D) -> Result<Vec<CompletionChoice>, D::Error> {
    let choices: Vec<CompletionChoice> = Vec::deserialize(choices)?;
    if choices.is_empty() {
        return Err(D::Error::custom("0 items in `choices`"));
    }
    Ok(choices)
}

#[derive(Deserialize)]
pub(super) struct CompletionChoice {
    #[serde(default)]
    pub(super) index: Value,
    pub(super) message: ResponseMessage,
    pub(super) finish_reason: Option<String>,
    pub(super) logprobs: Option<LogProbabilities>,
}

#[derive(Deserialize)]
pub(super) struct ResponseMessage {
    /// Absent if the model spent all of its tokens on reasoning, which is in another field.
    pub(super) content: Option<Content>,
    /// `OpenAI`: why the model gives no answer.
    #[serde(default)]
    pub(super) refusal: Value,
}

#[derive(Deserialize)]
#[serde(untagged, expecting = "`content` that is no text")]
pub(super) enum Content {
    Text(String),
    /// Mistral: what the model thinks is a part of another type.
    Parts(Vec<ContentPart>),
}

#[derive(Deserialize)]
pub(super) struct ContentPart {
    r#type: Option<String>,
    text: Option<String>,
}

impl ContentPart {
    /// The text, if it is one and no thought.
    fn text(self) -> Option<String> {
        let is_text = self.r#type.is_none_or(|name| matches!(&*name, "text" | "output_text"));
        self.text.filter(|_| is_text)
    }
}

impl Content {
    pub(super) fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Parts(parts) => parts.into_iter().filter_map(ContentPart::text).collect(),
        }
    }
}

#[derive(Deserialize)]
pub(super) struct LogProbabilities {
    pub(super) content: Option<Vec<ResponseToken>>,
}

#[derive(Deserialize)]
pub(super) struct ResponseToken {
    #[serde(default)]
    pub(super) token: String,
    pub(super) top_logprobs: Option<Vec<Alternative>>,
}

#[derive(Deserialize)]
pub(super) struct Alternative {
    pub(super) token: String,
    pub(super) logprob: f64,
}
