//! The calls of a dry run, which are counted and not sent.

use super::{Call, Caller, Calls};
use crate::models::exchange::request_key;
use serde::de::DeserializeOwned;

/// The calls that a dry run would send to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Planned {
    /// Calls to send.
    pub calls: u64,
    /// Further calls, whose answers are in the cache or which repeat a call.
    pub cached: u64,
    /// Estimated tokens of the prompts: one for every four bytes of text, rounded up.
    pub prompt_tokens: u64,
    /// The maximum number of tokens of the completions.
    pub completion_tokens: u64,
    /// Calls among these that may depend on answers that are not known yet. They are counted as if
    /// completions were empty and scores equal.
    pub dependent: u64,
}

/// Bytes of text for a token in estimates.
const BYTES_OF_A_TOKEN: u64 = 4;

impl Calls {
    /// Counts the calls of a dry run. Answers come from the cache; the others are stand-ins.
    pub(super) fn stand_in_for<T: DeserializeOwned>(
        &self,
        caller: &Caller,
        calls: &[Call],
        keys: &[String],
        missing: &[(usize, &Call)],
        stand_in: impl Fn(&Call) -> T,
    ) -> Vec<T> {
        self.plan(caller, missing, (calls.len() - missing.len()) as u64);
        let state = self.state();
        let journal = &state.journals[&caller.journal];
        let answer = |(call, key): (&Call, &String)| {
            journal
                .get(key)
                .and_then(|answer| T::deserialize(&answer).ok())
                .unwrap_or_else(|| stand_in(call))
        };
        calls.iter().zip(keys).map(answer).collect()
    }

    /// Counts calls of a dry run.
    fn plan(&self, caller: &Caller, missing: &[(usize, &Call)], cached: u64) {
        let mut state = self.state();
        let is_dependent = !state.planned_keys.is_empty();
        let mut new = Vec::new();
        for (_, call) in missing {
            let key = format!("{} {}", caller.name, request_key(&call.request));
            if state.planned_keys.insert(key) {
                new.push(call);
            }
        }
        let planned = state.planned.entry(caller.name.clone()).or_default();
        planned.cached += cached;
        for call in new {
            planned.calls += 1;
            planned.prompt_tokens += call.bytes.div_ceil(BYTES_OF_A_TOKEN);
            planned.completion_tokens = planned.completion_tokens.saturating_add(call.most_tokens);
            planned.dependent += u64::from(is_dependent);
        }
    }
}
