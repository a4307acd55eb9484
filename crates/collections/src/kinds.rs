//! The entries of a registry of collections: how each is recognised, opened and checked.

use crate::data_dir::{may_hold_data, paths_of};
use crate::documents::{DocumentFileKind, DocumentForm, NAMES_HINT, entries};
use crate::{
    CheckReport, Collection, DataDir, Release, Split, Task, Validation, ValidationOptions,
};
use clariq_core::{Error, Hint, Problem, ProblemKind, TextKeeper, problem};
use clariq_files::{FileContent, MOST_OF_A_RUN, Run, Source, nearest_folder, parse_run, strictly};
use std::collections::HashSet;
use std::path::{Path, PathBuf};

/// Opens a collection. Documents that the keeper takes are kept by it, all others in memory.
pub type Open = fn(&DataDir, Option<&dyn TextKeeper>) -> Result<Box<dyn Collection>, Error>;

/// Checks a run over the split of that name.
pub type Validate = fn(&DataDir, &str, &Source, &ValidationOptions) -> Result<Validation, Error>;

/// A collection that can be opened.
pub struct Kind {
    pub name: &'static str,
    /// The files by which it is recognised in messages; those of two kinds are not in one folder.
    pub signs: &'static [&'static str],
    /// Its tasks, the usual one first.
    pub tasks: &'static [Task],
    /// The data folder if the user names none.
    pub usual: &'static str,
    /// All its splits.
    pub splits: &'static [Split],
    /// The default split for scores.
    pub usual_split: Split,
    /// The endings of submissions, if they are not TREC runs.
    pub endings: &'static [&'static str],
    /// Its sample, which is part of the program.
    pub sample: Option<DataDir>,
    /// True if a folder contains this collection.
    pub is_in: fn(&DataDir) -> bool,
    /// The files of the collection that are in a folder.
    pub files: fn(&DataDir) -> Vec<Source>,
    /// Opens it.
    pub open: Open,
    /// Reads all of its files and reports all problems, even if it cannot be opened.
    pub check: fn(&DataDir) -> Result<CheckReport, Error>,
    /// Checks a run over a split: the official verdict, and problems that the official program
    /// overlooks.
    pub validate: Validate,
    /// The rankings of a submission in a form of its own; `None` for any other file.
    pub rankings: fn(&FileContent) -> Option<Result<Run, Error>>,
    /// The names of the scores of its own that configurations may expect.
    pub scores: fn() -> Vec<String>,
    /// The source of its released files, with the digests that are known.
    pub released: Option<Release>,
}

impl Kind {
    /// True if all collections of the kind may have a split of that name.
    pub fn has_split(&self, name: &str) -> bool {
        self.splits.iter().any(|split| split.name() == name)
    }

    /// The split of that name, which a user gave.
    pub fn find_split(&self, name: &str) -> Result<Split, Problem> {
        self.splits.iter().copied().find(|split| split.name() == name).ok_or_else(|| {
            let expected = format!("one of {}", self.split_names().join(", "));
            let kind = self.name;
            problem!("--split", expected, "`{name}`", "these are the splits of {kind}")
        })
    }

    /// The first of its signs that a folder has, plain or packed.
    fn sign_in(&self, data: &DataDir) -> Option<PathBuf> {
        let DataDir::Folder(folder) = data else { return None };
        self.signs.iter().find_map(|sign| paths_of(folder, &[""], sign).into_iter().next())
    }

    /// The names of its splits.
    pub fn split_names(&self) -> Vec<&'static str> {
        self.splits.iter().map(|split| split.name()).collect()
    }
}

/// The collections of a program, in the order in which a folder is compared with them.
pub struct Tracks(&'static [&'static Kind]);

impl Tracks {
    pub const fn new(kinds: &'static [&'static Kind]) -> Self {
        Self(kinds)
    }

    /// Its collections; the first one is the usual one.
    pub const fn kinds(&self) -> &'static [&'static Kind] {
        self.0
    }

    /// The data of the usual collection: its usual folder if it is there, else its sample.
    pub fn usual_data(&self) -> DataDir {
        let Some(usual) = self.0.first() else { return DataDir::Folder(PathBuf::new()) };
        let folder = PathBuf::from(usual.usual);
        let is_there = usual.signs.first().is_some_and(|sign| folder.join(sign).exists());
        let sample = usual.sample.clone().filter(|_| !is_there);
        sample.unwrap_or(DataDir::Folder(folder))
    }

    /// Reads a TREC run, or the rankings of a submission in the form of one of the collections.
    pub fn read_run(&self, source: &Source) -> Result<Run, Error> {
        let input = source.read_at_most(MOST_OF_A_RUN)?;
        let own = self.0.iter().find_map(|kind| (kind.rankings)(&input));
        own.unwrap_or_else(|| strictly(|sink| parse_run(&input, sink)))
    }

    /// The kind of a submission, by the name of its file; `None` for TREC runs.
    pub fn kind_of_file(&self, file: &Path) -> Option<&'static Kind> {
        let name = file.to_string_lossy();
        let name = name.strip_suffix(".gz").unwrap_or(&name);
        let mut kinds = self.0.iter().copied();
        kinds.find(|kind| kind.endings.iter().any(|ending| name.ends_with(ending)))
    }

    /// The kind of the collection in a folder; `None` if it has none, or those of two.
    pub fn recognised(&self, data: &DataDir) -> Option<&'static Kind> {
        let mut signs = self.0.iter().filter(|kind| kind.sign_in(data).is_some());
        let is_one = signs.next().is_none() || signs.next().is_none();
        self.0.iter().copied().find(|kind| is_one && (kind.is_in)(data))
    }

    /// The kind of the collection in a data folder.
    pub fn kind_of(&self, data: &DataDir) -> Result<&'static Kind, Error> {
        let mut signs = self.0.iter().filter_map(|kind| kind.sign_in(data));
        if let (Some(one), Some(other)) = (signs.next(), signs.next()) {
            let found = format!("`{}` and `{}`", one.display(), other.display());
            let hint = "give each collection a data folder of its own";
            return Err(
                problem!(data.to_string(), "the files of one collection", found, hint).into()
            );
        }
        let found = self.0.iter().find(|kind| (kind.is_in)(data));
        found.copied().ok_or_else(|| self.unrecognised(data).into())
    }

    /// Counts the files of a data folder with this kind of collection among the inputs, which no output
    /// replaces, and refuses outputs beside them that would be taken for data.
    pub fn protect(data: &DataDir, kind: Option<&Kind>) {
        let mut folders = HashSet::new();
        if let DataDir::Folder(folder) = data {
            folders.insert(folder.clone());
        }
        for file in kind.map(|kind| (kind.files)(data)).unwrap_or_default() {
            if let Source::Path(path) = file {
                clariq_files::protect(&path);
                folders.extend(path.parent().map(Path::to_owned));
            }
        }
        for folder in folders {
            clariq_files::protect_folder(&folder, may_hold_data);
        }
    }

    /// Opens the collection in a data folder, with its documents in memory.
    pub fn open(&self, data: &DataDir) -> Result<Box<dyn Collection>, Error> {
        (self.kind_of(data)?.open)(data, None)
    }

    /// Opens the collection in a data folder. `keeper` keeps documents that are too many for memory.
    pub fn open_keeping(
        &self,
        data: &DataDir,
        keeper: &dyn TextKeeper,
    ) -> Result<Box<dyn Collection>, Error> {
        (self.kind_of(data)?.open)(data, Some(keeper))
    }

    /// Checks every file of the collection in a data folder.
    pub fn check(&self, data: &DataDir) -> Result<CheckReport, Error> {
        (self.kind_of(data)?.check)(data)
    }

    /// The collection that may be meant by a folder without one: the folder around it, or one beside
    /// it with a similar name.
    fn meant(&self, data: &DataDir) -> Option<PathBuf> {
        let DataDir::Folder(folder) = data else { return None };
        let around = folder.parent().filter(|parent| !parent.as_os_str().is_empty());
        let beside = || if folder.exists() { None } else { nearest_folder(folder) };
        let has_files = |folder: &PathBuf| self.kind_of_folder(folder).is_some();
        around.map(Path::to_owned).filter(has_files).or_else(beside).filter(has_files)
    }

    fn kind_of_folder(&self, folder: &Path) -> Option<&'static Kind> {
        let data = DataDir::Folder(folder.to_owned());
        self.0.iter().copied().find(|kind| (kind.is_in)(&data))
    }

    fn unrecognised(&self, data: &DataDir) -> Problem {
        let signs: Vec<String> = self
            .0
            .iter()
            .map(|kind| format!("`{}` ({})", kind.signs.join("`, `"), kind.name))
            .collect();
        let signs = signs.join(", ");
        let (found, hint): (String, Hint) = match data {
            _ if data.to_string().contains("://") => {
                let hint = "a collection is a folder here: fetch its files into one, and name that";
                ("an address".to_owned(), hint.into())
            }
            DataDir::Folder(folder) if !folder.exists() => {
                ("nothing at that path".to_owned(), "check the path".into())
            }
            DataDir::Folder(folder) if !folder.is_dir() => {
                let hint = "name a folder: an archive is unpacked into one, and a file of documents lies in \
                            one";
                ("a file".to_owned(), hint.into())
            }
            DataDir::Folder(folder) => match (first_files(folder), why_no_documents(data)) {
                (files, _) if files.is_empty() => ("an empty folder".to_owned(), FORMS.into()),
                (files, None) => (format!("none of them, but {}", files.join(", ")), FORMS.into()),
                (files, Some(why)) => {
                    let found = format!("none of them, but {} ({why})", files.join(", "));
                    (found, if why.hint.is_empty() { NAMES_HINT.into() } else { why.hint })
                }
            },
            DataDir::Sample(_) => ("none of them".to_owned(), FORMS.into()),
        };
        let problem =
            problem!(data.to_string(), "a folder with the files of a collection: {signs}", found);
        match self.meant(data) {
            Some(meant) => problem
                .hint(format!("did you mean `--data {}`?", meant.display()))
                .kind(ProblemKind::MissingFile),
            None => problem.hint(hint).kind(ProblemKind::NoCollection),
        }
    }
}

/// The forms of documents, for a folder that has others.
const FORMS: &str = "documents are files of JSON, CSV or tables with the names of their columns, or texts (`.md`, \
                     `.txt`) in a folder `documents`; other programs can save theirs so (reference, Formats)";

/// Why the first file of records in a folder, or the one that names their keys, tells no documents.
fn why_no_documents(data: &DataDir) -> Option<Problem> {
    let DataDir::Folder(folder) = data else { return None };
    let form = match DocumentForm::of(data) {
        Ok(form) => form,
        Err(error) => return Some(error.to_problem()),
    };
    let is_of_records = |path: &&PathBuf| {
        matches!(DocumentFileKind::of(path), DocumentFileKind::Documents | DocumentFileKind::Csv)
    };
    let entries = entries(folder).unwrap_or_default();
    let mut records = entries.iter().filter(is_of_records);
    records.find_map(|path| Some(form.check_beginning(path).err()?.to_problem()))
}

/// The first names in a folder, for a message.
fn first_files(folder: &Path) -> Vec<String> {
    const SHOWN: usize = 4;
    let all = entries(folder).unwrap_or_default();
    let names = all.iter().filter_map(|path| path.file_name());
    let mut shown: Vec<String> =
        names.take(SHOWN).map(|name| format!("`{}`", name.to_string_lossy())).collect();
    if all.len() > SHOWN {
        shown.push("…".to_owned());
    }
    shown
}
