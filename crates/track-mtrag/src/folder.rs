//! The files of the repository's folder.

use crate::domains::Domain;
use crate::splits;
use clariq_collections::documents::{PACKED, entries};
use clariq_collections::{DataDir, Split};
use clariq_core::Error;
use clariq_files::Source;
use std::collections::HashSet;
use std::path::PathBuf;

/// The folder of the passages, one file for each domain. Those of whole documents are not read.
const CORPORA: &str = "corpora/passage_level";

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

/// The name of a split's file of tasks with the reference passages and responses.
pub(crate) fn tasks_name(split: Split) -> String {
    tasks_names(split).swap_remove(0)
}

fn tasks_names(split: Split) -> Vec<String> {
    let name = |folder: &&str| format!("{folder}/generation_tasks/reference.jsonl");
    splits::folders(split).iter().map(name).collect()
}

pub(crate) fn tasks_file(data: &DataDir, split: Split) -> Option<Source> {
    first(data, &tasks_names(split))
}

/// A form of the requests of a domain.
pub(crate) fn form_file(
    data: &DataDir,
    split: Split,
    domain: Domain,
    form: FormKind,
) -> Option<Source> {
    first(data, &form_names(split, domain, form))
}

fn form_names(split: Split, domain: Domain, form: FormKind) -> Vec<String> {
    let form = form.name();
    let names_in = |folder: &&str| {
        let folder = (*folder).to_owned();
        let name =
            move |name: &&str| format!("{folder}/retrieval_tasks/{name}/{name}_{form}.jsonl");
        domain.names().iter().map(name)
    };
    splits::folders(split).iter().flat_map(names_in).collect()
}

/// The relevant passages of a domain's requests. MTRAG-UN has them in one folder.
pub(crate) fn qrels_file(data: &DataDir, split: Split, domain: Domain) -> Option<Source> {
    first(data, &qrels_names(split, domain))
}

fn qrels_names(split: Split, domain: Domain) -> Vec<String> {
    let names_in = |folder: &&str| {
        let folder = format!("{folder}/retrieval_tasks");
        let names = move |name: &&str| {
            [format!("{folder}/{name}/qrels/dev.tsv"), format!("{folder}/qrels/{name}.tsv")]
        };
        domain.names().iter().flat_map(names)
    };
    splits::folders(split).iter().flat_map(names_in).collect()
}

/// The files of a split's requests; none if the folder does not have it.
pub(crate) fn request_files(data: &DataDir, split: Split) -> Vec<Source> {
    let mut files: Vec<Source> = tasks_file(data, split).into_iter().collect();
    for domain in Domain::ALL {
        let forms = FormKind::ALL.iter();
        files.extend(forms.filter_map(|form| form_file(data, split, domain, *form)));
    }
    files
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
        for split in splits::ALL {
            all.extend(FormKind::ALL.map(|form| form_names(split, domain, form)));
            all.push(qrels_names(split, domain));
        }
        all.push(corpus_names(domain));
    }
    all.extend(splits::ALL.map(tasks_names));
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
    for split in splits::ALL {
        files.extend(request_files(data, split));
        files.extend(Domain::ALL.iter().filter_map(|domain| qrels_file(data, split, *domain)));
    }
    files.extend(Domain::ALL.iter().filter_map(|domain| corpus(data, *domain)));
    files
}
