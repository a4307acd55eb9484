//! Documents of the user's own, in common forms: BEIR, MS MARCO, Anserini's JSON, and the form that
//! `clariq data export` writes.
//!
//! Documents alone are a collection. Requests and judgements are found by their names, as
//! [`folder`] lists them.

mod evaluation;
mod folder;

use crate::documents::{DocumentForm, check_documents, read_unique};
use crate::evaluation::spelling::{other_spellings, shown};
use crate::evaluation::{ByQrels, Evaluation};
use crate::requests::RequestLabels;
use crate::statistics::{Statistics, WordCounts, figure};
use crate::validation::check_run;
use crate::{
    Annotation, CheckReport, Collection, DataDir, Kind, PerSplit, Requests, Split, Task, requests,
};
use clariq_core::{
    Doc, Documents, Error, ProblemKind, RequestId, SplitRole, TextKeeper, count_of, one_or, problem,
};
use clariq_files::{FileContent, Judgement, Qrels, Sink, Source, parse_qrels};
use evaluation::OwnEvaluation;
use folder::{DocumentFiles, Folder, SplitFiles};
use serde_json::json;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::path::PathBuf;

/// Documents, and requests for them and judgements as far as the folder has them.
pub static OWN: Kind = Kind {
    name: "own",
    signs: &["documents.jsonl", "corpus.jsonl", "collection.tsv"],
    tasks: &[DOCUMENTS],
    usual: "data/own",
    splits: &USUAL_SPLITS,
    usual_split: USUAL_SPLITS[1],
    endings: &[],
    sample: None,
    is_in: |data| Folder::of(data).is_some_and(|folder| folder.has_documents()),
    files: |data| Folder::of(data).map(|folder| files(&folder)).unwrap_or_default(),
    open: |data, keeper| Ok(Box::new(Own::open(data, keeper)?)),
    check,
    validate: |data, split, run, _| check_run(&Own::open(data, None)?, split, run),
    rankings: |_| None,
    scores: Vec::new,
    released: None,
};

/// The usual names of splits; any other may be given, and `all` is for requests that belong to none.
const USUAL_SPLITS: [Split; 4] = [
    Split::new(0, "train", SplitRole::Learn),
    Split::new(1, "dev", SplitRole::Tune),
    Split::new(2, "test", SplitRole::HeldOut),
    Split::new(3, "all", SplitRole::HeldOut),
];

/// The task of collections without submissions.
pub const DOCUMENTS: Task = Task::new("documents");

struct Own {
    data: DataDir,
    documents: Box<dyn Documents>,
    splits: PerSplit<SplitFiles>,
    /// The splits without their files.
    names: Vec<Split>,
    /// Files that may hold data and are not read.
    unread: Vec<PathBuf>,
}

impl Own {
    fn open(data: &DataDir, keeper: Option<&dyn TextKeeper>) -> Result<Self, Error> {
        let folder = Folder::of(data).ok_or_else(|| no_documents(data))?;
        let splits = folder.splits()?;
        let unread = folder.unread()?;
        let (files, form) = documents_of(&folder, data)?;
        let documents = read_unique(&files, &form, keeper)?;
        if documents.is_empty() {
            return Err(no_documents(data));
        }
        let names = splits.splits().collect();
        Ok(Self { data: data.clone(), documents, splits, names, unread })
    }

    fn judgements(&self, split: Split) -> Result<Option<Qrels>, Error> {
        let Some(file) = &self.splits[split].qrels else { return Ok(None) };
        Qrels::read(file).map(Some)
    }

    /// Warnings about documents and requests that judgements name but the folder lacks.
    fn unknown_ids(&self, split: Split, qrels: &Qrels) -> Result<Vec<String>, Error> {
        let mut documents: Vec<&str> = Vec::new();
        for (_, judged) in qrels.topics() {
            let ids = judged.documents().map(|(id, _)| id.as_str());
            documents.extend(ids.filter(|id| self.documents.find(id).is_none()));
        }
        let mut requests = HashSet::new();
        for request in self.requests(split, DOCUMENTS)? {
            requests.insert(request?.id);
        }
        let mut topics: Vec<&str> = Vec::new();
        for (topic, judged) in qrels.topics().filter(|(topic, _)| !requests.contains(*topic)) {
            topics.extend(judged.documents().map(|_| topic.as_str()));
        }
        let file = self.splits[split].qrels.as_ref().map_or_else(String::new, Source::name);
        let warn = |ids: &[&str], what: &str, known: &dyn Fn(&str) -> bool| {
            let first = ids.iter().min()?;
            let such = such_as(first, known);
            let judgements = count_of(ids.len(), "judgement");
            let name = one_or(ids.len(), "names", "name");
            Some(format!("{file}: {judgements} {name} {what}, such as {such}"))
        };
        let documents = warn(&documents, "documents that the collection does not have", &|id| {
            self.documents.find(id).is_some()
        });
        let topics =
            warn(&topics, "topics that are not among its requests", &|id| requests.contains(id));
        Ok([documents, topics].into_iter().flatten().collect())
    }
}

/// An id that is not known, with a known one that is spelled otherwise.
fn such_as(id: &str, is_known: &dyn Fn(&str) -> bool) -> String {
    match other_spellings(id).find(|other| is_known(other)) {
        Some(other) => format!("`{}`, where it has `{}`", shown(id), shown(&other)),
        None => format!("`{id}`"),
    }
}

/// The files of the documents, and how they are read.
fn documents_of(folder: &Folder, data: &DataDir) -> Result<(Vec<Source>, DocumentForm), Error> {
    let mut form = DocumentForm::of(data)?;
    let DocumentFiles { files, texts_in } = folder.documents()?;
    form.texts_in = texts_in;
    Ok((files, form))
}

fn files(folder: &Folder) -> Vec<Source> {
    let mut files = folder.documents().map(|found| found.files).unwrap_or_default();
    for name in folder.split_names() {
        if let Ok(Some(split)) = folder.split(&name) {
            files.push(split.requests);
            files.extend(split.qrels);
        }
    }
    files
}

fn no_documents(data: &DataDir) -> Error {
    let hint = "the documentation lists the forms of documents of your own (reference, Formats)";
    problem!(data.to_string(), "a folder with documents", "none", hint)
        .kind(ProblemKind::MissingFile)
        .into()
}

impl Collection for Own {
    fn registered(&self) -> &'static Kind {
        &OWN
    }

    /// `own-` and the first digits of the checksum of its documents.
    fn label(&self) -> String {
        format!("own-{}", self.documents.checksum().short())
    }

    fn folder_name(&self) -> String {
        self.data.name().unwrap_or_else(|| self.label())
    }

    fn location(&self) -> String {
        self.data.to_string()
    }

    fn unread_files(&self) -> &[PathBuf] {
        &self.unread
    }

    fn splits(&self) -> &[Split] {
        &self.names
    }

    /// Splits that are held out know nothing of each other.
    fn earlier_splits(&self, split: Split) -> Vec<Split> {
        self.names.iter().copied().filter(|other| other.role() < split.role()).collect()
    }

    fn has(&self, split: Split) -> bool {
        self.names.contains(&split)
    }

    fn documents(&self, _task: Task) -> Result<&dyn Documents, Error> {
        Ok(&*self.documents)
    }

    fn source(&self, split: Split) -> Result<Source, Error> {
        Ok(self.splits[split].requests.clone())
    }

    fn labels_of(&self, split: Split) -> Result<Vec<Source>, Error> {
        let SplitFiles { requests, qrels, .. } = &self.splits[split];
        Ok(vec![qrels.as_ref().unwrap_or(requests).clone()])
    }

    fn requests(&self, split: Split, _task: Task) -> Result<Requests<'_>, Error> {
        let files = &self.splits[split];
        let mut requests = requests::read(&files.requests, &*self.documents)?;
        if files.is_shared
            && let Some(judged) = self.judgements(split)?
        {
            requests.retain(|request| judged.topic(&request.id).is_some());
        }
        Ok(Box::new(requests.into_iter().map(Ok)))
    }

    fn own_evaluation(&self, split: Split) -> Result<Option<Box<dyn Evaluation + '_>>, Error> {
        let mut labels = BTreeMap::new();
        for Annotation { id, need, .. } in self.annotations(split)? {
            labels.extend(need.map(|need| (RequestId::from(&*id), need.to_string())));
        }
        // Without judgements, need files can be scored all the same.
        let by_qrels = match ByQrels::open(self, split, DOCUMENTS) {
            Ok(mut by_qrels) => {
                let unknown = self.unknown_ids(split, &by_qrels.qrels)?;
                by_qrels.warnings.extend(unknown);
                Some(by_qrels)
            }
            Err(_) if !labels.is_empty() && self.judgements(split)?.is_none() => None,
            Err(error) => return Err(error),
        };
        Ok(Some(Box::new(OwnEvaluation { location: self.location(), by_qrels, labels })))
    }

    fn annotations(&self, split: Split) -> Result<Vec<Annotation>, Error> {
        let labels = requests::labels(&self.splits[split].requests)?;
        let annotations = labels.into_iter().map(|RequestLabels { id, need, answer }| Annotation {
            id,
            need,
            answer,
            ..Annotation::default()
        });
        Ok(annotations.collect())
    }

    fn qrels(&self, split: Split, _task: Task) -> Result<Option<Qrels>, Error> {
        self.judgements(split)
    }

    fn statistics(&self) -> Result<Statistics, Error> {
        let mut splits = Vec::new();
        let mut by_split = Vec::new();
        for &split in &self.names {
            let mut texts = Vec::new();
            for request in self.requests(split, DOCUMENTS)? {
                texts.push(request?.flatten().into_owned());
            }
            let judged = self.judgements(split)?.map(|qrels| {
                let grades = || qrels.topics().flat_map(|(_, judged)| judged.grades());
                (grades().count(), grades().filter(|grade| *grade > 0).count())
            });
            let (judged, relevant) = judged.unzip();
            let words = WordCounts::of(texts.iter().map(String::as_str));
            let figures = vec![
                figure("requests", Some(words.texts)),
                figure("words per request, mean", Some(words.mean)),
                figure("judgements", judged),
                figure("relevant documents of all requests", relevant),
            ];
            splits.push((split.name(), figures));
            by_split.push(json!({
                "split": split.name(), "requests": words.texts, "request_words": words.mean,
                "judgements": judged, "relevant": relevant,
            }));
        }
        let words = WordCounts::of_documents(&*self.documents)?;
        let of_documents = [
            ("documents", words.texts.into()),
            ("words per document, mean", words.mean.into()),
            ("words of the longest document", words.longest.into()),
        ];
        let named = json!({
            "documents": words.texts,
            "document_words": words.mean,
            "longest_document": words.longest,
            "checksum": self.documents.checksum(),
            "splits": by_split,
        });
        Ok(Statistics::new(&splits, ("documents", &of_documents), named))
    }
}

/// The most files of records that have a row each in the report of a check.
const MOST_ROWS: usize = 100;

/// Reads every file of the folder.
fn check(data: &DataDir) -> Result<CheckReport, Error> {
    let folder = Folder::of(data).ok_or_else(|| no_documents(data))?;
    let mut report = CheckReport::default();
    let (files, form) = report.note(documents_of(&folder, data))?.unwrap_or_default();
    let ids = check_documents(
        &files,
        &form,
        &mut report,
        |_, _| None,
        |at, id, first| {
            let found = format!("`{id}`, which is at {first} already");
            let hint = "remove one of the two, or give it an id of its own";
            problem!(at, "an id that no other document has", found, hint)
        },
    )?;
    let together = match &form.texts_in {
        Some(folder) => Some(format!("{} ({} texts)", folder.display(), files.len())),
        None if files.len() > MOST_ROWS => Some(format!("{data} ({} files)", files.len())),
        None => None,
    };
    if let Some(together) = together {
        // A row for all of them, and one for each with a finding.
        let faulty: HashSet<&str> = report.findings.iter().map(|one| &*one.first.at.file).collect();
        report.files.retain(|file| faulty.contains(&**file));
        report.files.push(together);
    }
    report.notes.extend(form.described().map(|names| format!("documents: {names}")));
    if ids.is_empty() && !report.findings.has_errors() {
        report.note::<()>(Err(no_documents(data)))?;
    }
    for name in folder.split_names() {
        if let Some(files) = report.note(folder.split(&name))?.flatten() {
            check_split(files, &ids, &mut report)?;
        }
    }
    // Problems of the folder were reported above.
    report.add_unread(&folder.unread().unwrap_or_default());
    report.findings.sort(&report.files);
    Ok(report)
}

/// Reads the requests, their labels and the judgements of a split.
fn check_split(
    SplitFiles { requests, qrels, .. }: SplitFiles,
    ids: &HashMap<String, String>,
    report: &mut CheckReport,
) -> Result<(), Error> {
    let mut request_ids = HashSet::new();
    let find = |id: &str| ids.contains_key(id).then_some(Doc(0));
    let is_known = report.files.contains(&requests.name());
    let mut read = |input: &FileContent, sink: Sink| {
        let mut is_faulty = false;
        let read = requests::parse(input, Some(&find), &mut |problem| {
            is_faulty = true;
            sink(problem);
        });
        if !is_faulty {
            requests::parse_labels(input, sink);
        }
        request_ids.extend(read.into_iter().map(|request| request.id.to_string()));
    };
    if is_known {
        // The file of all splits was reported with the first.
        report.note(requests.read())?.iter().for_each(|input| read(input, &mut |_| {}));
    } else {
        report.read("", Some(requests), read)?;
    }
    let Some(qrels) = qrels else { return Ok(()) };
    report.read("", Some(qrels), |input, sink| {
        for Judgement { topic, document, .. } in parse_qrels(input, sink) {
            let mut warn = |expected, found: String| {
                let hint = "it cannot be found, and counts as missed";
                sink(problem!(&*input.name, expected, found, hint).warning());
            };
            if !ids.contains_key(&*document) {
                let found = such_as(&document, &|id| ids.contains_key(id));
                warn("judgements of documents of the collection", found);
            }
            if !request_ids.contains(&*topic) {
                let found = such_as(&topic, &|id| request_ids.contains(id));
                warn("topics that are requests", found);
            }
        }
    })?;
    Ok(())
}
