//! The `ClariQ` files, in and out: topics, facets, the question bank, relevance labels, run files and
//! need files. This crate knows files and never ranks anything.
//!
//! Every reader takes a [`Source`] (a path, standard input, memory or an embedded file; plain or gzip), names the
//! file and line of whatever is wrong in a [`Problem`], and every writer replaces its target only
//! when it is complete. A `read_…` stops at the first problem; the `parse_…` of the same name hands on all of them.
//!
//! ```
//! use clariq_corpus::{Collection, DataDir, Split};
//!
//! let sample = Collection::open(DataDir::Sample)?;
//! let dev = sample.split(Split::Dev)?;
//! let first = &dev.topics[0];
//! assert!(!first.request.is_empty());
//! assert_eq!(sample.bank.text(sample.bank.find("Q00001").unwrap()), "");
//! # Ok::<(), clariq_corpus::Error>(())
//! ```

mod archive;
mod bank;
mod check;
mod checksum;
mod collection;
pub mod conversation;
pub mod eval_table;
pub mod fetch;
mod id;
mod labelled;
mod lines;
mod need;
mod need_file;
mod output;
pub mod pickle;
mod problem;
mod qrels;
mod requests;
mod run;
mod source;
mod stats;
mod table;
mod text_run;

pub use bank::{NO_QUESTION, QuestionBank, QuestionRow};
pub use check::{CheckReport, check};
pub use checksum::{Checksum, sha256, sha256_hex, sha256_of_file};
pub use collection::{Collection, DataDir, Split, SplitData};
pub use eval_table::{BEST, Builder as EvalTableBuilder, ContextId, EvalTable, MetricTable, Scores, WORST};
pub use id::{FacetId, QuestionId, TopicId};
pub use labelled::{Facet, Labelled, LabelledRow, Topic};
pub use need::Need;
pub use need_file::{NeedLine, parse_need_file, put_need_lines, read_need_file, write_need_file};
pub use output::{Staged, Target, remove_stale, write_atomically};
pub use problem::{Error, Location, Problem, ProblemKind, Report};
pub use qrels::{Judgement, parse_qrels, put_judgements, read_qrels, write_qrels};
pub use requests::{parse_requests, read_requests};
pub use run::{Run, RunLine, parse_run, put_run_lines, read_run, strictly_decreasing, write_run};
pub use source::{Input, Source};
pub use stats::{SplitStats, Statistics, statistics};
pub use text_run::{parse_text_run, put_text_run_line, read_text_run};
