//! `ClariQ` in a data folder or in the sample inside the program: a question bank, and the splits
//! beside it.

use crate::labelled::{Facet, Labelled, LabelledTopic, parse_requests, read_requests};
use crate::question_bank::read_question_bank;
use crate::splits;
use clariq_collections::documents::Bank;
use clariq_collections::{Collection, DataDir, Release, Split, Task, embedded, read_once};
use clariq_core::{Documents, Error, FacetId, Problem, ProblemKind, RequestId, TrainOn, problem};
use clariq_files::{MOST_OF_A_TABLE, Source};
use std::collections::HashMap;
use std::sync::OnceLock;

/// The task of the collection.
pub const QUESTIONS: Task = Task::new("questions");

/// The sample collection, as it is in `data/sample`.
pub const SAMPLE: DataDir = DataDir::Sample(embedded![
    "sample",
    "question_bank.tsv",
    "train.tsv",
    "dev.tsv",
    "test.tsv",
    "test_with_labels.tsv",
    "train.qrel",
    "dev.qrel",
    "multi_turn_human_generated_data.tsv",
]);

/// All files that any command reads, at the commit that their digests belong to.
pub(super) const RELEASE: Release = Release {
    at: "https://raw.githubusercontent.com/aliannejadi/ClariQ/46885a544581a0af8aff0681d29e4971807e2912/data/",
    table: include_str!("../released/clariq.tsv"),
};

/// The requests of one split, and its labels if the folder has them.
#[derive(Debug, Clone)]
pub struct SplitData {
    /// The requests in file order.
    pub topics: Vec<LabelledTopic>,
    /// The labels; `None` if only the requests were released.
    pub labels: Option<Labelled>,
}

/// A question bank, and the splits beside it, which are read on each use.
#[derive(Debug, Clone)]
pub struct ClariQ {
    pub data: DataDir,
    /// All questions.
    pub bank: Bank,
    /// Set once the splits were found to have no topic in common.
    is_disjoint: OnceLock<()>,
}

impl ClariQ {
    /// Opens a collection and reads its question bank.
    pub fn open(data: DataDir) -> Result<Self, Error> {
        check_single(&data)?;
        let bank = read_question_bank(&data.require("question_bank.tsv")?)?;
        Ok(Self { data, bank, is_disjoint: OnceLock::new() })
    }

    /// A collection as `ClariQ`, for features that only `ClariQ` has: facets, need labels, evaluation
    /// tables, and its official scorer.
    pub fn of(collection: &dyn Collection) -> Result<&Self, Problem> {
        collection.downcast().ok_or_else(|| {
            let kind = collection.kind();
            let location = collection.location();
            let hint = "this needs ClariQ's facets, need labels, tables or official scorer; choose \
                        another folder with --data";
            problem!("--data", "a ClariQ collection", "{kind} in {location}", hint)
        })
    }

    /// True if the folder has the requests (and, if `labels`, also the labels) of a split.
    pub fn has(&self, split: Split, labels: bool) -> bool {
        self.data.file(splits::labelled_file(split)).is_some()
            || (!labels && split == splits::TEST && self.data.file("test.tsv").is_some())
    }

    /// The file with the requests of a split: the one with its labels, if it is there.
    pub(crate) fn requests_file(&self, split: Split) -> Result<Source, Error> {
        let labelled = splits::labelled_file(split);
        if split == splits::TEST && self.data.file(labelled).is_none() {
            return self.data.require("test.tsv");
        }
        self.data.require(labelled)
    }

    /// Refuses topics and facets that are in two splits.
    fn check_splits(&self) -> Result<(), Error> {
        read_once(&self.is_disjoint, || {
            let mut disjoint = Disjoint::default();
            for split in splits::ALL {
                if !self.has(split, false) {
                    continue;
                }
                let input = self.requests_file(split)?.read_at_most(MOST_OF_A_TABLE)?;
                // Whoever uses the split reports its other problems.
                let found = if self.has(split, true) {
                    disjoint.add(&Labelled::parse(&input, &mut |_| {}))
                } else {
                    disjoint.add_topics(&input.name, &parse_requests(&input, &mut |_| {}))
                };
                if let Some(problem) = found.into_iter().next() {
                    return Err(problem.into());
                }
            }
            Ok(())
        })
        .copied()
    }

    /// Reads a split. Every question that it names must be in the bank, and no other split may have
    /// its topics.
    pub fn split(&self, split: Split) -> Result<SplitData, Error> {
        self.check_splits()?;
        let source = self.requests_file(split)?;
        if !self.has(split, true) {
            return Ok(SplitData { topics: read_requests(&source)?, labels: None });
        }
        let labelled = Labelled::read(&source)?;
        if let Some(problem) = unknown_questions(&labelled, &self.bank).next() {
            return Err(problem.into());
        }
        Ok(SplitData { topics: labelled.topics.clone(), labels: Some(labelled) })
    }

    /// Reads a split that must have labels.
    pub fn labelled(&self, split: Split) -> Result<Labelled, Error> {
        self.split(split)?.labels.ok_or_else(|| {
            problem!(
                self.data.path_of(splits::labelled_file(split)),
                "the labels of {split}",
                "a folder with only the requests",
                "the labels of test are held out: use --split dev, or add that file if you have it"
            )
            .kind(ProblemKind::MissingFile)
            .into()
        })
    }

    /// The labels that a model is trained on, joined.
    pub fn training_labels(&self, train_on: TrainOn) -> Result<Labelled, Error> {
        let mut labelled = self.labelled(splits::TRAIN)?;
        if train_on == TrainOn::TrainAndDev {
            labelled.append(self.labelled(splits::DEV)?);
        }
        Ok(labelled)
    }
}

/// The topics and facets of the splits that were read, each with its file.
#[derive(Default)]
pub(crate) struct Disjoint {
    topics: HashMap<RequestId, String>,
    facets: HashMap<FacetId, String>,
}

impl Disjoint {
    /// Adds a split, and returns a problem for each topic and facet that another split has.
    pub(crate) fn add(&mut self, labelled: &Labelled) -> Vec<Problem> {
        let name = &labelled.name;
        let mut problems = self.add_topics(name, &labelled.topics);
        for Facet { id, .. } in &labelled.facets {
            if let Some(other) = self.facets.insert(id.clone(), name.clone()) {
                let hint = "a facet has one topic, and a system must not be measured on topics that it \
                            learned from";
                let found = format!("`{id}`, which is in {other} too");
                problems.push(problem!(&**name, "facets of this split alone", found, hint));
            }
        }
        problems
    }

    /// Adds the topics of a split, and returns a problem for each that another split has.
    pub(crate) fn add_topics(&mut self, name: &str, topics: &[LabelledTopic]) -> Vec<Problem> {
        let mut problems = Vec::new();
        for LabelledTopic { id, .. } in topics {
            if let Some(other) = self.topics.insert(id.clone(), name.to_owned()) {
                let hint = "a system must not be measured on topics that it learned from";
                let found = format!("`{id}`, which is in {other} too");
                problems.push(problem!(name, "topics of this split alone", found, hint));
            }
        }
        problems
    }
}

/// Refuses two files for one thing.
pub(crate) fn check_single(data: &DataDir) -> Result<(), Error> {
    let files = RELEASE.files();
    // Other files may stand beside what was unpacked or converted of them.
    let tables = files.iter().map(|file| file.name);
    let tables = tables.filter(|name| matches!(name.rsplit_once('.'), Some((_, "tsv" | "qrel"))));
    data.check_single(&[""], tables)
}

/// A problem for each row whose question is not in the bank.
pub(crate) fn unknown_questions<'a>(
    labelled: &'a Labelled,
    bank: &'a Bank,
) -> impl Iterator<Item = Problem> + 'a {
    labelled.rows.iter().filter(|row| bank.find(row.question.as_str()).is_none()).map(|row| {
        problem!(
            (&*labelled.name, row.line),
            "a question id of question_bank.tsv",
            (format!("`{}`", row.question)),
            "the bank and the labels must come from the same release"
        )
    })
}
