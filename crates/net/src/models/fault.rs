//! Errors that servers report in answers of status 200.

use crate::service::{is_about_key, is_about_request};
use serde_json::Value;

/// An error that a server reports in an answer of status 200.
pub(super) struct Fault {
    pub(super) message: String,
    /// True if the same request may succeed later.
    pub(super) is_busy: bool,
    /// True if another request may succeed.
    pub(super) is_about_request: bool,
}

impl Fault {
    /// The error in an answer: in `error`, as `OpenAI` documents it, in that of the first choice
    /// (`OpenRouter`), in a list (Gemini), or the answer itself (older vLLM and others: it has a
    /// message, and nothing that was asked for).
    pub(super) fn in_answer(answer: &Value) -> Option<Self> {
        let bare = answer["message"].is_string() && answer["choices"].is_null();
        let errors = [
            &answer["error"],
            &answer["choices"][0]["error"],
            &answer[0]["error"],
            if bare { answer } else { &Value::Null },
        ];
        let error = errors.into_iter().find(|error| !is_empty(error))?;
        let message = match (&error["message"], error) {
            (Value::String(message), _) | (_, Value::String(message)) => message.clone(),
            _ => error.to_string(),
        };
        let places = [error, answer];
        let codes = places.iter().flat_map(|place| CODES.map(|key| status_of(&place[key])));
        let code = codes.flatten().next();
        let message = match code {
            Some(code) if is_about_key(code) => format!("the error {code}: it refuses the key"),
            _ => message,
        };
        let is_busy = code.is_some_and(|code| matches!(code, 408 | 429 | 500..600))
            || ["code", "type"].iter().filter_map(|key| error[key].as_str()).any(says_busy);
        let is_about_request = code.is_some_and(is_about_request);
        Some(Self { message, is_busy, is_about_request })
    }
}

/// The names that the status of an error has.
const CODES: [&str; 4] = ["code", "status", "status_code", "statusCode"];

fn status_of(value: &Value) -> Option<u16> {
    match value {
        Value::String(code) => code.parse().ok(),
        code => code.as_u64().and_then(|code| code.try_into().ok()),
    }
}

fn says_busy(word: &str) -> bool {
    ["rate_limit", "overloaded", "too_many_requests"].iter().any(|busy| word.contains(busy))
}

/// True for a value that tells nothing. Some servers always send an `error`.
fn is_empty(value: &Value) -> bool {
    match value {
        Value::Null | Value::Bool(false) => true,
        Value::Bool(true) => false,
        Value::Number(number) => number.as_f64() == Some(0.0),
        Value::String(text) => text.is_empty(),
        Value::Array(values) => values.iter().all(is_empty),
        Value::Object(object) => object.values().all(is_empty),
    }
}
