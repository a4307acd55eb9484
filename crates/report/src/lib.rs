//! Runs side by side on one self-contained HTML page: figures with significance, differences by
//! topic, and what each run gave for every topic. What is a collection's own is in a module of its
//! own: [`clariq`] and [`ikat`].
//!
//! The page loads nothing and executes nothing. The same input gives the same bytes.
//!
//! ```
//! use clariq_collections::clariq::{ClariQ, DataDir, Split};
//! use clariq_files::{Run, RunLine};
//! use clariq_report::clariq::{Comparison, Entry};
//!
//! let sample = ClariQ::open(DataDir::Sample)?;
//! let labels = sample.labelled(Split::Dev)?;
//! let first = &labels.rows[0];
//! let topic = labels.topics[labels.facets[first.facet].topic].id.clone();
//! let line = RunLine { topic, question: first.question.clone(), score: 1.0, line: 1 };
//! let entry = Entry::new("one question", Run { lines: vec![line], ..Run::default() });
//! let page = clariq_report::clariq::render(&Comparison {
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
pub mod clariq;
mod compared;
mod differences;
mod figures;
pub mod ikat;
mod markup;
mod page;
mod scale;
mod spread;
mod words;
