//! The errors of this crate.

use clariq_core::{Problem, Report};

/// An experiment that cannot be done.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// What was asked for does not make sense.
    #[error(transparent)]
    Problem(#[from] Box<Problem>),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] clariq_core::Error),
    /// A system cannot be read or run.
    #[error(transparent)]
    Rank(#[from] clariq_rank::Error),
    /// A need model cannot be trained or used.
    #[error(transparent)]
    Need(#[from] clariq_need::Error),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<&Error> for Report {
    fn from(error: &Error) -> Self {
        match error {
            Error::Problem(problem) => Self::from(problem.as_ref()),
            Error::File(error) => Self::from(error),
            Error::Rank(error) => Self::from(error),
            Error::Need(error) => Self::from(error),
        }
    }
}

/// What stages are told when a model cannot be had.
impl From<Error> for clariq_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Problem(problem) => Self::Problem(problem),
            Error::File(error) => error,
            other => Report::from(&other).into(),
        }
    }
}
