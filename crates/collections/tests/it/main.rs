//! The integration tests of this crate, a module per subject.

mod converters;
mod own;
