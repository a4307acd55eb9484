//! The integration tests of this crate, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod earlier_judgements;
mod eval_table;
#[path = "../../../experiment/tests/it/common/folder.rs"]
#[allow(dead_code, reason = "each crate uses its part")]
mod folder;
mod refusals;
#[path = "../../../collections/tests/it/released.rs"]
mod released;
mod released_files;
mod text_runs;
