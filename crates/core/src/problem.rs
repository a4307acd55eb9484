//! Problems of files and arguments, and how they are reported.
//!
//! A [`Problem`] names the place (file and line), what was expected there, what was found, and a
//! hint.
//! [`Report`] is the same for any error of any crate, so that the command prints them all alike.

use std::fmt;
use std::io;
use std::path::PathBuf;

/// A file and, where it applies, a line in it (counted from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file as the user named it.
    pub file: String,
    /// The line, counted from 1; `None` where the whole file is meant.
    pub line: Option<u64>,
}

impl Location {
    /// A place that means a whole file.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: None }
    }

    /// A line of a file, counted from 1.
    pub fn line(file: impl Into<String>, line: u64) -> Self {
        Self { file: file.into(), line: Some(line) }
    }
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.line {
            Some(line) => write!(f, "{}:{line}", self.file),
            None => f.write_str(&self.file),
        }
    }
}

/// The kinds of trouble that a file can be in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// There is no such file.
    #[error("missing file")]
    MissingFile,
    /// A directory where a file was expected.
    #[error("a directory in place of a file")]
    Directory,
    /// The file holds nothing.
    #[error("empty file")]
    Empty,
    /// Bytes that are not UTF-8.
    #[error("not UTF-8")]
    NotUtf8,
    /// A column that the format requires is not in the header.
    #[error("missing column")]
    MissingColumn,
    /// A row with more or fewer fields than the format has.
    #[error("wrong number of fields")]
    FieldCount,
    /// A field that must not be empty.
    #[error("empty field")]
    EmptyField,
    /// A field that is not the number it should be.
    #[error("not a number")]
    NotANumber,
    /// A clarification need outside 1 to 4.
    #[error("label out of range")]
    LabelRange,
    /// The same id twice where ids are unique.
    #[error("duplicate id")]
    DuplicateId,
    /// A question id that the question bank does not have.
    #[error("unknown question id")]
    UnknownQuestion,
    /// Two rows or files that say different things of one object.
    #[error("contradiction")]
    Contradiction,
    /// A text that is no JSON.
    #[error("not JSON")]
    Json,
    /// A value of another kind, a key that is missing, or one that the format does not have.
    #[error("wrong value")]
    WrongValue,
    /// An id of something that is not there.
    #[error("unknown id")]
    UnknownId,
    /// An id that no run file could hold.
    #[error("not an id")]
    Id,
    /// A quoted field that does not end as one.
    #[error("bad quotes")]
    Quotes,
    /// A row that says again what an earlier one said.
    #[error("repeated row")]
    Repeated,
    /// More bytes or lines than a file of that kind can need.
    #[error("file too large")]
    TooLarge,
    /// A pipe, a device or a socket where a file was expected.
    #[error("not a regular file")]
    Special,
    /// A compressed file that cannot be unpacked.
    #[error("damaged archive")]
    Archive,
    /// A pickle that is not an evaluation table.
    #[error("not an evaluation table")]
    EvalTable,
    /// A record that is not a conversation, or a file that holds none.
    #[error("not a conversation")]
    Conversation,
    /// A record that is not a web page.
    #[error("not a page")]
    Page,
    /// A file whose checksum is not the expected one.
    #[error("wrong checksum")]
    Checksum,
    /// A model that is not there, or whose files do not fit each other or the program.
    #[error("cannot use the model")]
    Model,
    /// A text with more tokens than a model can read.
    #[error("text too long")]
    TextLength,
    /// An output that is one of the inputs.
    #[error("the output is an input")]
    OutputIsInput,
    /// A configuration that cannot be read or does not make sense.
    #[error("bad configuration")]
    Configuration,
    /// A server that gives no answer, or one of another form.
    #[error("no answer")]
    Server,
    /// A value on the command line that does not make sense.
    #[error("bad argument")]
    Argument,
}

/// Whether a problem could change a figure.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Severity {
    /// It could, so that every command stops.
    #[default]
    Error,
    /// It could not: the official scorer reads past it, and so does every command but `data check`.
    Warning,
}

/// One thing that is wrong, with its place.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {kind}: expected {expected}, found {found}")]
pub struct Problem {
    /// File and line.
    pub at: Location,
    /// What kind of trouble it is.
    pub kind: ProblemKind,
    /// Whether it could change a figure.
    pub severity: Severity,
    /// What should have stood there.
    pub expected: String,
    /// What stood there, value included.
    pub found: String,
    /// The next move that mends it.
    pub hint: String,
}

impl Problem {
    /// An error without a hint yet.
    pub fn new(
        at: Location,
        kind: ProblemKind,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        let (expected, found) = (expected.into(), found.into());
        Self { at, kind, severity: Severity::Error, expected, found, hint: String::new() }
    }

    /// The same problem as a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same problem with the move that mends it.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = hint.into();
        self
    }
}

/// Anything that can go wrong while a file is read or written.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// A file whose content is not what its format says.
    #[error(transparent)]
    Problem(#[from] Box<Problem>),
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// What was being done ("read", "write", …).
        action: &'static str,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
    /// A download that failed.
    #[error("{url}: {reason}")]
    Download {
        /// What was being fetched.
        url: String,
        /// Why it did not come.
        reason: String,
        /// The next move.
        hint: String,
    },
    /// An error of another crate, behind one of the traits of this one.
    #[error("{}", .0.title)]
    Other(Box<Report>),
}

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl From<Report> for Error {
    fn from(report: Report) -> Self {
        Self::Other(Box::new(report))
    }
}

/// An error as the command prints it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Report {
    /// One line: the place and what is wrong there.
    pub title: String,
    /// What should have been there.
    pub expected: String,
    /// What was there.
    pub found: String,
    /// The next move.
    pub hint: String,
}

impl From<&Problem> for Report {
    fn from(problem: &Problem) -> Self {
        Self {
            title: format!("{}: {}", problem.at, problem.kind),
            expected: problem.expected.clone(),
            found: problem.found.clone(),
            hint: problem.hint.clone(),
        }
    }
}

impl From<&Error> for Report {
    fn from(error: &Error) -> Self {
        match error {
            Error::Problem(problem) => Self::from(problem.as_ref()),
            Error::Io { action, path, source } => Self {
                title: format!("{}: cannot {action}", path.display()),
                expected: expected_of(action).to_owned(),
                found: source.to_string(),
                hint: io_hint(source, action).to_owned(),
            },
            Error::Download { url, reason, hint } => Self {
                title: format!("{url}: download failed"),
                expected: "the file as it was released".to_owned(),
                found: reason.clone(),
                hint: hint.clone(),
            },
            Error::Other(report) => report.as_ref().clone(),
        }
    }
}

fn expected_of(action: &str) -> &'static str {
    match action {
        "read" => "a file that can be read",
        "write" => "a place where a file can be written",
        _ => "no refusal by the system",
    }
}

fn io_hint(source: &io::Error, action: &str) -> &'static str {
    match (source.kind(), action) {
        (io::ErrorKind::NotFound, "write") => "no file can be created there: write somewhere else",
        (io::ErrorKind::NotFound, _) => "check the path",
        (io::ErrorKind::PermissionDenied, _) => "check the permissions, or choose another folder",
        (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, _) => {
            "free some space or write to another disk; nothing was replaced"
        }
        (io::ErrorKind::ReadOnlyFilesystem, _) => "choose a folder that can be written to",
        (io::ErrorKind::FileTooLarge, _) => {
            "raise the limit on file sizes (`ulimit -f`); nothing was replaced"
        }
        (io::ErrorKind::IsADirectory, "write") => "name a file, for example one inside that folder",
        // Creating a folder in the place of a file says "exists"; everything else says "not a
        // directory".
        (io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory, _) => {
            "a part of that path is a file where a folder is needed: name another folder"
        }
        _ => "if what the system says is no help, try another folder",
    }
}
