//! Bytes in and out: sources, atomic output, tables, lines, archives, TREC runs and qrels.
//!
//! Every reader takes a [`Source`] (a path, standard input or memory; plain, gzip, Zstandard or zip) and
//! reports problems with file and line as [`Problem`](clariq_core::Problem)s; every writer replaces its
//! target only when it is complete. A `read_…` stops at the first problem; the `parse_…`
//! of the same name reports all of them.
//!
//! Output goes to a temporary file beside its target, and signal handlers remove what an interrupted
//! command leaves behind. An output is none of the command's inputs, compared by device and inode.
//! Records are read here, so that a quote that is never closed is an error at the line where it opens;
//! the tests compare the reader with the crate `csv`. Parsers report to a *sink*: commands stop at the
//! first error and `data check` collects all, so that both accept the same files.

#![cfg_attr(
    test,
    allow(clippy::disallowed_methods, reason = "tests read the files that they have written")
)]
pub mod archive;
pub mod columns;
pub mod fields;
mod identity;
mod inputs;
mod journal;
mod lines;
mod lock;
pub mod manifest;
mod named;
mod nearby;
mod output;
mod python;
mod qrels;
pub mod records;
mod run;
mod sink;
mod source;
mod staged_folder;
pub mod table;
pub mod temporary;
mod text;
mod zipped;

pub use fields::IgnoredLines;
pub use inputs::{protect, protect_folder, protect_inputs, refuse_input};
pub use journal::Journal;
pub use lines::{BoundedLines, MOST_OF_A_LINE, is_blank};
pub use lock::Lock;
pub use nearby::nearest_folder;
pub use output::{StagedFile, StagedWriter, Target, make_folder, with_ending, write_atomically};
pub use python::python_float;
pub use qrels::{Judgement, Qrels, TopicJudgements, parse_qrels, read_qrels};
pub use run::{
    Run, RunLine, as_written, parse_run, put_run_lines, read_run, show_score, strictly_decreasing,
};
pub use sink::{
    MOST_ERRORS, MOST_LINES, Sink, for_each_filled_line, has_few_lines, not_utf8, quoted,
    read_strictly, shorten, strictly, until_too_many_errors,
};
pub use source::{
    FileContent, MOST_OF_A_CONFIGURATION, MOST_OF_A_RUN, MOST_OF_A_TABLE, Source, stdin,
};
pub use staged_folder::{StagedFolder, remove_folder};
