//! The integration tests of this crate, a module per subject.

mod common;
mod passages;
mod segment;
mod sentences;
mod tokens;
