//! Guarantees of the readers for arbitrary bytes.
//!
//! One function per target of `fuzz/fuzz_targets`; it panics if one is violated. Tests of the crates
//! include the same files and run the committed corpora without a fuzzer.

// A check reports by a panic.
#![allow(clippy::missing_panics_doc)]

mod readers;
mod systems;

pub use readers::*;
pub use systems::systems;
