//! Errors of training, reading and applying need models.

use clariq_core::{Problem, Report};

/// A need model that cannot be trained, read or applied.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration, the training labels or a saved model do not make sense.
    #[error(transparent)]
    Problem(#[from] Box<Problem>),
    /// A learned model is not available.
    #[error("{}", .0.title)]
    Learned(Box<Report>),
    /// A file cannot be read or written.
    #[error(transparent)]
    File(#[from] clariq_core::Error),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl Error {
    /// A learned model that is not available; the hint names the need model that does without.
    pub(crate) fn learned(error: &clariq_core::Error) -> Self {
        let mut report = Report::from(error);
        report.hint = format!(
            "{}; or use model = \"lexical\" in [need], which needs no learned model",
            report.hint
        );
        Self::Learned(Box::new(report))
    }
}

impl From<&Error> for Report {
    fn from(error: &Error) -> Self {
        match error {
            Error::Problem(problem) => Self::from(problem.as_ref()),
            Error::Learned(report) => report.as_ref().clone(),
            Error::File(error) => Self::from(error),
        }
    }
}
