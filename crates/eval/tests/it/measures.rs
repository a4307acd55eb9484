//! Measures against `trec_eval` and against their definitions.

mod golden;
mod properties;
