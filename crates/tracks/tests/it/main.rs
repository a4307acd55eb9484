//! The integration tests of the registry, a module per subject.

mod fetch;
mod fuzz_corpora;
mod release;
#[expect(dead_code, reason = "other crates use all of it")]
#[path = "../../../collections/tests/it/released.rs"]
mod released;
