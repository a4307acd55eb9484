//! Tests of the stages and pipelines, a module per subject.

mod common;
mod needs;
mod pipeline;
mod stages;
