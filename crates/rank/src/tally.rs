//! Counts of model answers that could not be used as they are; each count becomes one note.

use clariq_core::{Location, Observer, Problem, Result, printable, problem};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Characters that a message shows of an answer.
const SHOWN: usize = 100;
/// Contexts of servers are longer. In shorter prompts, one number of tokens may be chance.
const SHORTEST_CONTEXT: u64 = 1000;

/// Counts by the text of their note. An answer that is read twice, such as a query for both
/// statements and passages, counts once.
#[derive(Debug, Default)]
pub struct Tallies {
    counts: Mutex<BTreeMap<String, Tally>>,
    /// The requests of the run, if their number is known.
    requests: Mutex<Option<usize>>,
    /// The answers of each model, by the name of the model in a configuration and by the names that its
    /// server gives.
    models: Mutex<BTreeMap<String, BTreeMap<String, HashSet<u64>>>>,
    /// The longest prompts of each model.
    prompts: Mutex<BTreeMap<String, LongestPrompts>>,
}

/// The prompts of which a server read the most tokens.
#[derive(Debug, Default)]
struct LongestPrompts {
    tokens: u64,
    fewest_bytes: usize,
    most_bytes: usize,
}

impl LongestPrompts {
    /// True if prompts of different lengths have one number of tokens, which is then the server's context.
    fn are_cut(&self) -> bool {
        self.tokens >= SHORTEST_CONTEXT
            && self.most_bytes > self.fewest_bytes + self.fewest_bytes / 4
    }
}

#[derive(Debug, Default)]
struct Tally {
    answers: HashSet<u64>,
    count: usize,
    all: usize,
    limit: Option<Limit>,
}

/// The share of answers that may not fit, and the first that does not.
#[derive(Debug)]
struct Limit {
    share: f64,
    example: Option<String>,
}

/// An answer that a reader has read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read<'a> {
    /// The text of its note: `{count}` of `{all}` answers did not fit.
    pub(crate) note: &'a str,
    /// True if the answer is what was asked for.
    pub(crate) fits: bool,
    /// The text of the answer.
    pub(crate) answer: &'a str,
    /// The largest share of answers that may not fit.
    pub(crate) share: f64,
    /// The largest number of such answers that a request takes.
    pub(crate) most: usize,
}

impl Tallies {
    /// Counts the answer to a question, which has `count` faults in `all` items. In the text of the
    /// note, `{count}` and `{all}` stand for the totals, and `{rest}` for their difference.
    pub fn add(&self, text: &str, question: &impl Hash, count: usize, all: usize) {
        self.update(text, question, |tally| {
            tally.count += count;
            tally.all += all;
        });
    }

    /// Forgets all counts, before a run over so many requests.
    pub fn begin(&self, requests: Option<usize>) {
        self.counts.lock().clear();
        self.models.lock().clear();
        self.prompts.lock().clear();
        *self.requests.lock() = requests;
    }

    /// Counts the answer to a question, which may fit or not.
    ///
    /// # Errors
    ///
    /// More answers do not fit than may, even if all others of the run do.
    pub(crate) fn add_read(&self, question: &impl Hash, read: Read) -> Result<()> {
        let Read { note, fits, answer, share, most } = read;
        let mut lost = None;
        let expected = self.requests.lock().map(|requests| requests.saturating_mul(most));
        self.update(note, question, |tally| {
            tally.count += usize::from(!fits);
            tally.all += 1;
            let limit = tally.limit.get_or_insert(Limit { share, example: None });
            if !fits && limit.example.is_none() {
                limit.example = Some(printable(answer, SHOWN).to_string());
            }
            if let Some(expected) = expected.map(|expected| expected.max(tally.all))
                && tally.count as f64 > share * expected as f64
            {
                let example = limit.example.clone().unwrap_or_default();
                let found = format!(
                    "{} of the first {} others (of {expected} at most), the first \"{example}\"",
                    tally.count, tally.all
                );
                lost = Some(too_many_unread(note, share, found));
            }
        });
        lost.map_or(Ok(()), |problem| Err(problem.into()))
    }

    /// Counts an answer of `model` to a question, whose server says that it is one of `served`.
    pub(crate) fn add_model(&self, model: &str, served: &str, question: &impl Hash) {
        let mut models = self.models.lock();
        let answers = models.entry(model.to_owned()).or_default();
        answers.entry(served.to_owned()).or_default().insert(hash_of(question));
    }

    /// Notes how many tokens the server of `model` says it has read of a prompt.
    pub(crate) fn add_prompt(&self, model: &str, tokens: u64, bytes: usize) {
        let mut prompts = self.prompts.lock();
        let longest = prompts.entry(model.to_owned()).or_default();
        if tokens > longest.tokens {
            *longest = LongestPrompts { tokens, fewest_bytes: bytes, most_bytes: bytes };
        } else if tokens == longest.tokens {
            longest.fewest_bytes = longest.fewest_bytes.min(bytes);
            longest.most_bytes = longest.most_bytes.max(bytes);
        }
    }

    fn update(&self, text: &str, question: &impl Hash, update: impl FnOnce(&mut Tally)) {
        let mut tallies = self.counts.lock();
        let tally = tallies.entry(text.to_owned()).or_default();
        if tally.answers.insert(hash_of(question)) {
            update(tally);
        }
    }

    /// Reports all counts above 0 as notes, and resets all counts. Returns the problem that more answers
    /// did not fit than may not.
    pub fn report(&self, observer: &dyn Observer) -> Option<Problem> {
        for (model, served) in std::mem::take(&mut *self.models.lock()) {
            if served.len() > 1 {
                let each = served.iter().map(|(name, answers)| {
                    format!("{} of `{}`", answers.len(), printable(name, SHOWN))
                });
                let each = each.collect::<Vec<_>>().join(", ");
                let note = format!("{model}: the answers come from several models: {each}");
                observer.note(&format!("note: {note}"));
            }
        }
        for (model, longest) in std::mem::take(&mut *self.prompts.lock()) {
            if longest.are_cut() {
                let LongestPrompts { tokens, fewest_bytes, most_bytes } = longest;
                observer.note(&format!(
                    "note: {model}: of prompts of {fewest_bytes} to {most_bytes} bytes the server read {tokens} \
                     tokens each: it cuts what is longer than its context (Ollama: set OLLAMA_CONTEXT_LENGTH)"
                ));
            }
        }
        let mut tallies = self.counts.lock();
        let mut first = None;
        for (text, Tally { count, all, limit, .. }) in std::mem::take(&mut *tallies) {
            if count == 0 {
                continue;
            }
            let text = text.replace("{count}", &count.to_string());
            let text = text.replace("{rest}", &(all - count).to_string());
            let text = text.replace("{all}", &all.to_string());
            observer.note(&format!("note: {text}"));
            let Some(Limit { share, example }) = limit else { continue };
            if count as f64 > share * all as f64 && first.is_none() {
                let example = example.unwrap_or_default();
                let found = format!("{count} of {all} others, the first \"{example}\"");
                first = Some(too_many_unread(&text, share, found));
            }
        }
        first
    }
}

/// The problem that too many answers of a use, which its note names, have another form.
fn too_many_unread(note: &str, share: f64, found: String) -> Problem {
    let (what, _) = note.split_once(':').unwrap_or((note, ""));
    let hint = "the run would not be what its system says: does the server take `response_format`, and is \
                `max_tokens` enough? The key `format` of the model asks in another way, `unread` sets the share";
    let expected = format!("at most {share} of the answers in another form");
    problem!((Location::file(what)), expected, found, hint)
}

fn hash_of(question: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    question.hash(&mut hasher);
    hasher.finish()
}
