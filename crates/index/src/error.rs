//! What can go wrong with an index.

use clariq_core::Report;
use std::path::PathBuf;

/// Why a folder cannot be used as an index.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum FolderTrouble {
    /// Something else is in the folder; it is never deleted for the user.
    Foreign {
        /// What was found instead.
        found: String,
    },
    /// It was an index once, and a file of it is missing or changed.
    Damaged {
        /// Which file or figure is wrong.
        found: String,
    },
}

/// An index that cannot be built, opened or read.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// The folder is not an index that this program wrote.
    #[error("{}: {trouble:?}", folder.display())]
    Folder {
        /// The folder.
        folder: PathBuf,
        /// What is the matter with it.
        trouble: FolderTrouble,
    },
    /// The operating system refused.
    #[error("{}: {source}", folder.display())]
    Io {
        /// The folder.
        folder: PathBuf,
        /// The operating system's answer.
        source: std::io::Error,
    },
    /// tantivy refused.
    #[error("{}: {source}", folder.display())]
    Tantivy {
        /// The folder.
        folder: PathBuf,
        /// tantivy's answer.
        source: Box<tantivy::TantivyError>,
    },
    /// There is nothing to index.
    #[error("the collection has no documents")]
    NoDocuments,
    /// A document cannot be read.
    #[error(transparent)]
    Documents(#[from] clariq_core::Error),
    /// A parameter of a scorer that makes no sense.
    #[error("{parameter} must be {expected}, found {found}")]
    Parameter {
        /// The parameter's name.
        parameter: &'static str,
        /// What it may be.
        expected: &'static str,
        /// What it was.
        found: f64,
    },
}

impl Error {
    pub(crate) fn damaged(folder: &std::path::Path, found: impl Into<String>) -> Self {
        Self::Folder {
            folder: folder.to_owned(),
            trouble: FolderTrouble::Damaged { found: found.into() },
        }
    }

    pub(crate) fn io(folder: &std::path::Path) -> impl Fn(std::io::Error) -> Self {
        let folder = folder.to_owned();
        move |source| Self::Io { folder: folder.clone(), source }
    }

    pub(crate) fn tantivy(folder: &std::path::Path) -> impl Fn(tantivy::TantivyError) -> Self {
        let folder = folder.to_owned();
        move |source| Self::Tantivy { folder: folder.clone(), source: Box::new(source) }
    }
}

impl From<&Error> for Report {
    fn from(error: &Error) -> Self {
        match error {
            Error::Folder { folder, trouble: FolderTrouble::Foreign { found } } => Self {
                title: format!("{}: not an index of clariq", folder.display()),
                expected: "a new folder, or one that `clariq index build` wrote".to_owned(),
                found: found.clone(),
                hint: "name another folder with --index; this one is left as it is".to_owned(),
            },
            Error::Folder { folder, trouble: FolderTrouble::Damaged { found } } => Self {
                title: format!("{}: damaged index", folder.display()),
                expected: "the files as `clariq index build` wrote them".to_owned(),
                found: found.clone(),
                hint: format!(
                    "`clariq index build --force --index {}` makes it anew",
                    folder.display()
                ),
            },
            Error::Io { folder, source } => Self {
                title: format!("{}: cannot use the index folder", folder.display()),
                expected: "a folder that can be read and written".to_owned(),
                found: source.to_string(),
                hint:
                    "check the permissions and the space left, or name another folder with --index"
                        .to_owned(),
            },
            Error::Tantivy { folder, source } => Self {
                title: format!("{}: the index cannot be used", folder.display()),
                expected: "a folder with space, and files that nobody else changes meanwhile"
                    .to_owned(),
                found: source.to_string(),
                hint: format!(
                    "`clariq index build --force --index {}` makes it anew",
                    folder.display()
                ),
            },
            Error::Documents(error) => Self::from(error),
            Error::NoDocuments => Self {
                title: error.to_string(),
                expected: "at least one, such as the empty question of ClariQ".to_owned(),
                found: "none".to_owned(),
                hint: "`clariq data check` says what is in the data folder".to_owned(),
            },
            Error::Parameter { parameter, expected, found } => Self {
                title: format!("{parameter}: bad value"),
                expected: (*expected).to_owned(),
                found: found.to_string(),
                hint: "see `clariq run --help` for the usual values".to_owned(),
            },
        }
    }
}
