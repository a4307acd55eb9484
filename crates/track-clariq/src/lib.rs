//! Reads and writes the files of `ClariQ`: topics, facets, the question bank, relevance labels, run
//! files and need files.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read the files that they have written")
)]
#[cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
mod candidates;
mod check;
mod collection;
pub mod conversation;
pub mod eval_table;
pub mod evaluation;
mod kind;
#[cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
mod labelled;
#[cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
mod need_file;
#[cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
mod official_file;
#[cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
mod official_scores;
#[cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
mod pickle;
#[cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
mod question_bank;
mod stats;
#[cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
mod text_run;
#[cfg_attr(not(test), warn(clippy::indexing_slicing, clippy::unwrap_used))]
mod validate;

pub use candidates::write_candidates;
pub use check::check;
pub use collection::{ClariQ, ClariqSplit, QUESTIONS, SAMPLE, SplitData};
pub use eval_table::{
    BEST, ContextFigures, ContextId, EvalTable, MetricTable, RetrievedWith, WORST,
};
pub use kind::{KIND, open_usual};
pub use labelled::{Facet, Labelled, LabelledRow, LabelledTopic, parse_requests, read_requests};
pub use need_file::{NeedLine, parse_need_file, put_need_lines, read_need_file};
pub use pickle::convert_archives;
use pickle::read_dictionaries;
pub use question_bank::{NO_QUESTION, parse_question_bank, read_question_bank};
pub use text_run::{parse_text_run, put_text_run_line, read_text_run};
