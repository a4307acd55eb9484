//! What can go wrong while a need model is made, read or asked?

use clariq_core::{Problem, Report};

/// A need model that cannot be made, read or asked.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The configuration, the training labels or a saved model do not make sense.
    #[error(transparent)]
    Problem(#[from] Box<Problem>),
    /// A learned model cannot be had.
    #[error("{}", .0.title)]
    Learned(Box<Report>),
    /// A file cannot be read or written.
    #[error(transparent)]
    Corpus(#[from] clariq_core::Error),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl Error {
    /// A learned model that cannot be had or asked: the need model has a variant that asks for none.
    pub(crate) fn learned(error: &clariq_core::Error) -> Self {
        let mut report = Report::from(error);
        report.hint = format!(
            "{}; or use model = \"lexical\" in [need], which asks for no learned model",
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
            Error::Corpus(error) => Self::from(error),
        }
    }
}
