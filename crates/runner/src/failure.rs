//! How a command ends, and how errors are printed: what was expected, what was found, and the next
//! move.

use clariq_core::{Problem, Report, printable};
use serde_json::{Value, json};
use std::io;

/// How a command that printed its results ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// As it should.
    Done,
    /// It works, and what it checked does not hold.
    CheckFailed,
}

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
            Self::Output(error) => print_report("error", &cannot_print(error)),
        }
    }
}

/// How many characters of each part of a report are shown. The value that was found may be a whole
/// file.
const LONGEST: usize = 600;

/// Prints a report to standard error, readable without colour.
pub(crate) fn print_report(severity: &str, report: &Report) {
    let title = printable(&report.title, LONGEST);
    eprintln!("{severity}: {title}");
    for (label, text) in [("  expected", &report.expected), ("     found", &report.found)] {
        if !text.is_empty() {
            eprintln!("{label}: {}", printable(text, LONGEST));
        }
    }
    if !report.hint.is_empty() {
        eprintln!("hint: {}", printable(&report.hint, LONGEST));
    }
}

/// The error object that stands where the answer to a line would.
pub(crate) fn error_object(line: Option<u64>, report: &Report) -> Value {
    let [expected, found, hint] = [&report.expected, &report.found, &report.hint]
        .map(|text| printable(text, LONGEST).into_owned());
    json!({ "error": { "line": line, "expected": expected, "found": found, "hint": hint } })
}

/// How many lines were bad, as the subject of a sentence.
pub(crate) fn bad_lines_are(count: u64) -> String {
    if count == 1 { "1 bad line is".to_owned() } else { format!("{count} bad lines are") }
}

fn cannot_print(error: &io::Error) -> Report {
    Report {
        title: "cannot write to standard output".to_owned(),
        expected: "a terminal, a pipe or a file that takes what is written".to_owned(),
        found: error.to_string(),
        hint: "see whether the disk that it goes to is full".to_owned(),
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

impl From<clariq_core::Error> for Failure {
    fn from(error: clariq_core::Error) -> Self {
        match error {
            // Only standard output and pipes break; whoever reads them has seen enough.
            clariq_core::Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Self::Output(source)
            }
            error => Report::from(&error).into(),
        }
    }
}

impl From<clariq_experiment::Error> for Failure {
    fn from(error: clariq_experiment::Error) -> Self {
        match error {
            clariq_experiment::Error::File(error) => error.into(),
            error => Report::from(&error).into(),
        }
    }
}

from_reportable!(
    clariq_index::Error,
    clariq_rank::Error,
    clariq_need::Error,
    clariq_eval::MeasureError
);
