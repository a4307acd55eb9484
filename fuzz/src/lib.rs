//! What must hold of everything that reads files, whatever bytes it is given.
//!
//! One function per target of `fuzz/fuzz_targets`; it panics if a promise is broken. Tests of the crates
//! include the same files and run the committed corpora without a fuzzer.

// Panicking is what a check is for.
#![allow(clippy::missing_panics_doc)]

mod models;
mod plans;
mod readers;
mod systems;
mod tokenizers;

pub use models::models;
pub use plans::{plans, records};
pub use readers::*;
pub use systems::systems;
pub use tokenizers::tokenizers;
