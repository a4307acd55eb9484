//! Requests to models behind servers: sent concurrently, cached, replayed, counted and limited.

mod planned;

use super::concurrently::concurrently;
use super::exchange::{Exchange, Recording, request_key};
use super::identity::{Identity, cache_key};
use clariq_core::{Observer, Result, bail, count_of, one_or, printable};
use clariq_files::Journal;
use parking_lot::{Mutex, MutexGuard};
pub use planned::Planned;
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

/// How the calls of a session are made.
#[derive(Debug, Default)]
pub struct CallOptions {
    /// Recorded answers, which are used instead of all servers.
    pub replay: Option<Recording>,
    /// The maximum number of calls to send.
    pub max_calls: Option<u64>,
    /// True if calls are counted instead of sent.
    pub dry_run: bool,
}

/// Characters that a note shows of the name of a model.
const SHOWN: usize = 60;

/// The calls of a session to models behind endpoints.
#[derive(Debug, Default)]
pub struct Calls {
    options: CallOptions,
    state: Mutex<CallState>,
    sent: AtomicU64,
}

#[derive(Debug, Default)]
struct CallState {
    /// Answers in the cache, by the file.
    journals: HashMap<PathBuf, Journal<Value>>,
    /// True in a run. Other commands may answer any number of requests, and record none.
    is_recording: bool,
    /// The exchanges of a run in the order of their first use, and their keys.
    used: Vec<Exchange>,
    used_keys: HashSet<String>,
    /// Messages about the cache and the servers.
    notes: Vec<String>,
    /// The calls of a dry run by model.
    planned: BTreeMap<String, Planned>,
    planned_keys: HashSet<String>,
}

impl CallState {
    /// Writes a value into the cache; the first that cannot be written is told.
    fn put(&mut self, caller: &Caller, key: String, value: Value) {
        let Some(journal) = self.journals.get_mut(&caller.journal) else { return };
        let was_written = journal.trouble().is_none();
        journal.put(key, value);
        if let Some(trouble) = journal.trouble().filter(|_| was_written) {
            self.notes.push(unwritten(&caller.journal, trouble));
        }
    }
}

/// The model that a call is for.
#[derive(Debug)]
pub(super) struct Caller {
    /// Its name in the configuration.
    pub(super) name: String,
    /// The file of its answers in the cache.
    pub(super) journal: PathBuf,
    pub(super) identity: Identity,
    /// Calls that are sent at the same time.
    pub(super) concurrency: NonZeroUsize,
}

/// An answer of a server, and the name that it gives its model; empty if it gives none.
pub(super) struct CallAnswer<T> {
    pub(super) value: T,
    pub(super) model: String,
}

/// Is given the number of a call and its answer.
pub(super) type Seen<'s, T> = &'s (dyn Fn(usize, &T) -> Result<()> + Sync);

/// A request of one call.
pub(super) struct Call {
    /// Its purpose, for messages.
    pub(super) about: String,
    /// Everything that the answer depends on.
    pub(super) request: Value,
    /// The number of items that progress counts.
    pub(super) items: u64,
    /// Bytes of the texts that the model reads.
    pub(super) bytes: u64,
    /// The maximum number of tokens that the model writes.
    pub(super) most_tokens: u64,
}

/// The note that answers are not kept.
fn unwritten(file: &Path, trouble: &str) -> String {
    let file = file.display();
    format!("note: answers cannot be kept in {file} ({trouble}): another run asks for all again")
}

impl Calls {
    /// Calls under these options.
    pub fn new(options: CallOptions) -> Self {
        Self { options, ..Self::default() }
    }

    /// True if calls are counted instead of sent.
    pub fn is_dry_run(&self) -> bool {
        self.options.dry_run
    }

    /// Begins a run, and forgets earlier exchanges and planned calls.
    pub fn begin_run(&self) {
        let mut state = self.state();
        let journals = std::mem::take(&mut state.journals);
        *state = CallState { journals, is_recording: true, ..CallState::default() };
    }

    /// The exchanges since the run began, in the order of their first use.
    pub fn take_exchanges(&self) -> Vec<Exchange> {
        std::mem::take(&mut self.state().used)
    }

    /// The messages about the cache and the servers since the last time.
    pub fn take_notes(&self) -> Vec<String> {
        std::mem::take(&mut self.state().notes)
    }

    /// True if servers are asked.
    pub(super) fn asks_servers(&self) -> bool {
        self.options.replay.is_none() && !self.is_dry_run()
    }

    /// The calls that a dry run would send since it began, by model.
    pub fn planned(&self) -> BTreeMap<String, Planned> {
        self.state().planned.clone()
    }

    fn state(&self) -> MutexGuard<'_, CallState> {
        self.state.lock()
    }

    /// Opens a file of answers in the cache.
    pub(super) fn open_cache(&self, path: &Path, observer: &dyn Observer) {
        let mut state = self.state();
        if self.options.replay.is_some() || state.journals.contains_key(path) {
            return;
        }
        let journal = Journal::open(path);
        let file = path.display();
        let damaged = journal.damaged();
        if damaged > 0 {
            observer.note(&format!(
                "note: {} in {file} {}",
                count_of(damaged, "answer"),
                one_or(damaged, "is damaged and is ignored", "are damaged and are ignored")
            ));
        }
        if let Some(trouble) = journal.trouble() {
            observer.note(&unwritten(path, trouble));
        }
        state.journals.insert(path.to_owned(), journal);
    }

    /// Notes the name that a server gives its model, and tells if the cache has answers by another.
    pub(super) fn meet(&self, caller: &Caller, served: &str) {
        let mut state = self.state();
        let Some(journal) = state.journals.get(&caller.journal) else { return };
        let key = caller.identity.journal_key();
        let before = journal.get(&key);
        let before = before.as_ref().and_then(Value::as_str);
        if before == Some(served) {
            return;
        }
        if let Some(before) = before {
            let note = format!(
                "note: the server of `{}` has the model `{}`, and had `{}`: answers of that one are \
                 not used",
                caller.name,
                printable(served, SHOWN),
                printable(before, SHOWN),
            );
            state.notes.push(note);
        }
        state.put(caller, key, served.into());
    }

    /// The keys of calls in the cache. A server that does not list its models tells the name of the one
    /// that it has by answering the first call.
    fn cache_keys<T: Serialize>(
        &self,
        caller: &Caller,
        calls: &[Call],
        keys: &[String],
        ask: impl Fn(&Call) -> Result<CallAnswer<T>> + Sync,
    ) -> Result<Vec<String>> {
        if caller.identity.served().is_none() && !self.is_dry_run() {
            let first = calls.first().map(|call| (0, call));
            self.send(caller, first.as_slice(), |index, call| {
                let CallAnswer { value, model } = ask(call)?;
                caller.identity.set_served(&model);
                self.meet(caller, &model);
                self.keep(caller, cache_key(&keys[index], &model), &value);
                Ok(())
            })?;
        }
        let last = self.state().journals[&caller.journal].get(&caller.identity.journal_key());
        let last = last.as_ref().and_then(Value::as_str).unwrap_or_default();
        let served = caller.identity.served().unwrap_or(last);
        Ok(keys.iter().map(|key| cache_key(key, served)).collect())
    }

    fn keep(&self, caller: &Caller, key: String, answer: &impl Serialize) {
        let answer = serde_json::to_value(answer).expect("plain data");
        self.state().put(caller, key, answer);
    }

    /// Answers calls, in order: from the recording, from the cache, or by the server. `stand_in` is
    /// the answer of a dry run. Each answer is given to `seen` with the number of its call as soon as it is
    /// there; after an error of it, no further call is sent.
    pub(super) fn answer<T: Serialize + DeserializeOwned>(
        &self,
        caller: &Caller,
        calls: &[Call],
        stand_in: impl Fn(&Call) -> T,
        ask: impl Fn(&Call) -> Result<CallAnswer<T>> + Sync,
        seen: Seen<T>,
    ) -> Result<Vec<T>> {
        if calls.is_empty() {
            return Ok(Vec::new());
        }
        let keys: Vec<String> = calls.iter().map(|call| request_key(&call.request)).collect();
        if let Some(recording) = &self.options.replay {
            return self.replay(recording, calls, &keys, seen);
        }
        let cache_keys = self.cache_keys(caller, calls, &keys, &ask)?;
        let mut cached = Vec::new();
        let mut missing = Vec::new();
        let mut repeated = Vec::new();
        {
            let state = self.state();
            let journal = &state.journals[&caller.journal];
            let mut distinct = HashSet::new();
            for (index, (call, key)) in calls.iter().zip(&cache_keys).enumerate() {
                if journal.has(key) {
                    cached.push(index);
                } else if distinct.insert(key) {
                    missing.push((index, call));
                } else {
                    repeated.push(index);
                }
            }
        }
        if self.is_dry_run() {
            return Ok(self.stand_in_for(caller, calls, &cache_keys, &missing, stand_in));
        }
        let kept = |index: usize| -> Result<Value> {
            let answer = self.state().journals[&caller.journal].get(&cache_keys[index]);
            if let Some(answer) = answer {
                Ok(answer)
            } else {
                let hint = "the file was changed meanwhile: run the command again";
                let expected = format!("the answer for {}", calls[index].about);
                bail!(&*caller.journal, expected, "none", hint)
            }
        };
        let tell_kept = |indices: &[usize]| -> Result<()> {
            for index in indices {
                if let Ok(answer) = T::deserialize(&kept(*index)?) {
                    seen(*index, &answer)?;
                }
            }
            Ok(())
        };
        tell_kept(&cached)?;
        self.send(caller, &missing, |index, call| {
            let answer = ask(call)?.value;
            self.keep(caller, cache_keys[index].clone(), &answer);
            seen(index, &answer)
        })?;
        tell_kept(&repeated)?;
        let answers = (0..calls.len()).map(kept).collect::<Result<Vec<_>>>()?;
        self.use_answers(calls, &keys, answers)
    }

    /// Answers calls from a recording.
    fn replay<T: DeserializeOwned>(
        &self,
        recording: &Recording,
        calls: &[Call],
        keys: &[String],
        seen: Seen<T>,
    ) -> Result<Vec<T>> {
        let mut answers = Vec::with_capacity(calls.len());
        for (call, key) in calls.iter().zip(keys) {
            answers.push(recording.answer(key, &call.about)?.clone());
        }
        let answers = self.use_answers(calls, keys, answers)?;
        for (index, answer) in answers.iter().enumerate() {
            seen(index, answer)?;
        }
        Ok(answers)
    }

    /// Records the exchanges of the run, and deserializes their answers.
    fn use_answers<T: DeserializeOwned>(
        &self,
        calls: &[Call],
        keys: &[String],
        answers: Vec<Value>,
    ) -> Result<Vec<T>> {
        let mut state = self.state();
        let mut read = Vec::with_capacity(answers.len());
        for ((call, key), answer) in calls.iter().zip(keys).zip(answers) {
            match T::deserialize(&answer) {
                Ok(answer) => read.push(answer),
                Err(error) => {
                    let hint = "the file or the cache was changed by hand";
                    let at = format!("the recorded answer for {}", call.about);
                    bail!(at, "an answer of its kind", (error.to_string()), hint);
                }
            }
            if state.is_recording && state.used_keys.insert(key.clone()) {
                let about = call.about.clone();
                let request = call.request.clone();
                state.used.push(Exchange { about, request, answer });
            }
        }
        Ok(read)
    }

    /// Sends calls, each with its number, concurrently. After the first error no further call is sent.
    fn send(
        &self,
        caller: &Caller,
        calls: &[(usize, &Call)],
        send: impl Fn(usize, &Call) -> Result<()> + Sync,
    ) -> Result<()> {
        let mut room = calls.len();
        if let Some(max) = self.options.max_calls {
            let left = max.saturating_sub(self.sent.load(Ordering::Relaxed));
            room = room.min(usize::try_from(left).unwrap_or(usize::MAX));
        }
        let (within, beyond) = calls.split_at(room);
        self.sent.fetch_add(room as u64, Ordering::Relaxed);
        concurrently(caller.concurrency, within, |(index, call)| send(*index, call))?;
        if let (Some((_, first)), Some(max)) = (beyond.first(), self.options.max_calls) {
            let found = format!("one more, for {}", first.about);
            let trouble = self.state().journals[&caller.journal].trouble().map(str::to_owned);
            let hint = match trouble {
                None => "the answers so far are in the cache: a run with a higher bound continues"
                    .to_owned(),
                Some(why) => format!("the cache could not be written ({why}): all is asked again"),
            };
            let expected = format!("at most {}", count_of(max, "call"));
            bail!("--max-calls", expected, found, hint);
        }
        Ok(())
    }
}
