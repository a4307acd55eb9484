//! How good the documents are that a search finds once a question was asked and answered:
//! `ClariQ`'s evaluation tables hold the published figures, per metric, facet (or conversation) and
//! question.
//!
//! They are Python pickles of `{metric: {context: {question: {"no_answer": x, "with_answer":
//! y}}}}`, plain, packed, or in pieces. [`EvalTable::open`] finds and reads them without Python,
//! within about the size of the unpacked file.
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
mod fold;

pub use columns::Scores;

use crate::clariq::collection::DataDir;
use crate::clariq::unreadable;
use clariq_core::{Error, FacetId, ProblemKind, problem};
use clariq_files::Source;
use clariq_files::archive::{Archive, Form};
use clariq_pickle::{Plan, fold as fold_pickle};
use columns::{Block, Key, Metric, Symbols};
use std::collections::{HashMap, HashSet};
use std::fmt;
use std::sync::Arc;

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

/// An evaluation table.
#[derive(Clone, Default)]
pub struct EvalTable {
    symbols: Symbols,
    metrics: Vec<Metric>,
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

    /// The names of the metrics in file order.
    pub fn metrics(&self) -> impl ExactSizeIterator<Item = &str> {
        self.parts().map(MetricTable::name)
    }

    /// The part of the table that belongs to a metric.
    pub fn metric(&self, name: &str) -> Option<MetricTable<'_>> {
        self.parts().find(|part| part.name() == name)
    }

    /// The figure with the answer to a question, which may be [`WORST`] or [`BEST`].
    pub fn value(&self, metric: &str, context: &ContextId, question: &str) -> Option<f64> {
        self.metric(metric)?.scores(context, question)?.with_answer
    }

    fn parts(&self) -> impl ExactSizeIterator<Item = MetricTable<'_>> {
        self.metrics.iter().map(|metric| MetricTable { table: self, metric })
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
        let bits = |(question, scores): (_, Scores)| {
            (question, [scores.no_answer, scores.with_answer].map(|score| score.map(f64::to_bits)))
        };
        self.metrics.len() == other.metrics.len()
            && self.parts().zip(other.parts()).all(|(one, two)| {
                one.name() == two.name()
                    && one.contexts().eq(two.contexts())
                    && (0..one.len())
                        .all(|at| one.questions_at(at).map(bits).eq(two.questions_at(at).map(bits)))
            })
    }
}

impl fmt::Debug for EvalTable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_map().entries(self.parts().map(|part| (part.name(), part.len()))).finish()
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
        self.find(context).is_some()
    }

    /// The figures of a question in a context.
    pub fn scores(self, context: &ContextId, question: &str) -> Option<Scores> {
        self.row(self.find(context)?, question).map(|row| self.scores_in(row))
    }

    /// The candidates of a context in file order, [`WORST`] and [`BEST`] among them, with their
    /// figures.
    pub fn questions(
        self,
        context: &ContextId,
    ) -> Option<impl ExactSizeIterator<Item = (&'a str, Scores)>> {
        self.find(context).map(|position| self.questions_at(position))
    }

    /// Whether another metric has the same questions in the same contexts, so that a [`TableRow`]
    /// is one of both.
    pub fn shares_rows(self, other: Self) -> bool {
        Arc::ptr_eq(&self.metric.layout, &other.metric.layout)
    }

    /// The row of a question in the context at a position.
    pub fn row(self, context: usize, question: &str) -> Option<TableRow> {
        self.metric.row(context, self.table.symbols.find(question)?).map(TableRow)
    }

    /// The figures of a row of this metric, or of one that shares its rows.
    pub fn scores_in(self, TableRow(row): TableRow) -> Scores {
        self.metric.scores(row)
    }

    /// The position of a context.
    fn find(self, context: &ContextId) -> Option<usize> {
        let key = match context {
            ContextId::Number(number) => Key::Number(*number),
            ContextId::Facet(facet) => Key::Text(self.table.symbols.find(facet.as_str())?),
        };
        self.metric.layout.find(key)
    }

    fn questions_at(self, position: usize) -> impl ExactSizeIterator<Item = (&'a str, Scores)> {
        let Self { table, metric } = self;
        let name = move |row: usize| table.symbols.text(metric.layout.questions[row]);
        metric.layout.rows(position).map(move |row| (name(row), metric.scores(row)))
    }
}

/// Where the figures of one question in one context are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TableRow(usize);

/// Makes a table of contexts in any order.
#[derive(Default)]
pub struct Builder {
    symbols: Symbols,
    blocks: Vec<(u32, Block)>,
    positions: HashMap<u32, usize>,
}

impl Builder {
    fn from_blocks(symbols: Symbols, blocks: Vec<(u32, Block)>) -> Self {
        Self { symbols, blocks, positions: HashMap::new() }
    }

    fn block(&mut self, metric: &str) -> &mut Block {
        let name = self.symbols.intern(metric);
        let position = *self.positions.entry(name).or_insert_with(|| {
            self.blocks.push((name, Block::default()));
            self.blocks.len() - 1
        });
        &mut self.blocks[position].1
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
            let metric = table.symbols.text(name);
            if !seen.insert(name) {
                return Err(format!("the metric `{metric}` twice"));
            }
            let twice =
                |key| format!("the context {} twice in metric `{metric}`", table.context(key));
            let metric = Metric::new(name, block, &table.metrics).map_err(twice)?;
            table.metrics.push(metric);
        }
        Ok(table)
    }
}
