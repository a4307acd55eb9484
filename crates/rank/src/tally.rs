//! Counts of model answers that could not be used as they are; each count becomes one note.

use clariq_core::{Location, Observer, Problem, ProblemKind, Result, printable, problem};
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
    run: Mutex<CountedRun>,
    /// The answers of each model, by the name of the model in a configuration and by the names that its
    /// server gives.
    models: Mutex<BTreeMap<String, BTreeMap<String, HashSet<u64>>>>,
    /// The longest prompts of each model.
    prompts: Mutex<BTreeMap<String, LongestPrompts>>,
}

/// The answers since a run began.
#[derive(Debug, Default)]
struct CountedRun {
    /// Its requests, if their number is known.
    requests: Option<usize>,
    /// The answers for each use of a model, by the text of its note.
    uses: BTreeMap<String, AnswerCounts>,
}

/// The answers for a use, and those among them that do not fit.
#[derive(Debug, Default)]
struct AnswerCounts {
    unread: usize,
    all: usize,
    /// The share that may not fit.
    most: f64,
    /// The first that does not fit, with its purpose.
    first: String,
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
}

/// An answer that a reader has read.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Read<'a> {
    /// The text of its note: `{count}` of `{all}` answers did not fit.
    pub(crate) note: &'a str,
    /// True if the answer is what was asked for.
    pub(crate) fits: bool,
    /// The purpose of its request.
    pub(crate) about: &'a str,
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

    /// Forgets all counts, before a run over so many requests; `None` if their number is not known.
    pub fn begin(&self, requests: Option<usize>) {
        self.counts.lock().clear();
        self.models.lock().clear();
        self.prompts.lock().clear();
        *self.run.lock() = CountedRun { requests, uses: BTreeMap::new() };
    }

    /// Counts the answer to a question, which may fit or not.
    ///
    /// # Errors
    ///
    /// More answers do not fit than may, even if all others of the run do.
    pub(crate) fn add_read(&self, question: &impl Hash, read: Read) -> Result<()> {
        let Read { note, fits, about, answer, share, most } = read;
        let mut run = self.run.lock();
        let requests = run.requests;
        self.update(note, question, |tally| {
            tally.count += usize::from(!fits);
            tally.all += 1;
            let shares = run.uses.entry(note.to_owned()).or_default();
            shares.most = share;
            shares.all += 1;
            shares.unread += usize::from(!fits);
            if !fits && shares.first.is_empty() {
                shares.first = format!("{about}: \"{}\"", printable(answer, SHOWN));
            }
        });
        let Some((shares, requests)) = run.uses.get(note).zip(requests) else { return Ok(()) };
        let expected = requests.saturating_mul(most).max(shares.all);
        match shares.problem(note, expected) {
            Some(problem) => Err(problem.into()),
            None => Ok(()),
        }
    }

    /// Ends a run, whose number of requests is known by now.
    ///
    /// # Errors
    ///
    /// More answers for a use did not fit than may.
    pub fn end(&self) -> Result<()> {
        let run = std::mem::take(&mut *self.run.lock());
        let mut problems = run.uses.iter().filter_map(|(note, it)| it.problem(note, it.all));
        problems.next().map_or(Ok(()), |problem| Err(problem.into()))
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

    /// Reports all counts above 0 as notes, and resets them.
    pub fn report(&self, observer: &dyn Observer) {
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
        let run = self.run.lock();
        for (note, Tally { count, all, .. }) in std::mem::take(&mut *self.counts.lock()) {
            if count == 0 {
                continue;
            }
            let text = note.replace("{count}", &count.to_string());
            let text = text.replace("{rest}", &(all - count).to_string());
            let text = text.replace("{all}", &all.to_string());
            let first = run.uses.get(&note).map_or("", |shares| &shares.first);
            let first = if first.is_empty() { "" } else { &format!("; the first for {first}") };
            observer.note(&format!("note: {text}{first}"));
        }
    }
}

impl AnswerCounts {
    /// The problem that more of so many answers do not fit than may.
    fn problem(&self, note: &str, expected: usize) -> Option<Problem> {
        let Self { unread, all, most, first } = self;
        if *unread as f64 <= most * expected as f64 {
            return None;
        }
        let (what, _) = note.split_once(':').unwrap_or((note, ""));
        let of = if expected == *all {
            format!("{unread} of {all} others")
        } else {
            format!("{unread} of the first {all} others (of {expected} at most)")
        };
        let hint = "the run would not be what its system says: does the server take `response_format`, and is \
                    `max_tokens` enough? The key `format` of the model asks in another way, `unread` sets the share";
        let expected = format!("at most {most} of the answers in another form");
        let found = format!("{of}, the first for {first}");
        Some(problem!((Location::file(what)), expected, found, hint).kind(ProblemKind::Server))
    }
}

fn hash_of(question: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    question.hash(&mut hasher);
    hasher.finish()
}
