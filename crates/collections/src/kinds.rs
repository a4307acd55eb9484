//! The registry of collections: how each is recognised, opened and checked.

use crate::{CheckReport, Collection, DataDir, cast, clariq, ikat};
use clariq_core::{Error, Location, Problem, ProblemKind, TextKeeper};

/// Opens the sample of a collection.
pub type OpenSample = fn() -> Result<Box<dyn Collection>, Error>;

/// Opens a collection. Documents that the keeper takes are kept by it, all others in memory.
pub type Open = fn(&DataDir, Option<&dyn TextKeeper>) -> Result<Box<dyn Collection>, Error>;

/// A collection that can be opened.
pub struct Kind {
    /// What people call it.
    pub name: &'static str,
    /// The file that it is recognised by, for messages.
    pub sign: &'static str,
    /// What is ranked in it, the usual task first.
    pub tasks: &'static [&'static str],
    /// The folder where its files are looked for if none is named.
    pub usual: &'static str,
    /// Opens the sample that is part of the program, where there is one.
    pub sample: Option<OpenSample>,
    /// Whether this is what lies in a folder.
    pub is_in: fn(&DataDir) -> bool,
    /// Opens it.
    pub open: Open,
    /// Reads every file of it and names everything that is wrong, even where it cannot be opened.
    pub check: fn(&DataDir) -> Result<CheckReport, Error>,
}

/// All collections, in the order in which a folder is compared with them.
pub const KINDS: &[Kind] = &[clariq::KIND, cast::KIND, ikat::KIND];

/// The collection that lies in a data folder.
pub fn kind_of(data: &DataDir) -> Result<&'static Kind, Error> {
    KINDS.iter().find(|kind| (kind.is_in)(data)).ok_or_else(|| unrecognised(data).into())
}

/// Opens the collection that lies in a data folder, with its documents in memory.
pub fn open(data: &DataDir) -> Result<Box<dyn Collection>, Error> {
    (kind_of(data)?.open)(data, None)
}

/// The same where documents that are too many for memory are kept by `keeper`.
pub fn open_keeping(data: &DataDir, keeper: &dyn TextKeeper) -> Result<Box<dyn Collection>, Error> {
    (kind_of(data)?.open)(data, Some(keeper))
}

/// Checks every file of the collection that lies in a data folder.
pub fn check(data: &DataDir) -> Result<CheckReport, Error> {
    (kind_of(data)?.check)(data)
}

fn unrecognised(data: &DataDir) -> Problem {
    let signs: Vec<String> =
        KINDS.iter().map(|kind| format!("`{}` ({})", kind.sign, kind.name)).collect();
    let found = match data {
        DataDir::Folder(folder) if !folder.exists() => "nothing at that path",
        DataDir::Folder(folder) if !folder.is_dir() => "a file",
        _ => "none of them",
    };
    let at = Location::file(data.to_string());
    let expected = format!("a folder with the files of a collection: {}", signs.join(", "));
    Problem::new(at, ProblemKind::MissingFile, expected, found)
        .hint("check the path; `clariq data fetch` downloads the files of ClariQ")
}
