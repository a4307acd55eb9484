//! Counts of answers of models that could not be used as they are, for one note each.

use clariq_core::Observer;
use std::collections::{BTreeMap, HashSet};
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::{Mutex, PoisonError};

/// Counts by the text of their note. An answer that is read twice, as a query for statements and for
/// passages is, counts once.
#[derive(Debug, Default)]
pub struct Tallies(Mutex<BTreeMap<String, Tally>>);

#[derive(Debug, Default)]
struct Tally {
    answers: HashSet<u64>,
    count: usize,
    all: usize,
}

impl Tallies {
    /// Counts the answer to a question: `count` of `all` things in it. The text of the note has
    /// `{count}` and `{all}` in the places of their sums.
    pub fn add(&self, text: &str, question: &impl Hash, count: usize, all: usize) {
        let mut hasher = DefaultHasher::new();
        question.hash(&mut hasher);
        let mut tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let tally = tallies.entry(text.to_owned()).or_default();
        if tally.answers.insert(hasher.finish()) {
            tally.count += count;
            tally.all += all;
        }
    }

    /// Notes all counts above 0, and begins anew.
    pub fn report(&self, observer: &dyn Observer) {
        let mut tallies = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (text, Tally { count, all, .. }) in std::mem::take(&mut *tallies) {
            if count > 0 {
                let text = text.replace("{count}", &count.to_string());
                observer.note(&format!("note: {}", text.replace("{all}", &all.to_string())));
            }
        }
    }
}
