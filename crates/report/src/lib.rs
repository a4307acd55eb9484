//! How do runs look side by side? One HTML page that needs nothing but itself: figures with significance, the
//! challenge's leaderboard, recall against depth, differences by topic, every topic's questions, and how needs are confused.
//!
//! The page loads nothing and runs nothing. The same input gives the same bytes.
//!
//! ```
//! use clariq_collections::clariq::{Collection, DataDir, Split};
//! use clariq_files::{Run, RunLine};
//! use clariq_report::{Comparison, Entry};
//!
//! let sample = Collection::open(DataDir::Sample)?;
//! let labels = sample.labelled(Split::Dev)?;
//! let first = &labels.rows[0];
//! let topic = labels.topics[labels.facets[first.facet].topic].id.clone();
//! let line = RunLine { topic, question: first.question.clone(), score: 1.0, line: 1 };
//! let entry = Entry::new("one question", Run { lines: vec![line], ..Run::default() });
//! let page = clariq_report::render(&Comparison {
//!     title: "A run",
//!     split: Split::Dev,
//!     bank: &sample.bank,
//!     labels: &labels,
//!     runs: &[entry],
//!     baseline: 0,
//!     needs: &[],
//!     seed: 42,
//! });
//! assert!(page.starts_with("<!DOCTYPE html>") && page.contains("one question"));
//! # Ok::<(), clariq_core::Error>(())
//! ```

mod bars;
mod depth;
mod differences;
mod figures;
mod judged;
mod labels;
mod leaderboard;
mod lines;
mod needs;
mod page;
mod scale;
mod significance;
#[cfg(test)]
mod testing;
mod topics;
mod words;

use clariq_collections::clariq::{Labelled, NeedLine, QuestionBank, Split};
use clariq_files::Run;

/// A run and what it is called on the page.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name; every entry of a page has another.
    pub name: String,
    /// Its lines, in file order.
    pub run: Run,
    /// What it uses beyond a request and the bank, as its record declares.
    pub uses: Vec<String>,
}

impl Entry {
    /// An entry that uses one request and the bank alone.
    pub fn new(name: impl Into<String>, run: Run) -> Self {
        Self { name: name.into(), run, uses: Vec::new() }
    }
}

/// A need file and what it is called on the page.
#[derive(Debug, Clone)]
pub struct NeedEntry {
    /// Its name.
    pub name: String,
    /// Its lines, in file order.
    pub lines: Vec<NeedLine>,
}

/// What a page is about.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The page's title.
    pub title: &'a str,
    /// Which requests were answered.
    pub split: Split,
    /// All questions.
    pub bank: &'a QuestionBank,
    /// The labels of the split.
    pub labels: &'a Labelled,
    /// The runs, in the order in which they are shown.
    pub runs: &'a [Entry],
    /// The place in `runs` of the run that the others are compared with.
    pub baseline: usize,
    /// Predictions of clarification need, if there are any.
    pub needs: &'a [NeedEntry],
    /// Seed of the randomisation test.
    pub seed: u64,
}

/// The page.
///
/// # Panics
///
/// If there is no run at the place `baseline`.
pub fn render(comparison: &Comparison) -> String {
    page::page(comparison)
}
