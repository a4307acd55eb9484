//! The location of a collection's files: a folder, or a sample inside the program.

use crate::documents::{PACKED, has_ending, is_description, is_unpacked, lower_name, two_files};
use clariq_core::{Error, ProblemKind, problem};
use clariq_files::Source;
use std::fmt;
use std::path::{Path, PathBuf};

/// A file that is part of the program.
#[derive(Debug, PartialEq, Eq)]
pub struct EmbeddedFile {
    /// The name in its folder.
    pub name: &'static str,
    /// The name in messages.
    pub shown: &'static str,
    pub bytes: &'static [u8],
}

/// The paths of the file `name`, plain or packed, in some subfolders of a folder. A dangling link
/// counts as a file.
pub(crate) fn paths_of(folder: &Path, below: &[&str], name: &str) -> Vec<PathBuf> {
    let mut paths = Vec::new();
    for below in below {
        for packed in PACKED {
            let path = folder.join(below).join(format!("{name}{packed}"));
            if path.symlink_metadata().is_ok() {
                paths.push(path);
            }
        }
    }
    paths
}

/// False for files that are known to hold something else: descriptions, and what `clariq` writes.
pub(crate) fn may_hold_data(path: &Path) -> bool {
    const OF_SYSTEMS: [&str; 2] = ["thumbs.db", "desktop.ini"];
    const ENDINGS: [&str; 15] = [
        ".run.json",
        ".run",
        ".need",
        ".toml",
        ".html",
        ".rst",
        ".log",
        ".py",
        ".sh",
        ".ipynb",
        ".pdf",
        ".png",
        ".bib",
        ".yaml",
        ".yml",
    ];
    let name = lower_name(path);
    !is_description(path) && !OF_SYSTEMS.contains(&&*name) && !has_ending(path, &ENDINGS)
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
    /// The name of the folder, without those above it; `None` for a sample and for a root.
    pub fn name(&self) -> Option<String> {
        let Self::Folder(folder) = self else { return None };
        let whole = folder.canonicalize().unwrap_or_else(|_| folder.clone());
        Some(whole.file_name()?.to_string_lossy().into_owned())
    }

    /// The file `name`, plain or packed (`.gz`, `.zst`, `.zip`), or `None` if the folder has none. A dangling
    /// link counts as a file, so that reading it is an error.
    pub fn file(&self, name: &str) -> Option<Source> {
        self.file_below(&[""], name)
    }

    /// The file `name`, plain or packed, in the first of some subfolders that has it.
    pub fn file_below(&self, folders: &[&str], name: &str) -> Option<Source> {
        match self {
            Self::Folder(folder) => {
                paths_of(folder, folders, name).into_iter().next().map(Source::Path)
            }
            Self::Sample(files) => {
                let file = files.iter().find(|file| file.name == name)?;
                Some(Source::memory(file.shown, file.bytes))
            }
        }
    }

    /// Refuses a folder in which a file is there twice, plain and packed or in two of the subfolders:
    /// it is not clear which is meant.
    pub fn check_single<'n>(
        &self,
        folders: &[&str],
        names: impl IntoIterator<Item = &'n str>,
    ) -> Result<(), Error> {
        names.into_iter().try_for_each(|name| self.check_one_of(folders, &[name]))
    }

    /// Refuses a folder in which a file that may have several names is there twice.
    pub fn check_one_of(&self, folders: &[&str], names: &[&str]) -> Result<(), Error> {
        let Self::Folder(folder) = self else { return Ok(()) };
        let paths: Vec<PathBuf> =
            names.iter().flat_map(|name| paths_of(folder, folders, name)).collect();
        match &paths[..] {
            // `unzip` leaves the archive beside the file.
            [file, archive] if is_unpacked(file, archive)? => Ok(()),
            [one, other, ..] => {
                let name = names.first().copied().unwrap_or_default();
                Err(two_files(folder, &format!("`{name}`"), one, other))
            }
            _ => Ok(()),
        }
    }

    /// The file `name`; an error if it is missing.
    pub fn require(&self, name: &str) -> Result<Source, Error> {
        self.file(name).ok_or_else(|| {
            let problem = problem!(self.path_of(name), "`{name}` in the data folder", "nothing");
            problem.kind(ProblemKind::MissingData).into()
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
