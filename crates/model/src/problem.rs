//! Problems of the files in a model's folder.

use clariq_core::{Location, Problem, ProblemKind};
use std::path::Path;

/// A file of a model that is not what it should be.
pub fn problem(at: &Path, expected: impl Into<String>, found: impl Into<String>) -> Problem {
    Problem::new(Location::file(at.display().to_string()), ProblemKind::Model, expected, found)
}
