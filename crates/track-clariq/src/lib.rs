//! Reads and writes the files of `ClariQ`: topics, facets, the question bank, relevance labels, run
//! files and need files.
//!
//! The evaluation computes what the official scorer computes, to the last digit, numpy's order of
//! summation included. Pickles are read by `python3` with a restricted unpickler, which writes JSON lines.

// No file may end the process: nothing is indexed or unwrapped but where it is said.
#![cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read the files that they have written")
)]
mod candidates;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod check;
mod collection;
pub mod conversation;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
pub mod eval_table;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
pub mod evaluation;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod kind;
mod labelled;
mod need_file;
mod official_file;
mod official_scores;
mod pickle;
mod question_bank;
pub mod splits;
#[allow(clippy::indexing_slicing, reason = "places of lists that are made there")]
mod stats;
mod text_run;
mod validate;

pub use candidates::write_candidates;
pub use check::check;
pub use collection::{ClariQ, QUESTIONS, SAMPLE, SplitData};
pub use eval_table::{
    BEST, ContextId, ContextScores, EvalTable, MetricTable, RetrievedWith, WORST,
};
pub use kind::KIND;
pub use labelled::{Facet, Labelled, LabelledRow, LabelledTopic, parse_requests, read_requests};
pub use need_file::{NeedLine, parse_need_file, read_need_file};
pub use pickle::convert_archives;
use pickle::{MOST_OF_A_PICKLE, read_dictionaries};
pub use question_bank::{NO_QUESTION, parse_question_bank, read_question_bank};
pub use text_run::{parse_text_run, put_text_run_line, read_text_run};
