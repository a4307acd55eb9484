//! The integration tests of this crate, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod damaged_folders;
mod families;
mod folders;
mod golden;
mod rewriting;
mod sparse;
mod training;
