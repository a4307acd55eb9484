//! The scores of iKAT: statements, passages and responses of a run, by the labels of a split.

mod assessed;
mod evaluate;
mod rows;
mod track;

pub use evaluate::{EvaluatedRun, IkatLabels};
pub use rows::{RunPart, names, scores};
pub use track::{AssessedBy, IkatEvaluation, ReadSubmission};
