//! The integration tests of this crate, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod analysis;
mod build;
mod common;
mod damage;
mod explain;
mod lucene;
mod scorers;
mod snowball;
mod text_store;
