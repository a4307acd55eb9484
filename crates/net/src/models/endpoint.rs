//! A model behind a server: one mechanism for all kinds, over the keys of each.

use super::calls::{Call, CallAnswer, Seen};
use super::server::Server;
use clariq_core::{Progress, Result, bail, count_of};
use serde::Serialize;
use serde::de::DeserializeOwned;

/// How the models of a kind are asked.
pub(super) trait Asked: Sized + Sync {
    /// A parsed answer, as it is cached and recorded.
    type Answer: Serialize + DeserializeOwned;
    /// Facts that answers tell, such as the length of vectors.
    type Learned: Default + Sync;

    /// Sends a call.
    fn ask(endpoint: &Endpoint<Self>, call: &Call) -> Result<CallAnswer<Self::Answer>>;

    /// The answer of a dry run.
    fn stand_in(call: &Call) -> Self::Answer;
}

/// A model behind a server, by the keys of its kind.
pub(super) struct Endpoint<K: Asked> {
    pub(super) server: Server,
    pub(super) keys: K,
    pub(super) learned: K::Learned,
}

impl<K: Asked> Endpoint<K> {
    pub(super) fn new(server: Server, keys: K) -> Self {
        Self { server, keys, learned: K::Learned::default() }
    }

    /// The answers to calls, in order; see [`Calls::answer`](super::calls::Calls::answer).
    pub(super) fn answers(&self, calls: &[Call], seen: Seen<K::Answer>) -> Result<Vec<K::Answer>> {
        let Server { calls: all, caller, .. } = &self.server;
        all.answer(caller, calls, K::stand_in, |call| K::ask(self, call), seen)
    }

    /// The answers to calls, whose items `progress` counts as they are answered.
    pub(super) fn answers_counting(
        &self,
        calls: &[Call],
        progress: Progress,
    ) -> Result<Vec<K::Answer>> {
        self.answers(calls, &|index, _| {
            progress(calls[index].items);
            Ok(())
        })
    }
}

/// Refuses the answer of a recording that has not a value for each item of its call. `what` names a value.
pub(super) fn check_recorded<T>(call: &Call, answer: &[T], what: &str) -> Result<()> {
    if answer.len() as u64 == call.items {
        return Ok(());
    }
    let at = format!("the recorded answer for {}", call.about);
    bail!(at, (count_of(call.items, what)), (answer.len().to_string()))
}
