//! The files of a folder, which are found by their names and their first lines.

use crate::data_dir::{may_hold_data, paths_of};
use crate::documents::{
    DocumentFileKind, DocumentFolder, PACKED, each_once, entries, packing_not_read, two_files,
};
use crate::{DataDir, PerSplit, Split};
use clariq_core::{Error, ProblemKind, SplitRole, problem};
use clariq_files::{BoundedLines, Source};
use parking_lot::Mutex;
use serde_json::Value;
use std::collections::{BTreeSet, HashSet};
use std::io::{BufReader, Read as _};
use std::path::{Path, PathBuf};

/// Files of all documents, as `clariq data export`, BEIR and MS MARCO name them.
const DOCUMENTS: [&str; 4] = ["documents.jsonl", "corpus.jsonl", "collection.tsv", "documents.tsv"];

/// Folders of such files.
const FOLDERS: [&str; 4] = ["documents", "corpus", "collection", "passages"];

/// The beginnings of names of files that contain no documents.
const OTHERS: [&str; 5] = ["requests", "queries", "topics", "qrels", "annotations"];

/// The number of bytes that are read to recognise the content of a file.
const HEAD: u64 = 1 << 16;

/// A folder of a user.
pub(crate) struct Folder<'a>(&'a Path);

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
            DataDir::Folder(folder) => Some(Self(folder)),
            DataDir::Sample(_) => None,
        }
    }

    /// The files of that name, plain and packed. A dangling link counts as a file.
    fn files(&self, name: &str) -> Vec<PathBuf> {
        paths_of(self.0, &[""], name)
    }

    /// The file that has one of these names. Two of them are an error, because it is not clear
    /// which is meant.
    fn only(&self, what: &str, names: &[String]) -> Result<Option<Source>, Error> {
        let mut found: Vec<PathBuf> = names.iter().flat_map(|name| self.files(name)).collect();
        found.retain(|path| !path.is_dir());
        if let [one, other, ..] = &found[..] {
            return Err(two_files(self.0, what, one, other));
        }
        Ok(found.pop().map(Source::Path))
    }

    pub(super) fn has_documents(&self) -> bool {
        !self.named_documents().is_empty()
            || self.loose_files().iter().any(|path| begins_with_document(path))
    }

    /// The files of all documents, and the folders of such files.
    fn named_documents(&self) -> Vec<PathBuf> {
        let mut paths: Vec<PathBuf> = DOCUMENTS.iter().flat_map(|name| self.files(name)).collect();
        for name in FOLDERS {
            let folder = self.0.join(name);
            let listed = DocumentFolder::list(&folder);
            let is_empty = listed.is_ok_and(|listed| listed.documents.is_empty());
            if folder.is_dir() && !is_empty {
                paths.push(folder);
            }
        }
        paths
    }

    /// The files of JSON lines or `TrecWeb` in the folder itself that may contain documents, by their
    /// names.
    fn loose_files(&self) -> Vec<PathBuf> {
        let mut files = entries(self.0).unwrap_or_default();
        files.retain(|path| {
            let name = file_name(path);
            let is_table = PACKED.iter().any(|ending| name.ends_with(&format!(".tsv{ending}")));
            let is_other = OTHERS.iter().any(|other| name.starts_with(other));
            !path.is_dir()
                && DocumentFileKind::of(path) == DocumentFileKind::Documents
                && !is_table
                && !is_other
        });
        files
    }

    /// The files of the documents, in the order of their names. If one of the files in the folder
    /// itself begins with a document, all of them are read, so that none is left out because of a
    /// mistake in its first line.
    pub(crate) fn documents(&self) -> Result<Vec<Source>, Error> {
        self.check_packings()?;
        let named = self.named_documents();
        let mut loose = self.loose_files();
        loose.retain(|path| !named.contains(path));
        let first_loose = loose.iter().find(|path| begins_with_document(path));
        let files = match (&named[..], first_loose) {
            ([], Some(_)) => each_once(self.0, loose)?,
            ([one], None) if one.is_dir() => DocumentFolder::list(one)?.documents,
            ([one], None) => vec![one.clone()],
            ([one, other, ..], _) | ([one], Some(other)) => {
                return Err(two_files(self.0, "documents", one, other));
            }
            ([], None) => {
                let hint = "the documentation lists the forms of documents of your own (reference, Formats)";
                let found = "none that begins with a document";
                let problem = problem!(self.0, "files of documents", found, hint);
                return Err(problem.kind(ProblemKind::MissingFile).into());
            }
        };
        Ok(files.into_iter().map(Source::Path).collect())
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
        let mut files = entries(self.0).unwrap_or_default();
        files.extend(entries(&self.0.join("qrels")).unwrap_or_default());
        files.retain(|path| !path.is_dir());
        files
    }

    /// The files that may hold data and are not read, in the folder and below it.
    pub(super) fn unread(&self) -> Result<Vec<PathBuf>, Error> {
        let mut read: HashSet<String> = self.documents()?.iter().map(Source::name).collect();
        for (_, SplitFiles { requests, qrels, .. }) in self.splits()?.iter() {
            read.insert(requests.name());
            read.extend(qrels.as_ref().map(Source::name));
        }
        let listed = DocumentFolder::list_any(self.0)?;
        let mut unread = [listed.documents, listed.unread].concat();
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
            let in_qrels = path.parent() != Some(self.0);
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
            let with_alias = |names: [&str; 4]| names.map(|name| name.replace("{}", alias));
            let names =
                ["requests.{}.jsonl", "queries.{}.jsonl", "queries.{}.tsv", "requests.{}.tsv"];
            let requests = self.only(&format!("requests of {name}"), &with_alias(names))?;
            let names = ["qrels/{}.tsv", "qrels/{}.txt", "qrels.{}.tsv", "qrels.{}.txt"];
            let qrels = self.only(&format!("judgements of {name}"), &with_alias(names))?;
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
        let names = ["requests.jsonl", "queries.jsonl", "queries.tsv", "requests.tsv"];
        self.only("requests", &names.map(str::to_owned))
    }

    /// The split of requests that belong to no other split.
    fn all(&self) -> Result<Option<SplitFiles>, Error> {
        for other in self.split_names().iter().filter(|other| *other != ALL) {
            if self.split(other)?.is_some_and(|files| files.is_shared) {
                return Ok(None);
            }
        }
        let Some(requests) = self.shared_requests()? else { return Ok(None) };
        let names = ["qrels.txt", "qrels.tsv", "qrels"].map(str::to_owned);
        let qrels = self.only("judgements", &names)?;
        Ok(Some(SplitFiles { requests, qrels, is_shared: false }))
    }
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
fn split_of_file(name: &str, in_qrels: bool) -> Option<&str> {
    let plain = PACKED.iter().rev().find_map(|ending| name.strip_suffix(ending)).unwrap_or(name);
    let requests = || {
        let rest = plain.strip_prefix("requests.").or(plain.strip_prefix("queries."))?;
        rest.strip_suffix(".jsonl").or(rest.strip_suffix(".tsv"))
    };
    let judgements = || {
        let rest = if in_qrels { Some(plain) } else { plain.strip_prefix("qrels.") }?;
        rest.strip_suffix(".tsv").or(rest.strip_suffix(".txt"))
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

fn file_name(path: &Path) -> String {
    path.file_name().unwrap_or_default().to_string_lossy().to_lowercase()
}

/// True if the first line that is not blank has the keys of a document.
fn begins_with_document(path: &Path) -> bool {
    let head = || -> Option<String> {
        let source = Source::Path(path.to_owned());
        let stream = source.stream().ok()?.take(HEAD);
        let mut lines = BoundedLines::new(source.name(), BufReader::new(stream), HEAD);
        loop {
            let line = lines.read_next().ok()??.ok()?;
            if !line.is_empty() {
                return Some(line);
            }
        }
    };
    let Some(head) = head() else { return false };
    // The head may have cut a longer document.
    let Ok(first) = serde_json::from_str::<Value>(&head) else {
        return head.len() as u64 >= HEAD - 4;
    };
    let has_id = ["id", "_id", "docno", "doc_id", "docid"].iter().any(|id| first.get(id).is_some());
    has_id && first.get("contents").or(first.get("text")).is_some()
}
