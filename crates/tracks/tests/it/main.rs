//! The integration tests of the registry, a module per subject.

mod fetch;
mod fuzz_corpora;
mod release;
#[path = "../../../collections/tests/it/released.rs"]
mod released;
