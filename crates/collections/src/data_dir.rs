//! The location of a collection's files: a folder, or a sample inside the program.

use clariq_core::{Error, ProblemKind, problem};
use clariq_files::Source;
use std::fmt;
use std::path::PathBuf;

/// A file that is part of the program.
#[derive(Debug, PartialEq, Eq)]
pub struct EmbeddedFile {
    /// The name in its folder.
    pub name: &'static str,
    /// The name in messages.
    pub shown: &'static str,
    pub bytes: &'static [u8],
}

/// A folder with the files of a collection.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum DataDir {
    /// A folder on disk.
    Folder(PathBuf),
    /// The files of a small collection that is part of the program.
    Sample(&'static [EmbeddedFile]),
}

impl DataDir {
    /// The file `name`, plain or packed (`.gz`, `.zst`), or `None` if the folder has none. A dangling
    /// link counts as a file, so that reading it is an error.
    pub fn file(&self, name: &str) -> Option<Source> {
        self.file_below(&[""], name)
    }

    /// The file `name`, plain or packed, in the first of some subfolders that has it.
    pub fn file_below(&self, folders: &[&str], name: &str) -> Option<Source> {
        match self {
            Self::Folder(folder) => {
                let names = ["", ".gz", ".zst"].map(|packed| format!("{name}{packed}"));
                let paths = folders.iter().flat_map(|below| {
                    let folder = folder.join(below);
                    names.each_ref().map(|name| folder.join(name))
                });
                paths.into_iter().find(|path| path.symlink_metadata().is_ok()).map(Source::Path)
            }
            Self::Sample(files) => {
                let file = files.iter().find(|file| file.name == name)?;
                Some(Source::memory(file.shown, file.bytes))
            }
        }
    }

    /// The file `name`; an error if it is missing.
    pub fn require(&self, name: &str) -> Result<Source, Error> {
        self.file(name).ok_or_else(|| {
            let hint = "`clariq data fetch` downloads the released files; `clariq data check` lists \
                        the files that are present";
            let problem =
                problem!(self.path_of(name), "`{name}` in the data folder", "nothing", hint);
            problem.kind(ProblemKind::MissingFile).into()
        })
    }

    /// The path of a file of that name, for messages.
    pub fn path_of(&self, name: &str) -> String {
        match self {
            Self::Folder(folder) => folder.join(name).display().to_string(),
            Self::Sample(_) => format!("<sample>/{name}"),
        }
    }
}

impl fmt::Display for DataDir {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Folder(folder) => folder.display().fmt(f),
            Self::Sample(_) => f.write_str("<sample>"),
        }
    }
}
