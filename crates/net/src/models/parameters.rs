//! Parameters of the requests to a chat model, for servers that know others than the usual ones.

use clariq_core::{Location, Result, bail};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};
use std::collections::BTreeMap;

/// The key `parameters`: parameters that are set, given another name, or left out.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(transparent)]
pub(super) struct Parameters(BTreeMap<String, Value>);

/// The parameters that a table which names a chat model sets. A text gives one of them another name, and
/// `false` leaves it out.
const SET_BY_USES: [&str; 3] = ["max_tokens", "temperature", "seed"];
/// Parameters that would change what is asked, or how the answer is read.
const NOT_SET: [&str; 7] =
    ["model", "messages", STREAM, "n", "logprobs", "top_logprobs", RESPONSE_FORMAT];
/// The parameter that tells a server the form of an answer, which the key `format` sets.
pub(super) const RESPONSE_FORMAT: &str = "response_format";
/// The parameter for an answer in pieces. Some models give no other.
const STREAM: &str = "stream";
/// `OpenAI`'s newer name of `max_tokens`, which takes its place.
const NEWER_LIMIT: &str = "max_completion_tokens";

impl Parameters {
    /// True if the server itself chooses the temperature, which may be above 0: none is sent, or under
    /// another name that it may not know.
    pub(super) fn samples(&self) -> bool {
        self.0.contains_key("temperature")
    }

    pub(super) fn check(&self, at: &Location) -> Result<()> {
        for (key, value) in &self.0 {
            let Some(expected) = self.expected_instead(key, value) else { continue };
            let found = format!("`{key} = {value}`");
            let hint = if key == RESPONSE_FORMAT {
                "the key `format` of the same table is its place: `schema`, `json`, `prompt` or `text`"
            } else {
                "`max_tokens`, `temperature` and `seed` are set in the table that uses the model"
            };
            bail!(at, "in `parameters`: {expected}", found, hint);
        }
        Ok(())
    }

    /// The description of a parameter that is possible, if this one is not.
    fn expected_instead(&self, key: &str, value: &Value) -> Option<&'static str> {
        if key == STREAM {
            return (*value != Value::Bool(true)).then_some("`true` for an answer in pieces");
        }
        if key.is_empty() || NOT_SET.contains(&key) {
            return Some("a parameter that does not change what is asked");
        }
        if SET_BY_USES.contains(&key) {
            let Value::String(name) = value else {
                let expected = "another name in quotation marks, or `false` to leave it out";
                return (*value != Value::Bool(false)).then_some(expected);
            };
            return (!self.is_free(key, name))
                .then_some("a name that nothing else in the request has");
        }
        if key == NEWER_LIMIT && value.as_u64().is_none_or(|limit| limit == 0) {
            return Some("a number of tokens, from 1 on");
        }
        (!is_json(value)).then_some("values that JSON has")
    }

    /// True if no other part of a request has the new name of a parameter.
    fn is_free(&self, key: &str, name: &str) -> bool {
        let is_known = SET_BY_USES.into_iter().chain(NOT_SET).any(|known| known == name);
        let is_taken = self.0.iter().any(|(other, value)| {
            let is_renamed = SET_BY_USES.contains(&other.as_str());
            other != key && (other == name || is_renamed && value == name)
        });
        !name.is_empty() && !is_known && !is_taken
    }

    /// Sets, renames and leaves out parameters of a request.
    pub(super) fn adjust(&self, body: &mut Map<String, Value>) {
        for (key, value) in &self.0 {
            if !SET_BY_USES.contains(&key.as_str()) {
                body.insert(key.clone(), value.clone());
            } else if let Some(known) = body.shift_remove(key)
                && let Some(name) = value.as_str()
            {
                body.insert(name.to_owned(), known);
            }
        }
        // The servers refuse both at once.
        if self.0.contains_key(NEWER_LIMIT) {
            body.shift_remove("max_tokens");
        }
    }

    /// The largest number of tokens that a request allows.
    pub(super) fn most_tokens(&self, max_tokens: u64) -> u64 {
        let limits = self.0.iter().filter(|(key, _)| key.contains("tokens"));
        limits.filter_map(|(_, value)| value.as_u64()).fold(max_tokens, u64::max)
    }
}

/// False for a number of TOML that is infinite or none, and for a date.
fn is_json(value: &Value) -> bool {
    match value {
        Value::Null => false,
        Value::Array(values) => values.iter().all(is_json),
        Value::Object(object) => {
            object.iter().all(|(key, value)| !key.starts_with("$__toml_private") && is_json(value))
        }
        _ => true,
    }
}
