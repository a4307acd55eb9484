//! The files of the repository's folder.

use crate::domains::Domain;
use clariq_collections::documents::{PACKED, entries};
use clariq_collections::{DataDir, Split};
use clariq_core::{Error, SplitRole};
use clariq_files::Source;
use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;

/// The folder of the passages, one file for each domain. Those of whole documents are not read.
const CORPORA: &str = "corpora/passage_level";

/// A set of requests that was released together.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MtragSplit {
    split: Split,
    /// Its folder in the repository, and the one that it had before.
    folders: &'static [&'static str],
}

/// The three forms of a request in `retrieval_tasks`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum FormKind {
    /// All utterances of the user.
    Questions,
    /// The last utterance of the user alone.
    LastTurn,
    /// The last utterance as people rewrote it, so that it can be understood alone.
    Rewrite,
}

impl MtragSplit {
    /// All splits, in the order of their release. No labels of MTRAG are for training.
    pub const ALL: [Self; 2] = [
        Self {
            split: Split::new(0, "mtrag", SplitRole::HeldOut),
            folders: &["mtrag-human", "human"],
        },
        Self { split: Split::new(1, "mtrag-un", SplitRole::HeldOut), folders: &["mtragun-human"] },
    ];

    /// All splits, for the collection.
    pub(crate) const SPLITS: [Split; 2] = [Self::ALL[0].as_split(), Self::ALL[1].as_split()];

    /// It as a split of the collection.
    pub const fn as_split(self) -> Split {
        self.split
    }

    /// The name on the command line and in file names.
    pub const fn name(self) -> &'static str {
        self.split.name()
    }

    /// The name of its file of tasks with the reference passages and responses.
    pub(crate) fn tasks_name(self) -> String {
        self.tasks_names().swap_remove(0)
    }

    fn tasks_names(self) -> Vec<String> {
        let name = |folder: &&str| format!("{folder}/generation_tasks/reference.jsonl");
        self.folders.iter().map(name).collect()
    }

    pub(crate) fn tasks(self, data: &DataDir) -> Option<Source> {
        first(data, &self.tasks_names())
    }

    /// A form of the requests of a domain.
    pub(crate) fn form(self, data: &DataDir, domain: Domain, form: FormKind) -> Option<Source> {
        first(data, &self.form_names(domain, form))
    }

    fn form_names(self, domain: Domain, form: FormKind) -> Vec<String> {
        let form = form.name();
        let names_in = |folder: &&str| {
            let folder = (*folder).to_owned();
            let name =
                move |name: &&str| format!("{folder}/retrieval_tasks/{name}/{name}_{form}.jsonl");
            domain.names().iter().map(name)
        };
        self.folders.iter().flat_map(names_in).collect()
    }

    /// The relevant passages of a domain's requests. MTRAG-UN has them in one folder.
    pub(crate) fn qrels(self, data: &DataDir, domain: Domain) -> Option<Source> {
        first(data, &self.qrels_names(domain))
    }

    fn qrels_names(self, domain: Domain) -> Vec<String> {
        let names_in = |folder: &&str| {
            let folder = format!("{folder}/retrieval_tasks");
            let names = move |name: &&str| {
                [format!("{folder}/{name}/qrels/dev.tsv"), format!("{folder}/qrels/{name}.tsv")]
            };
            domain.names().iter().flat_map(names)
        };
        self.folders.iter().flat_map(names_in).collect()
    }

    /// The files of its requests.
    pub(crate) fn requests(self, data: &DataDir) -> Vec<Source> {
        let mut files: Vec<Source> = self.tasks(data).into_iter().collect();
        for domain in Domain::ALL {
            files.extend(FormKind::ALL.iter().filter_map(|form| self.form(data, domain, *form)));
        }
        files
    }

    pub(crate) fn is_in(self, data: &DataDir) -> bool {
        !self.requests(data).is_empty()
    }
}

impl fmt::Display for MtragSplit {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl From<Split> for MtragSplit {
    #[allow(clippy::indexing_slicing, reason = "the collection has these splits and no others")]
    fn from(split: Split) -> Self {
        Self::ALL[split.place()]
    }
}

impl FormKind {
    pub(crate) const ALL: [Self; 3] = [Self::Questions, Self::LastTurn, Self::Rewrite];

    fn name(self) -> &'static str {
        match self {
            Self::Questions => "questions",
            Self::LastTurn => "lastturn",
            Self::Rewrite => "rewrite",
        }
    }
}

/// The passages of a domain. One of the released files is called `.json`.
pub(crate) fn corpus(data: &DataDir, domain: Domain) -> Option<Source> {
    first(data, &corpus_names(domain))
}

fn corpus_names(domain: Domain) -> Vec<String> {
    let names = domain.names().iter();
    names
        .flat_map(|name| ["jsonl", "json"].map(|ending| format!("{CORPORA}/{name}.{ending}")))
        .collect()
}

fn first(data: &DataDir, names: &[String]) -> Option<Source> {
    names.iter().find_map(|name| data.file(name))
}

/// Refuses two files for one thing: two names of a domain, or two different files, plain and packed.
pub(crate) fn check_single(data: &DataDir) -> Result<(), Error> {
    let mut all = Vec::new();
    for domain in Domain::ALL {
        for split in MtragSplit::ALL {
            all.extend(FormKind::ALL.map(|form| split.form_names(domain, form)));
            all.push(split.qrels_names(domain));
        }
        all.push(corpus_names(domain));
    }
    all.extend(MtragSplit::ALL.map(MtragSplit::tasks_names));
    for names in &all {
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        data.check_one_of(&[""], &names)?;
    }
    Ok(())
}

/// The files beside the passages that are not read, but for explanations.
pub(crate) fn unread(data: &DataDir) -> Result<Vec<PathBuf>, Error> {
    let DataDir::Folder(folder) = data else { return Ok(Vec::new()) };
    let corpora = folder.join(CORPORA);
    if !corpora.is_dir() {
        return Ok(Vec::new());
    }
    let names = Domain::ALL.iter().flat_map(|domain| corpus_names(*domain));
    let known: HashSet<PathBuf> = names
        .flat_map(|name| PACKED.map(|packed| folder.join(format!("{name}{packed}"))))
        .collect();
    let mut unread = entries(&corpora)?;
    unread.retain(|path| {
        let is_explanation = path.extension().is_some_and(|ending| ending == "md");
        !path.is_dir() && !is_explanation && !known.contains(path)
    });
    Ok(unread)
}

/// All files of a folder that are read.
pub(crate) fn files(data: &DataDir) -> Vec<Source> {
    let mut files = Vec::new();
    for split in MtragSplit::ALL {
        files.extend(split.requests(data));
        files.extend(Domain::ALL.iter().filter_map(|domain| split.qrels(data, *domain)));
    }
    files.extend(Domain::ALL.iter().filter_map(|domain| corpus(data, *domain)));
    files
}
