//! How good the documents are that a search finds once a question was asked and answered:
//! `ClariQ`'s evaluation tables hold the published figures, per metric, facet (or conversation) and
//! question.
//!
//! They are Python pickles of `{metric: {context: {question: {"with_answer": figure}}}}`, plain,
//! packed, or in pieces. [`EvalTable::open`] finds and reads them without Python, within about the
//! size of the unpacked file. What else they say of a question (`no_answer`) is passed over.

mod fold;

use crate::clariq::collection::DataDir;
use crate::clariq::unreadable;
use clariq_core::{Error, FacetId, ProblemKind, problem};
use clariq_files::Source;
use clariq_files::archive::{Archive, Form};
use clariq_pickle::{Plan, fold as fold_pickle};
use fold::Key;
use indexmap::{IndexMap, IndexSet};
use std::fmt;
use std::ops::Range;

/// The candidate that represents the worst question of a context: what an unsuitable question
/// counts as.
pub const WORST: &str = "MIN";
/// The candidate that represents the best question of a context.
pub const BEST: &str = "MAX";

/// What an evaluation table looks like, for messages.
const FORM: Form = Form {
    what: "an evaluation table",
    hint: "a table is `{metric: {context: {question: {\"with_answer\": figure}}}}`, written by Python's pickle",
};

/// What the figures of a table belong to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
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

/// The file of the table `stem` in a data folder, or its pieces; `None` where it has neither.
pub fn locate(data: &DataDir, stem: &str) -> Option<Vec<Source>> {
    let packed = format!("{stem}.pkl.tar.gz");
    if let Some(source) = data.file(&format!("{stem}.pkl")).or_else(|| data.file(&packed)) {
        return Some(vec![source]);
    }
    // The names that the command `split` gives to pieces.
    let suffixes = ('a'..='z').flat_map(|first| ('a'..='z').map(move |second| [first, second]));
    let piece = |[first, second]: [char; 2]| data.file(&format!("{packed}.{first}{second}"));
    let pieces: Vec<Source> = suffixes.map_while(piece).collect();
    (!pieces.is_empty()).then_some(pieces)
}

/// All names, each once; a symbol is the position of one.
type Symbols = IndexSet<Box<str>>;

/// An evaluation table: ten million figures in memory.
#[derive(Debug, Default)]
pub struct EvalTable {
    symbols: Symbols,
    /// By the symbols of their names.
    metrics: IndexMap<u32, Metric>,
}

impl EvalTable {
    /// Reads the table `stem` of a data folder, `single_turn_train_eval` say: `stem.pkl`, else
    /// `stem.pkl.gz`, else `stem.pkl.tar.gz`, else the pieces `stem.pkl.tar.gz.aa`, `.ab` and so
    /// on.
    pub fn open(data: &DataDir, stem: &str) -> Result<Self, Error> {
        let sources = locate(data, stem).ok_or_else(|| {
            problem!(
                data.to_string(),
                "`{stem}.pkl`, `.pkl.gz`, `.pkl.tar.gz`, or its pieces `.pkl.tar.gz.aa`, `.ab`, …",
                "none of them",
                "`clariq data fetch` downloads the released tables; not every split has one"
            )
            .kind(ProblemKind::MissingFile)
        })?;
        Self::read(&sources)
    }

    /// Reads a table from one file, or from the pieces of one in their order. What they are packed
    /// in is recognised by their content. They are read twice, except for standard input, which is
    /// held in memory.
    pub fn read(sources: &[Source]) -> Result<Self, Error> {
        let archive = Archive::new(sources, &FORM)?;
        let plan = archive.with_content(|reader| {
            Plan::scan(reader).map_err(|error| unreadable(&archive, error))
        })?;
        let mut tables = fold::Tables::default();
        let whole = archive.with_content(|reader| {
            fold_pickle(reader, &plan, &mut tables).map_err(|error| unreadable(&archive, error))
        })?;
        tables.finish(whole).map_err(|found| archive.problem(FORM.what, found))
    }

    /// The metrics in file order.
    pub fn metrics(&self) -> impl ExactSizeIterator<Item = MetricTable<'_>> {
        let symbols = &self.symbols;
        self.metrics.iter().map(|(&name, metric)| MetricTable {
            symbols,
            name: &symbols[name as usize],
            metric,
        })
    }

    /// The part of the table that belongs to a metric.
    pub fn metric(&self, name: &str) -> Option<MetricTable<'_>> {
        self.metrics().find(|metric| metric.name == name)
    }
}

/// The figures of one metric.
#[derive(Debug, Clone, Default)]
struct Metric {
    /// The rows of each context.
    contexts: IndexMap<Key, Range<usize>>,
    /// The symbol of a question and its figure, which is not a number where there is none.
    rows: Vec<(u32, f64)>,
}

/// The part of a table that belongs to one metric.
#[derive(Clone, Copy)]
pub struct MetricTable<'a> {
    symbols: &'a Symbols,
    /// The metric's name.
    pub name: &'a str,
    metric: &'a Metric,
}

impl<'a> MetricTable<'a> {
    /// The contexts in file order.
    pub fn contexts(self) -> impl ExactSizeIterator<Item = (ContextId, Context<'a>)> {
        self.metric.contexts.iter().map(move |(key, rows)| {
            let id = match *key {
                Key::Number(number) => ContextId::Number(number),
                Key::Text(symbol) => (&*self.symbols[symbol as usize]).into(),
            };
            (id, self.context_of(rows))
        })
    }

    /// The context of that id, if there are figures for it.
    pub fn context(self, id: &ContextId) -> Option<Context<'a>> {
        let key = match id {
            ContextId::Number(number) => Key::Number(*number),
            ContextId::Facet(facet) => Key::Text(self.symbols.get_index_of(facet.as_str())? as u32),
        };
        self.metric.contexts.get(&key).map(|rows| self.context_of(rows))
    }

    fn context_of(self, rows: &Range<usize>) -> Context<'a> {
        Context { symbols: self.symbols, rows: &self.metric.rows[rows.clone()] }
    }
}

/// A context of a metric: a few candidates and their figures with the answer.
#[derive(Clone, Copy)]
pub struct Context<'a> {
    symbols: &'a Symbols,
    rows: &'a [(u32, f64)],
}

impl<'a> Context<'a> {
    /// The candidates in file order, [`WORST`] and [`BEST`] among them, with their figures.
    pub fn questions(self) -> impl ExactSizeIterator<Item = (&'a str, Option<f64>)> {
        let Self { symbols, rows } = self;
        rows.iter().map(|&(question, figure)| (&*symbols[question as usize], number(figure)))
    }

    /// The figure of a question, which may be [`WORST`] or [`BEST`].
    pub fn figure(self, question: &str) -> Option<f64> {
        let symbol = self.symbols.get_index_of(question)? as u32;
        number(self.rows.iter().find(|(other, _)| *other == symbol)?.1)
    }
}

fn number(figure: f64) -> Option<f64> {
    (!figure.is_nan()).then_some(figure)
}
