//! The `ClariQ` files, in and out: topics, facets, the question bank, relevance labels, run files
//! and need files.

mod check;
mod collection;
pub mod conversation;
pub mod eval_table;
pub mod evaluation;
pub mod fetch;
mod kind;
mod labelled;
mod need_file;
mod stats;
mod text_run;
mod validate;

pub use crate::bank::{Bank, BankRow, NO_QUESTION};
pub use check::check;
pub use collection::{ClariQ, DataDir, Split, SplitData};
pub use eval_table::{BEST, Context, ContextId, EvalTable, MetricTable, WORST};
pub(crate) use kind::KIND;
pub use labelled::{Facet, Labelled, LabelledRow, Topic, parse_requests, read_requests};
pub use need_file::{NeedLine, parse_need_file, put_need_lines, read_need_file};
pub use text_run::{parse_text_run, put_text_run_line, read_text_run};
pub(crate) use validate::by_topics;
pub use validate::validate;

use clariq_core::{Error, problem};
use clariq_files::archive::Archive;
use clariq_pickle::PickleError;

/// What is wrong with a pickle, as a problem of the file that holds it.
fn unreadable(archive: &Archive, error: PickleError) -> Error {
    let found = error.to_string();
    if let Some(error) = error.source {
        return archive.broken(error);
    }
    if error.is_global {
        let hint = "nothing in the file was run; if you trust it, save it again from Python with \
                    plain floats";
        return problem!(archive.name(), "text, numbers and dictionaries only", found, hint).into();
    }
    archive.problem(archive.form().what, found)
}
