//! The integration tests of this crate, a module per subject.

mod classifier;
mod golden;
mod training;
