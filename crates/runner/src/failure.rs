//! How is an error told? What was expected, what was found, and the next move.

use clariq_corpus::{Problem, Report};
use std::io;

/// Why a command did not do what it was asked to.
#[derive(Debug)]
pub(crate) enum Failure {
    /// Something with a place, an expectation and a hint.
    Report(Box<Report>),
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Failure {
    pub(crate) fn print(&self) {
        match self {
            Self::Report(report) => print_report("error", report),
            Self::Output(error) => eprintln!("error: cannot write to standard output\n     found: {error}"),
        }
    }
}

/// Prints a report to standard error, readable without colour.
pub(crate) fn print_report(severity: &str, report: &Report) {
    eprintln!("{severity}: {}", report.title);
    for (label, text) in [("expected", &report.expected), ("   found", &report.found)] {
        if !text.is_empty() {
            eprintln!("  {label}: {text}");
        }
    }
    if !report.hint.is_empty() {
        eprintln!("hint: {}", report.hint);
    }
}

impl From<Report> for Failure {
    fn from(report: Report) -> Self {
        Self::Report(Box::new(report))
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Report::from(&problem).into()
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

macro_rules! from_reportable {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Self {
                Report::from(&error).into()
            }
        })*
    };
}

from_reportable!(clariq_corpus::Error, clariq_index::Error, clariq_rank::Error, clariq_need::Error);
