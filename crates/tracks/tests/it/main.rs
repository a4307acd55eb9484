//! The integration tests of the registry, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod fetch;
mod fuzz_corpora;
mod release;
#[expect(dead_code, reason = "other crates use all of it")]
#[path = "../../../collections/tests/it/released.rs"]
mod released;
