//! Reads and writes the files of TREC iKAT 2023 to 2025: topics, passages, labels and runs.
//!
//! iKAT is conversational search with a persona. For every user turn, a system ranks the statements
//! of the user's personal knowledge base (PTKB), ranks passages, and answers; one file holds all of
//! it. The formats changed every year; they are read into one model.
//!
//! ```
//! use clariq_track_ikat::{SAMPLE, SystemClass, read_topics, splits};
//!
//! let topics = read_topics(&SAMPLE, splits::TEST_2023)?;
//! let conversation = &topics.conversations[0];
//! let utterances = conversation.utterances(1, SystemClass::Automatic);
//! assert_eq!(utterances.len(), 3, "the first turn, the response to it, and the second turn");
//! assert_eq!(utterances[2].text, conversation.turns[1].utterance, "as the user said it");
//! # Ok::<(), clariq_core::Error>(())
//! ```
//!
//! Counts of tokens are approximate and were never below spaCy's in any text of the released files, so a
//! response of 250 tokens here is within the limit of the guidelines.

// No file may end the process: nothing is indexed or unwrapped but where it is said.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]

mod answers;
mod check;
mod class;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod collection;
pub mod convert;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
pub mod evaluation;
mod folder;
mod opened;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
pub mod passages;
mod qrels;
pub mod run;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod segment;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
pub mod splits;
mod stats;
#[cfg_attr(not(test), warn(clippy::arithmetic_side_effects))]
mod topics;
pub mod validate;

pub use answers::statement_number;
pub use clariq_collections::SystemClass;
pub use class::run_type;
pub use collection::KIND;
pub use folder::{SAMPLE, read_topics};
pub use opened::{Ikat, PASSAGES, STATEMENTS};
pub use qrels::{
    JudgedPassages, citation_judgements, parse_statement_qrels, read_statement_qrels,
    statement_judgements,
};
pub use segment::{HASHES, JSON_LINES, SegmentCounts, TRECWEB, WebPage, segment};
pub use topics::{IkatConversation, IkatTurn, TopicFile, Year};
