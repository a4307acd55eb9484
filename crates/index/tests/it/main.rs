//! The integration tests of this crate, a module per subject.

mod analysis;
mod build;
mod common;
mod damage;
mod explain;
mod lucene;
mod scorers;
mod text_store;
