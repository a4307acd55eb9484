//! How good are the documents that a search finds once a question was asked and answered? `ClariQ`'s evaluation
//! tables hold the published figures, per metric, facet (or conversation) and question.
//!
//! They are Python pickles of `{metric: {context: {question: {"no_answer": x, "with_answer": y}}}}`, plain, packed, or
//! in pieces. [`EvalTable::open`] finds and reads them without Python, within about the size of the unpacked file;
//! [`EvalTable::write_jsonl`] turns them into lines that any tool reads.
//!
//! ```
//! use clariq_collections::clariq::eval_table::{Builder, ContextId, Scores};
//!
//! let mut builder = Builder::default();
//! let scores = |with_answer| Scores { no_answer: None, with_answer: Some(with_answer) };
//! builder.add("P1", &ContextId::from("F0010"), [("Q00002", scores(0.5)), ("MIN", scores(0.0))])?;
//! let table = builder.finish()?;
//!
//! assert_eq!(table.value("P1", &"F0010".into(), "Q00002"), Some(0.5));
//! assert_eq!(table.value("P1", &"F0010".into(), "Q09999"), None);
//! # Ok::<(), String>(())
//! ```

mod columns;
mod convert;
mod fold;
mod locate;

pub use columns::Scores;
pub use locate::locate;

use crate::clariq::collection::DataDir;
use crate::clariq::pickled::unreadable;
use clariq_core::FacetId;
use clariq_core::{Error, ProblemKind};
use clariq_files::Source;
use clariq_files::archive::{Archive, Form};
use clariq_pickle::{Plan, fold as fold_pickle};
use columns::{Block, Key, Layout, Metric, Symbols};
use serde::{Deserialize, Serialize};
use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

/// The candidate that stands for the worst question of a context: what an unsuitable question counts as.
pub const WORST: &str = "MIN";
/// The candidate that stands for the best question of a context.
pub const BEST: &str = "MAX";

/// What an evaluation table looks like, for messages.
const FORM: Form = Form {
    kind: ProblemKind::EvalTable,
    what: "an evaluation table",
    hint: "a table is `{metric: {context: {question: {\"with_answer\": figure}}}}`, written by Python's pickle",
};

/// What the figures of a table belong to.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(untagged)]
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

/// An evaluation table.
#[derive(Clone, Default)]
pub struct EvalTable {
    symbols: Symbols,
    metrics: Vec<Metric>,
}

impl EvalTable {
    /// Reads the table `stem` of a data folder, `single_turn_train_eval` say: `stem.pkl`, else `stem.pkl.gz`, else
    /// `stem.pkl.tar.gz`, else the pieces `stem.pkl.tar.gz.aa`, `.ab` and so on.
    pub fn open(data: &DataDir, stem: &str) -> Result<Self, Error> {
        match locate(data, stem) {
            Some(sources) => Self::read(&sources),
            None => Err(locate::missing(data, stem)),
        }
    }

    /// Reads a table from one file, or from the pieces of one in their order. What they are packed in is recognised
    /// by their content. They are read twice, except for standard input, which is held in memory.
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
    pub fn metrics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.metrics.iter().map(|metric| self.symbols.text(metric.name))
    }

    /// The part of the table that belongs to a metric.
    pub fn metric(&self, name: &str) -> Option<MetricTable<'_>> {
        let symbol = self.symbols.find(name)?;
        let metric = self.metrics.iter().find(|metric| metric.name == symbol)?;
        Some(MetricTable { table: self, metric })
    }

    /// The contexts of a metric in file order; none if there is no such metric.
    pub fn contexts(&self, metric: &str) -> impl Iterator<Item = ContextId> {
        self.metric(metric).into_iter().flat_map(MetricTable::contexts)
    }

    /// Whether a metric has figures for a context.
    pub fn has_context(&self, metric: &str, context: &ContextId) -> bool {
        self.metric(metric).is_some_and(|metric| metric.has_context(context))
    }

    /// The figure with the answer to a question, which may be [`WORST`] or [`BEST`].
    pub fn value(&self, metric: &str, context: &ContextId, question: &str) -> Option<f64> {
        self.metric(metric)?.scores(context, question)?.with_answer
    }

    fn key(&self, context: &ContextId) -> Option<Key> {
        match context {
            ContextId::Number(number) => Some(Key::Number(*number)),
            ContextId::Facet(facet) => self.symbols.find(facet.as_str()).map(Key::Text),
        }
    }

    fn context(&self, key: Key) -> ContextId {
        match key {
            Key::Number(number) => ContextId::Number(number),
            Key::Text(symbol) => self.symbols.text(symbol).into(),
        }
    }
}

/// The same names and figures in the same order; a figure that is not a number equals itself.
impl PartialEq for EvalTable {
    fn eq(&self, other: &Self) -> bool {
        let all = |table: &Self| {
            table.metrics.iter().map(|metric| metric.layout.contexts.len()).collect::<Vec<_>>()
        };
        let bits = |scores: Scores| {
            (scores.no_answer.map(f64::to_bits), scores.with_answer.map(f64::to_bits))
        };
        all(self) == all(other)
            && self.metrics().eq(other.metrics())
            && self.entries().zip(other.entries()).all(|(one, two)| {
                one.context == two.context
                    && one
                        .questions()
                        .map(|(question, scores)| (question, bits(scores)))
                        .eq(two.questions().map(|(question, scores)| (question, bits(scores))))
            })
    }
}

impl fmt::Debug for EvalTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let metrics = self.metrics.iter().map(|metric| MetricTable { table: self, metric });
        f.debug_map().entries(metrics.map(|metric| (metric.name(), metric.len()))).finish()
    }
}

/// The part of a table that belongs to one metric.
#[derive(Clone, Copy)]
pub struct MetricTable<'a> {
    table: &'a EvalTable,
    metric: &'a Metric,
}

impl<'a> MetricTable<'a> {
    /// The metric's name.
    pub fn name(self) -> &'a str {
        self.table.symbols.text(self.metric.name)
    }

    /// The number of contexts.
    pub fn len(self) -> usize {
        self.metric.layout.contexts.len()
    }

    /// Whether there are no contexts.
    pub fn is_empty(self) -> bool {
        self.len() == 0
    }

    /// The contexts in file order.
    pub fn contexts(self) -> impl ExactSizeIterator<Item = ContextId> + 'a {
        self.metric.layout.contexts.iter().map(move |&key| self.table.context(key))
    }

    /// Whether there are figures for a context.
    pub fn has_context(self, context: &ContextId) -> bool {
        self.table.key(context).is_some_and(|key| self.metric.layout.find(key).is_some())
    }

    /// The figures of a question in a context.
    pub fn scores(self, context: &ContextId, question: &str) -> Option<Scores> {
        let row = self.metric.row(self.table.key(context)?, self.table.symbols.find(question)?)?;
        Some(self.metric.scores(row))
    }

    /// The candidates of a context in file order, [`WORST`] and [`BEST`] among them, with their figures.
    pub fn questions(
        self,
        context: &ContextId,
    ) -> Option<impl ExactSizeIterator<Item = (&'a str, Scores)>> {
        let place = self.metric.layout.find(self.table.key(context)?)?;
        Some(self.entry(place).questions())
    }

    /// Whether another metric has the same questions in the same contexts, so that a [`TableRow`] is one of both.
    pub fn shares_rows(self, other: Self) -> bool {
        Arc::ptr_eq(&self.metric.layout, &other.metric.layout)
    }

    /// The row of a question in the context at a position.
    pub fn row(self, context: usize, question: &str) -> Option<TableRow> {
        self.metric.row_in(context, self.table.symbols.find(question)?).map(TableRow)
    }

    /// The figures of a row of this metric, or of one that shares its rows.
    pub fn scores_in(self, TableRow(row): TableRow) -> Scores {
        self.metric.scores(row)
    }

    fn entry(self, place: usize) -> TableEntry<'a> {
        let context = self.table.context(self.metric.layout.contexts[place]);
        TableEntry { part: self, context, place }
    }
}

/// Where the figures of one question in one context are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableRow(usize);

/// One context of one metric.
#[derive(Clone)]
struct TableEntry<'a> {
    part: MetricTable<'a>,
    context: ContextId,
    place: usize,
}

impl<'a> TableEntry<'a> {
    fn questions(&self) -> impl ExactSizeIterator<Item = (&'a str, Scores)> + use<'a> {
        let MetricTable { table, metric } = self.part;
        let layout: &'a Layout = &metric.layout;
        layout
            .rows(self.place)
            .map(|row| (table.symbols.text(layout.questions[row]), metric.scores(row)))
    }
}

impl EvalTable {
    /// Every context of every metric, in file order.
    fn entries(&self) -> impl Iterator<Item = TableEntry<'_>> {
        self.parts().flat_map(|part| (0..part.len()).map(move |place| part.entry(place)))
    }

    fn parts(&self) -> impl ExactSizeIterator<Item = MetricTable<'_>> {
        self.metrics.iter().map(|metric| MetricTable { table: self, metric })
    }
}

/// Makes a table of contexts in any order.
#[derive(Default)]
pub struct Builder {
    symbols: Symbols,
    blocks: Vec<(u32, Block)>,
    places: HashMap<u32, usize>,
}

impl Builder {
    fn from_blocks(symbols: Symbols, blocks: Vec<(u32, Block)>) -> Self {
        Self { symbols, blocks, places: HashMap::new() }
    }

    fn block(&mut self, metric: &str) -> &mut Block {
        let name = self.symbols.intern(metric);
        let place = match self.places.entry(name) {
            Entry::Occupied(place) => *place.get(),
            Entry::Vacant(place) => {
                self.blocks.push((name, Block::default()));
                *place.insert(self.blocks.len() - 1)
            }
        };
        &mut self.blocks[place].1
    }

    /// Adds a metric, which may stay without contexts.
    pub fn add_metric(&mut self, metric: &str) {
        self.block(metric);
    }

    /// Adds a context to a metric. The error says which question is there twice.
    pub fn add<'a>(
        &mut self,
        metric: &str,
        context: &ContextId,
        questions: impl IntoIterator<Item = (&'a str, Scores)>,
    ) -> Result<(), String> {
        let key = match context {
            ContextId::Number(number) => Key::Number(*number),
            ContextId::Facet(facet) => Key::Text(self.symbols.intern(facet.as_str())),
        };
        let rows: Vec<_> =
            questions.into_iter().map(|(id, scores)| (self.symbols.intern(id), scores)).collect();
        self.block(metric).push(key, &rows).map_err(|twice| {
            let question = self.symbols.text(twice);
            format!("the question `{question}` twice in context {context} of metric `{metric}`")
        })
    }

    /// The table. The error says which metric or context is there twice.
    pub fn finish(self) -> Result<EvalTable, String> {
        let mut table =
            EvalTable { symbols: self.symbols, metrics: Vec::with_capacity(self.blocks.len()) };
        let mut seen = HashSet::with_capacity(self.blocks.len());
        for (name, block) in self.blocks {
            if !seen.insert(name) {
                return Err(format!("the metric `{}` twice", table.symbols.text(name)));
            }
            let metric = Metric::new(name, block, &table.metrics).map_err(|twice| {
                format!(
                    "the context {} twice in metric `{}`",
                    table.context(twice),
                    table.symbols.text(name)
                )
            })?;
            table.metrics.push(metric);
        }
        Ok(table)
    }
}
