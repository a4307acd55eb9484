//! The error type of all crates.
//!
//! A [`Problem`] has a location (file and line, or an argument), the expected and the found content,
//! and a hint. An [`Error`] is a problem, or a refusal by the operating system, which
//! [`Error::to_problem`] puts in the same form, so that the command prints all errors alike.
//! [`problem!`](crate::problem) and [`bail!`](crate::bail) make problems of texts.

use crate::{Hint, shorten};
use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// A file and, where it applies, a line in it (counted from 1).
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Location {
    /// The file as the user named it.
    pub file: String,
    /// The line, counted from 1; `None` for the whole file.
    pub line: Option<u64>,
}

impl Location {
    /// The location of a whole file.
    pub fn file(file: impl Into<String>) -> Self {
        Self { file: file.into(), line: None }
    }

    /// A line of a file, counted from 1.
    pub fn line(file: impl Into<String>, line: u64) -> Self {
        Self { file: file.into(), line: Some(line) }
    }
}

impl From<String> for Location {
    fn from(file: String) -> Self {
        Self::file(file)
    }
}

impl<T: AsRef<Path> + ?Sized> From<&T> for Location {
    fn from(file: &T) -> Self {
        Self::file(file.as_ref().display().to_string())
    }
}

impl From<&Location> for Location {
    fn from(location: &Location) -> Self {
        location.clone()
    }
}

impl From<(&str, u64)> for Location {
    fn from((file, line): (&str, u64)) -> Self {
        Self::line(file, line)
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

/// The kinds of problems that code branches on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, thiserror::Error)]
#[non_exhaustive]
pub enum ProblemKind {
    /// A file does not exist.
    #[error("missing file")]
    MissingFile,
    /// A file of the data folder does not exist.
    #[error("missing file")]
    MissingData,
    /// A file of a model's folder does not exist.
    #[error("missing file")]
    MissingModel,
    /// A folder has no collection.
    #[error("missing file")]
    NoCollection,
    /// No system of that name.
    #[error("")]
    UnknownSystem,
    /// A configuration of a system that is not as its form wants.
    #[error("")]
    System,
    /// A need model that cannot be used.
    #[error("")]
    NeedModel,
    /// An index that cannot be used, in the folder of the location.
    #[error("")]
    Index,
    /// A file of another form in the place of a run.
    #[error("")]
    NotARun,
    /// A file is empty.
    #[error("empty file")]
    Empty,
    /// A column that the format requires is not in the header.
    #[error("missing column")]
    MissingColumn,
    /// The same id twice where ids are unique.
    #[error("duplicate id")]
    DuplicateId,
    /// Two rows or files contradict each other.
    #[error("contradiction")]
    Contradiction,
    /// Files of an index changed after they were written.
    #[error("damaged")]
    Damaged,
    /// A download that failed.
    #[error("download failed")]
    Download,
    /// A server that gives no answer, or one of another form.
    #[error("no usable answer")]
    Server,
    /// A model that needs an engine where there is none.
    #[error("no learned models")]
    NoEngine,
    /// An engine that fails, or lacks a device.
    #[error("")]
    Engine,
    /// A value on the command line that does not make sense.
    #[error("bad argument")]
    Argument,
    /// Any other kind.
    #[error("")]
    Other,
}

impl ProblemKind {
    /// True if a file is missing.
    pub fn is_missing(self) -> bool {
        matches!(self, Self::MissingFile | Self::MissingData | Self::NoCollection)
    }
}

/// Characters of a wrong value in messages.
const SHOWN: usize = 200;

/// The severity of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum Severity {
    /// It could change a figure, so that every command stops.
    #[default]
    Error,
    /// It changes no figure: the official scorer ignores it, and so do all commands but `data check`.
    Warning,
}

/// A problem with its location.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{}: expected {expected}, found {found}", self.title())]
pub struct Problem {
    /// File and line.
    pub at: Location,
    /// The kind, for code that branches on it.
    pub kind: ProblemKind,
    /// An error could change a figure, a warning could not.
    pub severity: Severity,
    /// The expected content, as it follows `expected` in the message.
    pub expected: String,
    /// The content found, with its value.
    pub found: String,
    /// A hint on how to fix it.
    pub hint: Hint,
}

impl Problem {
    /// An error without a hint yet.
    pub fn at(
        at: impl Into<Location>,
        expected: impl Into<String>,
        found: impl Into<String>,
    ) -> Self {
        Self {
            at: at.into(),
            kind: ProblemKind::Other,
            severity: Severity::Error,
            expected: expected.into(),
            found: found.into(),
            hint: Hint::default(),
        }
    }

    /// The problem of a message of serde, which may contain the expected content: `unknown field ...,
    /// expected one of ...`. Otherwise `expected` is used.
    pub fn of_serde(at: impl Into<Location>, message: &str, expected: &str) -> Self {
        if let Some(key) = message.strip_prefix("missing field ") {
            return Self::at(at, format!("a key {key}"), "a table without it");
        }
        let (mut found, expected) = match message.rsplit_once(", expected ") {
            Some(parts) => parts,
            // The program's own types.
            None => message.split_once(", found ").map_or((message, expected), |(it, is)| (is, it)),
        };
        for kind in ["invalid type: ", "invalid value: "] {
            found = found.strip_prefix(kind).unwrap_or(found);
        }
        // Translate Rust type names for users.
        let expected = match expected {
            "f32" | "f64" => "a number",
            "i32" | "i64" => "a whole number",
            "a string" => "a text",
            "a sequence" => "a list",
            "a map" => "an object",
            "a boolean" => "true or false",
            "u8" | "u16" | "u32" | "u64" | "usize" => "a whole number of at least 0",
            "a nonzero u32" | "a nonzero u64" | "a nonzero usize" => "a whole number of at least 1",
            other if other.starts_with("struct ") => "a table of keys and values",
            other => other,
        };
        let found = match found {
            "map" => "a table",
            "sequence" => "a list",
            other => other,
        };
        Self::at(at, expected, shorten(found, SHOWN))
    }

    /// The same of a kind.
    #[must_use]
    pub fn kind(mut self, kind: ProblemKind) -> Self {
        self.kind = kind;
        self
    }

    /// The location, and the kind if it has a name.
    pub fn title(&self) -> String {
        match self.kind.to_string() {
            kind if kind.is_empty() => self.at.to_string(),
            kind => format!("{}: {kind}", self.at),
        }
    }

    /// The same problem as a warning.
    #[must_use]
    pub fn warning(mut self) -> Self {
        self.severity = Severity::Warning;
        self
    }

    /// The same problem with a hint.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<Hint>) -> Self {
        self.hint = hint.into();
        self
    }
}

/// The error of every crate.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A problem of a file, an argument or a value.
    #[error(transparent)]
    Problem(#[from] Box<Problem>),
    /// The operating system refused.
    #[error("{}: cannot {action}: {source}", path.display())]
    Io {
        /// The operation that was attempted.
        action: IoAction,
        /// The file or folder.
        path: PathBuf,
        /// The operating system's answer.
        source: io::Error,
    },
}

/// An operation that the operating system may refuse.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IoAction {
    /// To read a file or to list a folder.
    Read,
    /// To make or replace a file or folder.
    Write,
    /// To read and write a folder.
    Use,
    /// To start a program.
    Start,
}

impl fmt::Display for IoAction {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Read => "read",
            Self::Write => "write",
            Self::Use => "use",
            Self::Start => "start",
        })
    }
}

/// The result of functions in all crates.
pub type Result<T, E = Error> = std::result::Result<T, E>;

impl From<Problem> for Error {
    fn from(problem: Problem) -> Self {
        Self::Problem(Box::new(problem))
    }
}

impl Error {
    /// Makes an error of the operating system, with the attempted action and the file.
    pub fn io(action: IoAction, path: impl Into<PathBuf>) -> impl Fn(io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { action, path: path.clone(), source }
    }

    /// The kind of the problem; `None` for refusals by the operating system.
    pub fn kind(&self) -> Option<ProblemKind> {
        match self {
            Self::Problem(problem) => Some(problem.kind),
            Self::Io { .. } => None,
        }
    }

    /// The problem that the command prints.
    pub fn to_problem(&self) -> Problem {
        match self {
            Self::Problem(problem) => problem.as_ref().clone(),
            Self::Io { action, path, source } => {
                let at = format!("{}: cannot {action}", path.display());
                Problem::at(at, expected_of(*action), source.to_string())
                    .hint(io_hint(source, *action))
            }
        }
    }
}

/// A text of a problem: a literal, which may capture variables; a variable; or in parentheses.
#[doc(hidden)]
#[macro_export]
macro_rules! problem_text {
    ($text:literal) => {
        ::std::format!($text)
    };
    ($text:expr) => {
        ::std::string::String::from($text)
    };
}

/// A hint of a problem: as [`problem_text`], or a [`Hint`].
#[doc(hidden)]
#[macro_export]
macro_rules! hint_text {
    ($text:literal) => {
        ::std::format!($text)
    };
    ($text:expr) => {
        $crate::Hint::from($text)
    };
}

/// A [`Problem`]: location, expected content, found content, and an optional hint. Each text is a
/// literal that may capture variables, a variable, or an expression in parentheses.
///
/// ```
/// use clariq_core::problem;
///
/// let most = 4;
/// let found = "`9`";
/// let problem = problem!(("dev.tsv", 3), "1 to {most}", found, "see data/README.md");
/// assert_eq!(problem.to_string(), "dev.tsv:3: expected 1 to 4, found `9`");
/// ```
#[macro_export]
macro_rules! problem {
    ($at:expr, $expected:tt, $found:tt $(,)?) => {
        $crate::Problem::at($at, $crate::problem_text!($expected), $crate::problem_text!($found))
    };
    ($at:expr, $expected:tt, $found:tt, $hint:tt $(,)?) => {
        $crate::problem!($at, $expected, $found).hint($crate::hint_text!($hint))
    };
}

/// Returns the [`problem!`](crate::problem) of the same arguments as an error.
#[macro_export]
macro_rules! bail {
    ($($part:tt)*) => {
        return ::std::result::Result::Err($crate::problem!($($part)*).into())
    };
}

fn expected_of(action: IoAction) -> &'static str {
    match action {
        IoAction::Read => "a file that can be read",
        IoAction::Write => "a place where a file can be written",
        IoAction::Use => "a folder that can be read and written",
        IoAction::Start => "no refusal by the system",
    }
}

fn io_hint(source: &io::Error, action: IoAction) -> &'static str {
    match (source.kind(), action) {
        (io::ErrorKind::NotFound, IoAction::Write) => {
            "no file can be created there: write somewhere else"
        }
        (io::ErrorKind::NotFound, _) => "check the path",
        (io::ErrorKind::PermissionDenied, _) => "check the permissions, or choose another folder",
        (io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded, _) => {
            "free some space or write to another disk; nothing was replaced"
        }
        (io::ErrorKind::ReadOnlyFilesystem, _) => "choose a folder that can be written to",
        (io::ErrorKind::FileTooLarge, _) => {
            "raise the limit on file sizes (`ulimit -f`); nothing was replaced"
        }
        (io::ErrorKind::IsADirectory, IoAction::Write) => {
            "name a file, for example one inside that folder"
        }
        // Creating a folder in a file's place says "exists", everything else "not a directory".
        (io::ErrorKind::AlreadyExists | io::ErrorKind::NotADirectory, _) => {
            "name a file in a folder: the path ends with `/`, or a part of it is a file"
        }
        _ => "if the system's message does not help, try another folder",
    }
}
