//! Tests of stages and pipelines, a module per subject.

#![allow(clippy::disallowed_methods, reason = "a test reads the memory of its process")]

mod chat;
mod common;
mod dense;
mod elasticsearch;
mod equal_scores;
mod needs;
mod refusals;
mod rewrite;
mod rm3;
mod sparse;
mod stages;
