//! The integration tests of this crate, a module per subject.

mod earlier_judgements;
mod eval_table;
