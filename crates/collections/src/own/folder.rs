//! The files of a folder, by their names and by how they begin.

use crate::DataDir;
use crate::documents::files_in;
use clariq_core::{Error, ProblemKind, bail, problem};
use clariq_files::Source;
use serde_json::Value;
use std::io::{BufRead as _, Read as _};
use std::path::{Path, PathBuf};

/// What a packed file has behind its name.
const ENDINGS: [&str; 3] = ["", ".gz", ".zst"];

/// Files of all documents: of `clariq data export`, of BEIR and of MS MARCO.
const DOCUMENTS: [&str; 4] = ["documents.jsonl", "corpus.jsonl", "collection.tsv", "documents.tsv"];

/// Folders of such files.
const FOLDERS: [&str; 4] = ["documents", "corpus", "collection", "passages"];

/// How the names of files of requests and of judgements begin.
const OTHERS: [&str; 4] = ["requests", "queries", "topics", "qrels"];

/// So much of a file shows what it holds.
const HEAD: u64 = 1 << 16;

/// A folder of a user.
pub(crate) struct Folder<'a>(&'a Path);

/// The files of a split.
pub(super) struct SplitFiles {
    pub(super) name: &'static str,
    pub(super) requests: Source,
    pub(super) qrels: Option<Source>,
    /// Whether the requests are those of all splits, of which the judged ones are of this one.
    pub(super) is_shared: bool,
}

impl<'a> Folder<'a> {
    pub(crate) fn of(data: &'a DataDir) -> Option<Self> {
        match data {
            DataDir::Folder(folder) => Some(Self(folder)),
            DataDir::Sample => None,
        }
    }

    /// The file of that name, plain or packed. A link to nothing counts as a file.
    fn file(&self, name: &str) -> Option<PathBuf> {
        let paths = ENDINGS.map(|ending| self.0.join(format!("{name}{ending}")));
        paths.into_iter().find(|path| path.symlink_metadata().is_ok())
    }

    fn first(&self, names: impl IntoIterator<Item = String>) -> Option<Source> {
        names.into_iter().find_map(|name| self.file(&name)).map(Source::Path)
    }

    pub(super) fn has_documents(&self) -> bool {
        self.named_documents().next().is_some() || !self.loose_documents().is_empty()
    }

    /// The files of all documents, and the folders of such files.
    fn named_documents(&self) -> impl Iterator<Item = PathBuf> {
        let files = DOCUMENTS.iter().filter_map(|name| self.file(name));
        let folders = FOLDERS.iter().map(|name| self.0.join(name)).filter(|path| path.is_dir());
        files.chain(folders.filter(|folder| !files_in(folder).is_empty()))
    }

    /// Files in the folder itself that begin with a document.
    fn loose_documents(&self) -> Vec<PathBuf> {
        let mut files = files_in(self.0);
        files.retain(|path| {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            !OTHERS.iter().any(|other| name.starts_with(other)) && begins_with_document(path)
        });
        files
    }

    /// The files of the documents, in the order of their names.
    pub(crate) fn documents(&self) -> Result<Vec<Source>, Error> {
        let named: Vec<PathBuf> = self.named_documents().collect();
        let files = match &named[..] {
            [] => self.loose_documents(),
            [one] if one.is_dir() => files_in(one),
            [one] => vec![one.clone()],
            [one, other, ..] => {
                let found = format!("`{}` and `{}`", one.display(), other.display());
                let hint = "leave one of them, or give each a data folder of its own";
                bail!(self.0, "one file or folder of documents", found, hint);
            }
        };
        if files.is_empty() {
            let hint =
                "the documentation lists the forms of documents of your own (reference, Formats)";
            let found = "none that begins with a document";
            let problem = problem!(self.0, "files of documents", found, hint);
            return Err(problem.kind(ProblemKind::MissingFile).into());
        }
        Ok(files.into_iter().map(Source::Path).collect())
    }

    /// The files of a split, if there are requests for it. In MS MARCO, `dev` is the small one if it
    /// is there, and `test` is called `eval`.
    pub(super) fn split(&self, name: &'static str) -> Option<SplitFiles> {
        let shared = || {
            let names = ["requests.jsonl", "queries.jsonl", "queries.tsv", "requests.tsv"];
            self.first(names.map(str::to_owned))
        };
        let aliases: &[&str] = match name {
            "dev" => &["dev.small", "dev"],
            "test" => &["test", "eval.small", "eval"],
            "all" => {
                let mut others = super::SPLITS.iter().filter(|other| **other != "all");
                if others.any(|other| self.split(other).is_some_and(|files| files.is_shared)) {
                    return None;
                }
                let qrels = ["qrels.txt", "qrels.tsv", "qrels"].map(str::to_owned);
                let qrels = self.first(qrels).filter(|file| Path::new(&file.name()).is_file());
                return Some(SplitFiles { name, requests: shared()?, qrels, is_shared: false });
            }
            other => &[other],
        };
        aliases.iter().find_map(|alias| {
            let qrels = ["qrels/{}.tsv", "qrels/{}.txt", "qrels.{}.tsv", "qrels.{}.txt"];
            let qrels = self.first(qrels.map(|name| name.replace("{}", alias)));
            let requests =
                ["requests.{}.jsonl", "queries.{}.jsonl", "queries.{}.tsv", "requests.{}.tsv"];
            let requests = self.first(requests.map(|name| name.replace("{}", alias)));
            let is_shared = requests.is_none();
            let requests = match (requests, &qrels) {
                (Some(own), _) => own,
                (None, Some(_)) => shared()?,
                (None, None) => return None,
            };
            Some(SplitFiles { name, requests, qrels, is_shared })
        })
    }
}

/// Whether the first line that is not blank has the keys of a document.
fn begins_with_document(path: &Path) -> bool {
    let head = || -> Option<String> {
        let source = Source::Path(path.to_owned());
        let lines = source.stream().ok()?.take(HEAD).lines();
        // A damaged archive repeats its error for ever.
        lines.map_while(Result::ok).find(|line| !line.trim().is_empty())
    };
    let Some(head) = head() else { return false };
    let head = head.trim_start_matches('\u{feff}').trim();
    // A longer document may be cut there.
    let Ok(first) = serde_json::from_str::<Value>(head) else {
        return head.len() as u64 >= HEAD - 4;
    };
    let has_id = first.get("id").or(first.get("_id")).is_some();
    has_id && first.get("contents").or(first.get("text")).is_some()
}
