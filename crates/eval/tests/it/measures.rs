//! Do the measures agree with `trec_eval`, and are they what their definitions say?

mod golden;
mod properties;
