//! Do the measures agree with `trec_eval`, and are they what their definitions say?

#[path = "measures/golden.rs"]
mod golden;
#[path = "measures/properties.rs"]
mod properties;
