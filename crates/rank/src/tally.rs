//! Counts of model answers that could not be used as they are; each count becomes one note.

use clariq_core::{Location, Observer, Problem, printable, problem};
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
pub struct Read<'a> {
    /// The text of its note: `{count}` of `{all}` answers did not fit.
    pub note: &'a str,
    /// True if the answer is what was asked for.
    pub fits: bool,
    /// The text of the answer.
    pub answer: &'a str,
    /// The largest share of answers that may not fit.
    pub limit: f64,
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

    /// Counts the answer to a question, which may fit or not.
    pub(crate) fn add_read(&self, question: &impl Hash, read: Read) {
        let Read { note, fits, answer, limit } = read;
        self.update(note, question, |tally| {
            tally.count += usize::from(!fits);
            tally.all += 1;
            let limit = tally.limit.get_or_insert(Limit { share: limit, example: None });
            if !fits && limit.example.is_none() {
                limit.example = Some(printable(answer, SHOWN).to_string());
            }
        });
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
                let (what, _) = text.split_once(':').unwrap_or((&text, ""));
                let example = example.unwrap_or_default();
                let found = format!("{count} of {all} others, the first \"{example}\"");
                let hint = "the run would not be what its system says; another prompt, another \
                            model or more `max_tokens` may help, and `unread` sets the share";
                let expected = format!("at most {share} of the answers in another form");
                first = Some(problem!((Location::file(what)), expected, found, hint));
            }
        }
        first
    }
}

fn hash_of(question: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    question.hash(&mut hasher);
    hasher.finish()
}
