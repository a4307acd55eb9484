//! The figures of iKAT: statements, passages and responses of a run, scored by the labels of a split.

mod assessed;
mod by_turn;
mod evaluate;
mod figures;
mod track;

pub use by_turn::{RunPart, columns};
pub use evaluate::{EvaluatedRun, IkatLabels};
pub use figures::{figures, graded, names, provenance, sets};
pub use track::{AssessedBy, IkatEvaluation, ReadSubmission};
