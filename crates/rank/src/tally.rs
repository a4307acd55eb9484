//! Counts of model answers that could not be used as they are; each count becomes one note.

use clariq_core::Observer;
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};

/// Counts by the text of their note. An answer that is read twice, such as a query for both
/// statements and passages, counts once.
#[derive(Debug, Default)]
pub struct Tallies(Mutex<BTreeMap<String, Tally>>);

#[derive(Debug, Default)]
struct Tally {
    answers: HashSet<u64>,
    count: usize,
    all: usize,
}

impl Tallies {
    /// Counts the answer to a question, which has `count` faults in `all` items. In the text of the
    /// note, `{count}` and `{all}` stand for the totals.
    pub fn add(&self, text: &str, question: &impl Hash, count: usize, all: usize) {
        let mut hasher = DefaultHasher::new();
        question.hash(&mut hasher);
        let mut tallies = self.0.lock();
        let tally = tallies.entry(text.to_owned()).or_default();
        if tally.answers.insert(hasher.finish()) {
            tally.count += count;
            tally.all += all;
        }
    }

    /// Reports all counts above 0 as notes, and resets all counts.
    pub fn report(&self, observer: &dyn Observer) {
        let mut tallies = self.0.lock();
        for (text, Tally { count, all, .. }) in std::mem::take(&mut *tallies) {
            if count > 0 {
                let text = text.replace("{count}", &count.to_string());
                observer.note(&format!("note: {}", text.replace("{all}", &all.to_string())));
            }
        }
    }
}
