//! The integration tests of this crate, a module per subject.

mod damaged_folders;
mod families;
mod folders;
mod golden;
mod rewriting;
mod sparse;
mod training;
