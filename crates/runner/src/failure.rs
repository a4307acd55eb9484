//! How a command ends, and how errors are printed: what was expected, what was found, and the next
//! move.

use clariq_core::{Error, Problem, printable};
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
    /// An error of any crate.
    Error(Error),
    /// Standard output cannot be written.
    Output(io::Error),
}

impl Failure {
    pub(crate) fn print(&self) {
        print_problem("error", &self.to_problem());
    }

    /// What is printed.
    pub(crate) fn to_problem(&self) -> Problem {
        match self {
            Self::Error(error) => error.to_problem(),
            Self::Output(error) => Problem::at(
                "standard output",
                "a terminal, a pipe or a file that can be written",
                error.to_string(),
            )
            .hint("see whether the disk that it goes to is full"),
        }
    }
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        match error {
            // Only standard output and pipes break; whoever reads them has seen enough.
            Error::Io { source, .. } if source.kind() == io::ErrorKind::BrokenPipe => {
                Self::Output(source)
            }
            error => Self::Error(error),
        }
    }
}

impl From<Problem> for Failure {
    fn from(problem: Problem) -> Self {
        Self::Error(problem.into())
    }
}

impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        Self::Output(error)
    }
}

/// How many characters of each part of a problem are shown. The value that was found may be a whole
/// file.
const LONGEST: usize = 600;

/// Prints a problem to standard error, readable without colour.
pub(crate) fn print_problem(severity: &str, problem: &Problem) {
    let parts = [
        (severity, &problem.title()),
        ("  expected", &problem.expected),
        ("     found", &problem.found),
        ("hint", &problem.hint),
    ];
    for (label, text) in parts.into_iter().filter(|(_, text)| !text.is_empty()) {
        eprintln!("{label}: {}", printable(text, LONGEST));
    }
}

/// The error object in place of the answer to a line.
pub(crate) fn error_object(line: Option<u64>, problem: &Problem) -> Value {
    let [expected, found, hint] = [&problem.expected, &problem.found, &problem.hint]
        .map(|text| printable(text, LONGEST).into_owned());
    json!({ "error": { "line": line, "expected": expected, "found": found, "hint": hint } })
}

/// How many lines were bad, as the subject of a sentence.
pub(crate) fn bad_lines_are(count: u64) -> String {
    if count == 1 { "1 bad line is".to_owned() } else { format!("{count} bad lines are") }
}
