//! The integration tests of this crate, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod documents;
mod ikat;
mod measures;
