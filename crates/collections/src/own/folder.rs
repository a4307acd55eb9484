//! The files of a folder, which are found by their names and their first lines.

use crate::data_dir::{may_hold_data, paths_of};
use crate::documents::{
    DocumentFileKind, DocumentFolder, DocumentForm, Listings, each_once, has_ending,
    is_description, lower_name, packing_not_read, two_files, without_packing,
};
use crate::{DataDir, PerSplit, Split};
use clariq_core::{Error, ProblemKind, SplitRole, bail, problem};
use clariq_files::Source;
use parking_lot::Mutex;
use std::collections::{BTreeSet, HashSet};
use std::path::{Path, PathBuf};

/// Files of all documents, as `clariq data export`, BEIR, MS MARCO and spreadsheets name them.
const DOCUMENTS: [&str; 7] = [
    "documents.jsonl",
    "corpus.jsonl",
    "collection.tsv",
    "documents.tsv",
    "documents.csv",
    "corpus.csv",
    "collection.csv",
];

/// Folders of such files.
const FOLDERS: [&str; 4] = ["documents", "corpus", "collection", "passages"];

/// The beginnings of names of files that contain no documents.
const OTHERS: [&str; 5] = ["requests", "queries", "topics", "qrels", "annotations"];

/// The names of files of requests, before that of a split, and their endings.
const REQUESTS: [&str; 3] = ["requests", "queries", "topics"];
const OF_REQUESTS: [&str; 4] = [".jsonl", ".ndjson", ".tsv", ".csv"];

/// The endings of files of judgements.
const OF_JUDGEMENTS: [&str; 4] = [".tsv", ".txt", ".csv", ".jsonl"];

/// A folder of a user.
pub(crate) struct Folder<'a> {
    path: &'a Path,
    listings: Listings,
}

/// The files of the documents of a folder.
pub(crate) struct DocumentFiles {
    /// In the order of their names.
    pub(crate) files: Vec<Source>,
    /// The folder whose files are a document each.
    pub(crate) texts_in: Option<PathBuf>,
}

impl DocumentFiles {
    fn new(files: Vec<PathBuf>, texts_in: Option<PathBuf>) -> Self {
        Self { files: files.into_iter().map(Source::Path).collect(), texts_in }
    }
}

/// The files of a split.
pub(super) struct SplitFiles {
    pub(super) requests: Source,
    pub(super) qrels: Option<Source>,
    /// True if the file has the requests of all splits; those with judgements belong to this one.
    pub(super) is_shared: bool,
}

impl<'a> Folder<'a> {
    pub(crate) fn of(data: &'a DataDir) -> Option<Self> {
        match data {
            DataDir::Folder(path) => Some(Self { path, listings: Listings::default() }),
            DataDir::Sample(_) => None,
        }
    }

    /// The files of that name, plain and packed. A dangling link counts as a file.
    fn files(&self, name: &str) -> Vec<PathBuf> {
        paths_of(self.path, &[""], name)
    }

    /// The file that has one of these names. Two of them are an error, because it is not clear
    /// which is meant.
    fn only(&self, what: &str, names: &[String]) -> Result<Option<Source>, Error> {
        let mut found: Vec<PathBuf> = names.iter().flat_map(|name| self.files(name)).collect();
        found.retain(|path| !path.is_dir());
        if let [one, other, ..] = &found[..] {
            return Err(two_files(self.path, what, one, other));
        }
        Ok(found.pop().map(Source::Path))
    }

    pub(super) fn has_documents(&self) -> bool {
        !self.named_documents().is_empty()
            || self.begins_with_document(&self.loose_files()).is_some()
            || self.texts_alone().is_some()
    }

    /// The first of the files that begins with a document.
    fn begins_with_document(&self, files: &[PathBuf]) -> Option<PathBuf> {
        let form = self.form();
        files.iter().find(|path| form.check_beginning(path).is_ok()).cloned()
    }

    /// The form of the documents. A fault of the file that names keys is told when they are read.
    fn form(&self) -> DocumentForm {
        DocumentForm::of(&DataDir::Folder(self.path.to_owned())).unwrap_or_default()
    }

    /// The files of all documents, and the folders of such files.
    fn named_documents(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = DOCUMENTS.iter().flat_map(|name| self.files(name)).collect();
        for name in FOLDERS {
            let folder = self.path.join(name);
            if !folder.is_dir() {
                continue;
            }
            let is_empty = DocumentFolder::of(&self.listings, &folder)
                .is_ok_and(|listed| listed.documents.is_empty() && listed.texts.is_empty());
            if !is_empty {
                paths.push(folder);
            }
        }
        paths
    }

    /// The files of records in the folder itself that may contain documents, by their names. Of tables, those
    /// with a header of documents: without one, any two columns look like them.
    fn loose_files(&self) -> Vec<PathBuf> {
        let mut files = Vec::new();
        let form = self.form();
        for (path, is_folder) in self.entries(self.path) {
            let name = lower_name(&path);
            let is_other = OTHERS.iter().any(|other| name.starts_with(other));
            let kind = DocumentFileKind::of(&path);
            let is_of_records = matches!(kind, DocumentFileKind::Documents | DocumentFileKind::Csv);
            if is_folder || is_other || !is_of_records {
                continue;
            }
            let is_table = has_ending(&path, &[".tsv"]);
            if !is_table || form.check_beginning(&path).is_ok() {
                files.push(path);
            }
        }
        files
    }

    /// The texts of a folder that has several, also in folders below it, and apart from requests, judgements and
    /// descriptions nothing else: a folder of notes, and none of a program.
    fn texts_alone(&self) -> Option<Vec<PathBuf>> {
        let mut texts = Vec::new();
        let is_alone = self.add_texts(self.path, &mut texts);
        (is_alone && texts.len() > 1).then_some(texts)
    }

    /// Adds the texts of a folder in the order of their paths. False if there is anything else.
    fn add_texts(&self, folder: &Path, texts: &mut Vec<PathBuf>) -> bool {
        let Ok(entries) = self.listings.entries(folder) else { return false };
        for (path, is_folder) in entries.iter() {
            let name = lower_name(path);
            let is_other = OTHERS.iter().any(|other| name.starts_with(other));
            if is_description(path) || is_other && folder == self.path {
                continue;
            }
            // A folder of documents below is that of a collection; a link may lead anywhere.
            if *is_folder && !path.is_symlink() && !FOLDERS.contains(&&*name) {
                if !self.add_texts(path, texts) {
                    return false;
                }
            } else if !is_folder && DocumentFileKind::of(path) == DocumentFileKind::Text {
                texts.push(path.clone());
            } else {
                return false;
            }
        }
        true
    }

    /// The entries of a folder; none if it cannot be listed.
    fn entries(&self, folder: &Path) -> Vec<(PathBuf, bool)> {
        self.listings.entries(folder).map(|entries| entries.to_vec()).unwrap_or_default()
    }

    /// The files of the documents. If one of the files in the folder itself begins with a document, all of
    /// them are read, so that none is left out because of a mistake in its first line.
    pub(crate) fn documents(&self) -> Result<DocumentFiles, Error> {
        self.check_packings()?;
        let named = self.named_documents();
        let mut loose = self.loose_files();
        loose.retain(|path| !named.contains(path));
        let first_loose = self.begins_with_document(&loose);
        let (files, texts_in) = match (&named[..], first_loose) {
            ([], Some(_)) => (each_once(self.path, loose)?, None),
            ([one], None) if one.is_dir() => {
                let listed = DocumentFolder::of(&self.listings, one)?;
                match (listed.documents.first(), listed.texts.first()) {
                    (Some(record), Some(text)) => {
                        let found = format!("`{}` and `{}`", record.display(), text.display());
                        let hint = "documents are either files of records or texts that are a document \
                                    each: leave one kind in the folder";
                        bail!(one, "files of one kind", found, hint)
                    }
                    // A folder in the place of a file of records, as some programs write, has no texts.
                    (None, _) if DocumentFileKind::of(one) == DocumentFileKind::Other => {
                        (listed.texts, Some(one.clone()))
                    }
                    _ => (listed.documents, None),
                }
            }
            ([one], None) => (vec![one.clone()], None),
            ([one, other, ..], _) => return Err(two_files(self.path, "documents", one, other)),
            ([one], Some(other)) => return Err(two_files(self.path, "documents", one, &other)),
            ([], None) => {
                if let Some(texts) = self.texts_alone() {
                    return Ok(DocumentFiles::new(texts, Some(self.path.to_owned())));
                }
                let hint = "the documentation lists the forms of documents of your own (reference, Formats)";
                let found = "none that begins with a document";
                let problem = problem!(self.path, "files of documents", found, hint);
                return Err(problem.kind(ProblemKind::MissingFile).into());
            }
        };
        Ok(DocumentFiles::new(files, texts_in))
    }

    /// Refuses files of documents, requests or judgements in a packing that is not read.
    fn check_packings(&self) -> Result<(), Error> {
        for path in self.data_files() {
            if DocumentFileKind::of(&path) == DocumentFileKind::NotRead {
                return Err(packing_not_read(&path));
            }
        }
        Ok(())
    }

    /// The files in the folder itself and in `qrels` below it.
    fn data_files(&self) -> Vec<PathBuf> {
        let mut files = self.entries(self.path);
        files.extend(self.entries(&self.path.join("qrels")));
        files.into_iter().filter(|(_, is_folder)| !is_folder).map(|(path, _)| path).collect()
    }

    /// The files that may hold data and are not read, in the folder and below it.
    pub(super) fn unread(&self) -> Result<Vec<PathBuf>, Error> {
        let mut read: HashSet<String> = self.documents()?.files.iter().map(Source::name).collect();
        for (_, SplitFiles { requests, qrels, .. }) in self.splits()?.iter() {
            read.insert(requests.name());
            read.extend(qrels.as_ref().map(Source::name));
        }
        let listed = DocumentFolder::of_any(&self.listings, self.path)?;
        let mut unread = [listed.documents, listed.texts, listed.unread].concat();
        unread.sort();
        unread.retain(|path| may_hold_data(path) && !read.contains(&Source::new(path).name()));
        Ok(unread)
    }

    /// The splits that have requests, by the files that name one: learned from first, held out last.
    /// Files of requests or judgements without a name are of the split `all`.
    pub(super) fn splits(&self) -> Result<PerSplit<SplitFiles>, Error> {
        let mut found = Vec::new();
        for name in self.split_names() {
            if let Some(files) = self.split(&name)? {
                let split = Split::new(found.len(), interned(&name), role_of(&name));
                found.push((split, files));
            }
        }
        Ok(found.into_iter().collect())
    }

    /// The names of all splits.
    pub(super) fn split_names(&self) -> Vec<String> {
        let mut found = BTreeSet::new();
        for path in self.data_files() {
            let in_qrels = path.parent() != Some(self.path);
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            if let Some(split) = split_of_file(&name, in_qrels) {
                found.insert((role_of(split), split.to_owned()));
            }
        }
        let named = found.into_iter().map(|(_, name)| name).filter(|name| name != ALL);
        named.chain([ALL.to_owned()]).collect()
    }

    /// The files of a split, if there are requests for it. In MS MARCO, `dev` is the small one if
    /// it is there, and `test` is called `eval`.
    ///
    /// # Errors
    ///
    /// Two files of requests or of judgements.
    pub(super) fn split(&self, name: &str) -> Result<Option<SplitFiles>, Error> {
        if name == ALL {
            return self.all();
        }
        let aliases: &[&str] = match name {
            "dev" => &["dev.small", "dev"],
            "test" => &["test", "eval.small", "eval"],
            other => &[other],
        };
        for alias in aliases {
            let names = names_of(&REQUESTS.map(|stem| format!("{stem}.{alias}")), &OF_REQUESTS);
            let requests = self.only(&format!("requests of {name}"), &names)?;
            let stems = ["qrels/", "qrels."].map(|stem| format!("{stem}{alias}"));
            let names = names_of(&stems, &OF_JUDGEMENTS);
            let qrels = self.only(&format!("judgements of {name}"), &names)?;
            let is_shared = requests.is_none();
            let requests = match requests {
                None if qrels.is_some() => self.shared_requests()?,
                own => own,
            };
            if let Some(requests) = requests {
                return Ok(Some(SplitFiles { requests, qrels, is_shared }));
            }
        }
        Ok(None)
    }

    /// The requests of all splits in one file.
    fn shared_requests(&self) -> Result<Option<Source>, Error> {
        self.only("requests", &names_of(&REQUESTS, &OF_REQUESTS))
    }

    /// The split of requests that belong to no other split.
    fn all(&self) -> Result<Option<SplitFiles>, Error> {
        for other in self.split_names().iter().filter(|other| *other != ALL) {
            if self.split(other)?.is_some_and(|files| files.is_shared) {
                return Ok(None);
            }
        }
        let Some(requests) = self.shared_requests()? else { return Ok(None) };
        let mut names = names_of(&["qrels"], &OF_JUDGEMENTS);
        names.push("qrels".to_owned());
        let qrels = self.only("judgements", &names)?;
        Ok(Some(SplitFiles { requests, qrels, is_shared: false }))
    }
}

/// The names with each of the endings.
fn names_of<S: AsRef<str>>(stems: &[S], endings: &[&str]) -> Vec<String> {
    let of = |stem: &S| endings.iter().map(|ending| format!("{}{ending}", stem.as_ref())).collect();
    stems.iter().flat_map(|stem| -> Vec<String> { of(stem) }).collect()
}

/// The split of requests that belong to no other split.
const ALL: &str = "all";

/// The role of a split by its name.
fn role_of(split: &str) -> SplitRole {
    let begins = |starts: &[&str]| starts.iter().any(|start| split.starts_with(start));
    if split.contains("train") {
        SplitRole::Learn
    } else if begins(&["dev", "val"]) {
        SplitRole::Tune
    } else {
        SplitRole::HeldOut
    }
}

/// The split that the name of a file of requests or judgements contains. MS MARCO's `dev.small` is a
/// `dev`, and its `eval` a `test`.
fn split_of_file<'n>(name: &'n str, in_qrels: bool) -> Option<&'n str> {
    let plain = without_packing(name);
    let without = |rest: &'n str, endings: &[&str]| -> Option<&'n str> {
        endings.iter().find_map(|ending| rest.strip_suffix(ending))
    };
    let requests = || {
        let rest = REQUESTS.iter().find_map(|stem| plain.strip_prefix(stem)?.strip_prefix('.'))?;
        without(rest, &OF_REQUESTS)
    };
    let judgements = || {
        let rest = if in_qrels { Some(plain) } else { plain.strip_prefix("qrels.") }?;
        without(rest, &OF_JUDGEMENTS)
    };
    let split = if in_qrels { judgements() } else { requests().or_else(judgements) }?;
    match split {
        "" => None,
        "dev.small" => Some("dev"),
        "eval" | "eval.small" => Some("test"),
        other => (!other.contains(char::is_whitespace)).then_some(other),
    }
}

/// A name for as long as the program runs: folders have few, and splits are passed on by name.
fn interned(name: &str) -> &'static str {
    static NAMES: Mutex<BTreeSet<&'static str>> = Mutex::new(BTreeSet::new());
    let mut names = NAMES.lock();
    if let Some(known) = names.get(name) {
        return known;
    }
    let kept: &'static str = Box::leak(name.into());
    names.insert(kept);
    kept
}
