//! What can go wrong with a model.

use clariq_core::{Location, Problem, ProblemKind, Report};

/// A model that cannot be read, used or trained.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Its files, or what it is given, are not what they should be.
    #[error(transparent)]
    Problem(#[from] Box<Problem>),
    /// A file cannot be read or written.
    #[error(transparent)]
    Corpus(clariq_core::Error),
    /// libtorch refused.
    #[error("libtorch: {action}: {source}")]
    Torch {
        /// What was being done.
        action: &'static str,
        /// What it said.
        source: tch::TchError,
    },
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<clariq_core::Error> for Error {
    fn from(error: clariq_core::Error) -> Self {
        match error {
            clariq_core::Error::Problem(problem) => Self::Problem(problem),
            other => Self::Corpus(other),
        }
    }
}

impl Error {
    /// Names what was being done when libtorch refused.
    pub(crate) fn torch(action: &'static str) -> impl Fn(tch::TchError) -> Self {
        move |source| Self::Torch { action, source }
    }

    fn into_problem(action: &str, source: &tch::TchError) -> Problem {
        let message = source.to_string();
        // libtorch appends a trace of its own functions to the first line.
        let first = message.lines().next().unwrap_or_default().to_owned();
        Problem::new(Location::file("libtorch"), ProblemKind::Model, action, first)
            .hint("`clariq doctor` shows what was found; fewer tokens per batch need less memory")
    }
}

impl From<Error> for clariq_core::Error {
    fn from(error: Error) -> Self {
        match error {
            Error::Problem(problem) => Self::Problem(problem),
            Error::Corpus(error) => error,
            Error::Torch { action, source } => Error::into_problem(action, &source).into(),
        }
    }
}

impl From<&Error> for Report {
    fn from(error: &Error) -> Self {
        match error {
            Error::Problem(problem) => Self::from(problem.as_ref()),
            Error::Corpus(error) => Self::from(error),
            Error::Torch { action, source } => Self::from(&Error::into_problem(action, source)),
        }
    }
}
