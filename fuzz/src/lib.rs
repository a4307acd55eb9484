//! What must hold of the readers, whatever bytes they are given.
//!
//! One function per target of `fuzz/fuzz_targets`; it panics if a promise is broken. Tests of the crates
//! include the same files and run the committed corpora without a fuzzer.

// Panicking is what a check is for.
#![allow(clippy::missing_panics_doc)]

mod readers;
mod systems;

pub use readers::*;
pub use systems::systems;
