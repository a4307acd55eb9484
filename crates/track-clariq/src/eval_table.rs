//! `ClariQ`'s evaluation tables: the quality of the documents retrieved after a question was asked
//! and answered, by metric, facet (or conversation) and question.
//!
//! They are Python pickles of `{metric: {context: {question: {"with_answer": score, "no_answer":
//! score}}}}`, plain, packed, or in pieces.

use crate::read_dictionaries;
use clariq_collections::DataDir;
use clariq_collections::entries::Entries;
use clariq_core::{Error, FacetId, ProblemKind, parse_json, problem};
use clariq_files::Source;
use clariq_files::archive::{Archive, ExpectedContent};
use indexmap::{IndexMap, IndexSet};
use serde::Deserialize;
use std::fmt;
use std::ops::ControlFlow;

/// The candidate that represents the worst question of a context. A question that is not a candidate
/// has its score.
pub const WORST: &str = "MIN";
/// The candidate that represents the best question of a context.
pub const BEST: &str = "MAX";

/// The form of an evaluation table, for messages.
pub(super) const FORM: ExpectedContent = ExpectedContent {
    what: "an evaluation table",
    hint: "a table is `{metric: {context: {question: {\"with_answer\": score}}}}`, written by Python's pickle",
};

/// The number of keys above the scores of a context: its metric and its id.
pub(super) const DEPTH: usize = 2;

/// The query that documents are retrieved with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum RetrievedWith {
    /// The request, the question and its answer.
    Answer,
    /// The request and the question.
    QuestionAlone,
}

/// The key of scores in a table.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(untagged, expecting = "the number of a conversation or the id of a facet")]
pub enum ContextId {
    /// A conversation, in the multi-turn tables.
    Number(i64),
    /// A facet, in the single-turn tables.
    Facet(FacetId),
}

impl From<&str> for ContextId {
    fn from(facet: &str) -> Self {
        Self::Facet(facet.into())
    }
}

impl From<i64> for ContextId {
    fn from(number: i64) -> Self {
        Self::Number(number)
    }
}

impl fmt::Display for ContextId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Facet(facet) => facet.fmt(f),
        }
    }
}

/// The file of the table `stem` in a data folder, or its pieces; `None` if there are neither.
pub fn locate(data: &DataDir, stem: &str) -> Option<Vec<Source>> {
    let packed = format!("{stem}.pkl.tar.gz");
    if let Some(source) = data.file(&format!("{stem}.pkl")).or_else(|| data.file(&packed)) {
        return Some(vec![source]);
    }
    // The names that the command `split` gives to pieces.
    let suffixes = ('a'..='z').flat_map(|first| ('a'..='z').map(move |second| (first, second)));
    let mut pieces = Vec::new();
    for (first, second) in suffixes {
        let Some(piece) = data.file(&format!("{packed}.{first}{second}")) else { break };
        pieces.push(piece);
    }
    (!pieces.is_empty()).then_some(pieces)
}

/// An evaluation table in memory: up to about ten million scores.
#[derive(Debug, Default)]
pub struct EvalTable {
    /// The distinct questions. Scores refer to them by position.
    questions: IndexSet<Box<str>>,
    metrics: IndexMap<String, QuestionsByContext>,
}

/// The questions of each context, with their scores.
type QuestionsByContext = IndexMap<ContextId, Vec<(u32, Option<f64>)>>;

impl EvalTable {
    /// Reads the table `stem` of a data folder, such as `single_turn_train_eval`: `stem.pkl`, else
    /// `stem.pkl.gz`, else `stem.pkl.tar.gz`, else the pieces `stem.pkl.tar.gz.aa`, `.ab` and so
    /// on.
    pub fn open(data: &DataDir, stem: &str) -> Result<Self, Error> {
        Self::open_of(data, stem, RetrievedWith::Answer)
    }

    /// Like [`EvalTable::open`], with the scores of one kind of retrieval.
    pub fn open_of(data: &DataDir, stem: &str, with: RetrievedWith) -> Result<Self, Error> {
        let sources = locate(data, stem).ok_or_else(|| {
            problem!(
                data.to_string(),
                "`{stem}.pkl`, `.pkl.gz`, `.pkl.tar.gz`, or its pieces `.pkl.tar.gz.aa`, `.ab`, …",
                "none of them",
                "not every split has a released table, and those are fetched with --all"
            )
            .kind(ProblemKind::MissingData)
        })?;
        Self::read_of(&sources, with)
    }

    /// Reads a table from one file, or from its pieces in order. The packing is recognised by the
    /// content.
    pub fn read(sources: &[Source]) -> Result<Self, Error> {
        Self::read_of(sources, RetrievedWith::Answer)
    }

    fn read_of(sources: &[Source], with: RetrievedWith) -> Result<Self, Error> {
        let file = Archive::of_at_most(crate::MOST_OF_A_PICKLE, sources, &FORM)?;
        let mut table = Self::default();
        read_dictionaries(&file, DEPTH, &mut |line| {
            let (metric, context, questions): (String, ContextId, Entries<Scores>) =
                parse_json(file.name(), line)
                    .map_err(|problem| file.problem(&problem.expected, problem.found))?;
            let scores = questions.0.into_iter().map(|(question, scores)| {
                let score = match with {
                    RetrievedWith::Answer => scores.with_answer,
                    RetrievedWith::QuestionAlone => scores.no_answer,
                };
                (question, score)
            });
            table.insert(&metric, context, scores);
            Ok(ControlFlow::Continue(()))
        })?;
        Ok(table)
    }

    /// Adds a context. Of two with one id, the later one counts, as in Python.
    pub(super) fn insert(
        &mut self,
        metric: &str,
        context: ContextId,
        questions: impl Iterator<Item = (String, Option<f64>)>,
    ) {
        let mut rows = Vec::new();
        for (question, score) in questions {
            let known = self.questions.get_index_of(&*question);
            let place =
                known.unwrap_or_else(|| self.questions.insert_full(question.into_boxed_str()).0);
            rows.push((place as u32, score));
        }
        if !self.metrics.contains_key(metric) {
            self.metrics.insert(metric.to_owned(), QuestionsByContext::new());
        }
        self.metrics[metric].insert(context, rows);
    }

    /// True if any question has a score: not every table has scores without the answer.
    pub fn has_scores(&self) -> bool {
        let questions = self.metrics.values().flat_map(QuestionsByContext::values).flatten();
        questions.into_iter().any(|(_, score)| score.is_some())
    }

    /// The metrics in file order.
    pub fn metrics(&self) -> impl ExactSizeIterator<Item = MetricTable<'_>> {
        let questions = &self.questions;
        self.metrics.iter().map(|(name, contexts)| MetricTable { questions, name, contexts })
    }

    /// The part of the table that belongs to a metric.
    pub fn metric(&self, name: &str) -> Option<MetricTable<'_>> {
        self.metrics().find(|metric| metric.name == name)
    }
}

/// The scores of a question.
#[derive(Deserialize)]
struct Scores {
    with_answer: Option<f64>,
    no_answer: Option<f64>,
}

/// The part of a table that belongs to one metric.
#[derive(Clone, Copy)]
pub struct MetricTable<'a> {
    questions: &'a IndexSet<Box<str>>,
    /// The metric's name.
    pub name: &'a str,
    contexts: &'a QuestionsByContext,
}

impl<'a> MetricTable<'a> {
    /// The contexts in file order.
    pub fn contexts(self) -> impl ExactSizeIterator<Item = (&'a ContextId, ContextScores<'a>)> {
        let questions = self.questions;
        self.contexts.iter().map(move |(id, rows)| (id, ContextScores { questions, rows }))
    }

    /// The context of that id, if there are scores for it.
    pub fn context(self, id: &ContextId) -> Option<ContextScores<'a>> {
        let rows = self.contexts.get(id)?;
        Some(ContextScores { questions: self.questions, rows })
    }
}

/// A context of a metric: a few candidates and their scores.
#[derive(Clone, Copy)]
pub struct ContextScores<'a> {
    questions: &'a IndexSet<Box<str>>,
    rows: &'a [(u32, Option<f64>)],
}

impl<'a> ContextScores<'a> {
    /// The candidates in file order, [`WORST`] and [`BEST`] among them, with their scores.
    pub fn questions(self) -> impl ExactSizeIterator<Item = (&'a str, Option<f64>)> {
        let Self { questions, rows } = self;
        rows.iter().map(|&(place, score)| (&*questions[place as usize], score))
    }

    /// The score of a question, which may be [`WORST`] or [`BEST`].
    pub fn score(self, question: &str) -> Option<f64> {
        let place = self.questions.get_index_of(question)? as u32;
        self.rows.iter().find(|(other, _)| *other == place)?.1
    }
}
