//! What can go wrong while a system is read or run?

use clariq_core::{Problem, Report};

/// A system that cannot be read or run.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration does not make sense.
    #[error(transparent)]
    Config(#[from] Box<Problem>),
    /// The index cannot be used.
    #[error(transparent)]
    Index(#[from] clariq_index::Error),
    /// A learned model cannot be had.
    #[error("{}", .0.title)]
    Model(Box<Report>),
    /// A file cannot be read or written.
    #[error(transparent)]
    Corpus(#[from] clariq_core::Error),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Config(Box::new(problem))
    }
}

impl From<&Error> for Report {
    fn from(error: &Error) -> Self {
        match error {
            Error::Config(problem) => Self::from(problem.as_ref()),
            Error::Index(error) => Self::from(error),
            Error::Model(report) => report.as_ref().clone(),
            Error::Corpus(error) => Self::from(error),
        }
    }
}
