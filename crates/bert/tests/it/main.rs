//! The integration tests of this crate, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]
#![expect(clippy::needless_raw_string_hashes, reason = "snapbox writes them")]

#[path = "../../../experiment/tests/it/common/mod.rs"]
mod common;
mod damaged_folders;
mod families;
mod folders;
mod golden;
mod late;
mod learned;
mod model_files;
mod rewriting;
mod sparse;
mod training;
