//! The integration tests of this crate, a module per subject.

mod eval_table;
