//! Tokens, sentences and passages: how long a text is, and where it is cut.
//!
//! [`tokens`] counts words and marks, [`sentences`] finds boundaries by rules, and
//! [`passages`] cuts web pages as the guidelines of TREC iKAT ask. [`segment()`] does so for a whole
//! collection. No model is needed, and every text gives the same result on every machine.

pub mod passages;
mod segment;
pub mod sentences;
pub mod tokens;

pub use segment::{HASHES, JSON_LINES, SegmentCounts, TRECWEB, WebPage, segment};
