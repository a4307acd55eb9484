//! The other splits, as a system sees them that runs over one split: earlier judgements, and the
//! requests of all splits.

use crate::{Collection, Split, Task};
use clariq_core::{Doc, Error, JudgedSplit, Surroundings};
use std::sync::OnceLock;

/// The judgements before a split, and the requests of it and of all splits, each read on first use.
pub struct EarlierJudgements<'a> {
    collection: &'a dyn Collection,
    task: Task,
    /// `None` if the collection has no split at all.
    split: Option<Split>,
    judged: OnceLock<Vec<JudgedSplit>>,
    own: OnceLock<Vec<String>>,
    all: OnceLock<Vec<String>>,
}

impl<'a> EarlierJudgements<'a> {
    /// For systems that run over `split`. Nothing is read yet.
    pub fn new(collection: &'a dyn Collection, task: Task, split: Split) -> Self {
        Self::of(collection, task, Some(split))
    }

    fn of(collection: &'a dyn Collection, task: Task, split: Option<Split>) -> Self {
        let judged = OnceLock::new();
        let own = OnceLock::new();
        let all = OnceLock::new();
        Self { collection, task, split, judged, own, all }
    }

    /// For systems that run over requests of no split: they may use the judgements of the first
    /// split, the training data.
    pub fn outside(collection: &'a dyn Collection, task: Task) -> Self {
        let splits = collection.splits();
        Self::of(collection, task, splits.get(1).or(splits.first()).copied())
    }

    /// The judgements of a split; `None` if it has none.
    fn judged(&self, split: Split) -> Result<Option<JudgedSplit>, Error> {
        let Some(qrels) = self.collection.qrels(split, self.task)? else { return Ok(None) };
        let documents = self.collection.documents(self.task)?;
        let mut judged =
            JudgedSplit { source: self.collection.source(split)?.name(), ..JudgedSplit::default() };
        for request in self.collection.requests(split, self.task)? {
            let request = request?;
            if let Some(judgements) = qrels.topic(&request.id) {
                let relevant = judgements.documents().filter(|(_, grade)| *grade > 0);
                let mut docs: Vec<Doc> =
                    relevant.filter_map(|(id, _)| documents.find(id.as_str())).collect();
                docs.retain(|&doc| Some(doc) != documents.empty_question());
                docs.sort_unstable();
                let index = judged.requests.len();
                judged.relevant.extend(docs.into_iter().map(|doc| (doc, index)));
            }
            judged.requests.push(request.opening().to_owned());
        }
        Ok(Some(judged))
    }

    fn requests(&self, split: Split) -> Result<Vec<String>, Error> {
        let requests = self.collection.requests(split, self.task)?;
        requests.map(|request| Ok(request?.opening().to_owned())).collect()
    }
}

impl Surroundings for EarlierJudgements<'_> {
    fn judged_before(&self) -> Result<&[JudgedSplit], Error> {
        let judged = read_once(&self.judged, || {
            let mut judged = Vec::new();
            let earlier = self.split.map(|split| self.collection.earlier_splits(split));
            for before in earlier.unwrap_or_default() {
                if self.collection.has(before) {
                    judged.extend(self.judged(before)?);
                }
            }
            Ok(judged)
        })?;
        Ok(judged)
    }

    fn own_requests(&self) -> Result<&[String], Error> {
        let own = || self.split.map_or(Ok(Vec::new()), |split| self.requests(split));
        Ok(read_once(&self.own, own)?)
    }

    fn all_requests(&self) -> Result<&[String], Error> {
        let all = read_once(&self.all, || {
            let mut all: Vec<String> = Vec::new();
            for split in self.collection.available_splits() {
                for request in self.requests(split)? {
                    if !all.contains(&request) {
                        all.push(request);
                    }
                }
            }
            Ok(all)
        })?;
        Ok(all)
    }
}

/// The value of a cell, computed on first use.
pub fn read_once<T>(
    cell: &OnceLock<T>,
    make: impl FnOnce() -> Result<T, Error>,
) -> Result<&T, Error> {
    if let Some(value) = cell.get() {
        return Ok(value);
    }
    let value = make()?;
    Ok(cell.get_or_init(|| value))
}
