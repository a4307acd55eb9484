//! The integration tests of this crate, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod common;
mod fetch;
mod ikat;
mod ikat_labels;
mod ikat_validator;
mod passages;
#[path = "../../../collections/tests/it/released.rs"]
mod released;
mod segment;
mod sentences;
mod tokens;
mod validator_cases;
