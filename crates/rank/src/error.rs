//! What can go wrong while a system is read or run.

use clariq_core::{Problem, Report};

/// A system that cannot be read or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The index cannot be used.
    #[error(transparent)]
    Index(#[from] clariq_index::Error),
    /// The configuration makes no sense, a file cannot be read, or a model cannot be had.
    #[error(transparent)]
    Core(#[from] clariq_core::Error),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Core(problem.into())
    }
}

impl From<&Error> for Report {
    fn from(error: &Error) -> Self {
        match error {
            Error::Index(error) => Self::from(error),
            Error::Core(error) => Self::from(error),
        }
    }
}
