//! The `ClariQ` files, in and out: topics, facets, the question bank, relevance labels, run files
//! and need files.
//!
//! ```
//! use clariq_collections::clariq::{ClariQ, DataDir, Split};
//!
//! let sample = ClariQ::open(DataDir::Sample)?;
//! let dev = sample.split(Split::Dev)?;
//! let first = &dev.topics[0];
//! assert!(!first.request.is_empty());
//! assert_eq!(sample.bank.text(sample.bank.find("Q00001").unwrap()), "");
//! # Ok::<(), clariq_core::Error>(())
//! ```

mod bank;
mod check;
mod collection;
pub mod conversation;
pub mod eval_table;
pub mod evaluation;
pub mod fetch;
mod kind;
mod labelled;
mod need_file;
mod pickled;
mod released;
mod requests;
mod stats;
mod text_run;
mod validate;

pub use crate::bank::{Bank, BankRow};
pub use bank::NO_QUESTION;
pub use check::check;
pub use collection::{ClariQ, DataDir, Split, SplitData};
pub use eval_table::{
    BEST, Builder as EvalTableBuilder, ContextId, EvalTable, MetricTable, Scores, TableRow, WORST,
};
pub(crate) use kind::KIND;
pub use labelled::{Facet, Labelled, LabelledRow, Topic};
pub use need_file::{NeedLine, parse_need_file, put_need_lines, read_need_file, write_need_file};
pub use released::{RELEASED, RELEASED_AT, Released, released};
pub use requests::{parse_requests, read_requests};
pub use text_run::{parse_text_run, put_text_run_line, read_text_run};
pub use validate::validate;
