//! The integration tests of this crate, a module per subject.

mod eval_table;
mod fetch;
mod fuzz_corpora;
mod ikat;
mod ikat_labels;
mod ikat_validator;
mod own;
mod released;
mod validator_cases;
