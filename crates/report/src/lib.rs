//! Runs side by side on one self-contained HTML page: figures with significance, the challenge's
//! leaderboard, recall against depth, differences by topic, the questions of every topic, and the
//! confusion of needs.
//!
//! The page loads nothing and executes nothing. The same input gives the same bytes.
//!
//! ```
//! use clariq_collections::clariq::{ClariQ, DataDir, Split};
//! use clariq_files::{Run, RunLine};
//! use clariq_report::{Comparison, Entry};
//!
//! let sample = ClariQ::open(DataDir::Sample)?;
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
mod comparison;
mod depth;
mod differences;
mod figures;
mod judged;
mod leaderboard;
mod lines;
mod markup;
mod needs;
mod page;
mod scale;
mod significance;
mod spread;
#[cfg(test)]
mod testing;
mod topics;
mod words;

pub use comparison::{Comparison, Entry, NeedEntry};

/// Renders the page.
///
/// # Panics
///
/// If `baseline` is not the position of a run.
pub fn render(comparison: &Comparison) -> String {
    page::render(comparison)
}
