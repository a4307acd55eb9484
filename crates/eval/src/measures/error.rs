//! Errors in the name of a measure.

use super::CATALOGUE;
use clariq_core::{Error, Problem};

/// A name that is not that of a measure.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum MeasureError {
    /// Not written as a measure is written.
    #[error("`{text}` is not of the form `NAME(parameter=value)@cut-off`")]
    Form {
        /// What was written.
        text: String,
    },
    /// No measure has this name.
    #[error("unknown measure `{name}`")]
    Unknown {
        /// What was written.
        name: String,
        /// A complete name that is close to it.
        nearest: Option<String>,
    },
    /// The measure needs a cut-off, and none was given.
    #[error("`{measure}` needs a cut-off")]
    MissingCutoff {
        /// The measure.
        measure: &'static str,
        /// The same with a cut-off.
        example: &'static str,
    },
    /// The measure does not have this parameter.
    #[error("`{measure}` has no parameter `{parameter}`")]
    UnknownParameter {
        /// The measure.
        measure: &'static str,
        /// What was written.
        parameter: String,
        /// A complete name.
        example: &'static str,
    },
    /// A parameter with a value that makes no sense.
    #[error("the {parameter} of `{measure}` is {expected}, not `{value}`")]
    BadParameter {
        /// The measure.
        measure: &'static str,
        /// The parameter.
        parameter: &'static str,
        /// What its values are.
        expected: &'static str,
        /// What was written.
        value: String,
    },
}

impl MeasureError {
    /// The next move.
    pub fn hint(&self) -> String {
        match self {
            Self::Unknown { nearest: Some(nearest), .. } => format!("did you mean `{nearest}`?"),
            Self::Unknown { .. } | Self::Form { .. } => {
                let examples: Vec<String> =
                    CATALOGUE.iter().map(|spec| format!("`{}`", spec.example)).collect();
                format!("measures are {}", examples.join(", "))
            }
            Self::MissingCutoff { example, .. } | Self::UnknownParameter { example, .. } => {
                format!("write it as `{example}`")
            }
            Self::BadParameter { parameter, expected, .. } => {
                format!("give {expected} as {parameter}")
            }
        }
    }
}

impl From<MeasureError> for Error {
    fn from(error: MeasureError) -> Self {
        let (expected, found) = match &error {
            MeasureError::Form { text } => {
                ("`NAME(parameter=value)@cut-off`".to_owned(), text.clone())
            }
            MeasureError::Unknown { name, .. } => {
                ("the name of a measure".to_owned(), name.clone())
            }
            MeasureError::MissingCutoff { measure, .. } => {
                ("a cut-off".to_owned(), (*measure).to_owned())
            }
            MeasureError::UnknownParameter { measure, parameter, .. } => {
                (format!("a parameter of {measure}"), parameter.clone())
            }
            MeasureError::BadParameter { expected, value, .. } => {
                ((*expected).to_owned(), value.clone())
            }
        };
        Problem::at("a measure", expected, format!("`{found}`")).hint(error.hint()).into()
    }
}
