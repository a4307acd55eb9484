//! The evaluation of runs by a collection: figures, and values per request for comparisons. A
//! collection without definitions of its own is scored by its judgements ([`ByQrels`]).

mod by_qrels;
mod decisions;
pub(crate) mod spelling;
mod warnings;

pub use by_qrels::{ByQrels, USUAL_MEASURES};
pub use decisions::{
    ASKS_FROM, DECISION_COLUMNS, ReadNeeds, check_needs, decision_rows, is_need_file, need_table,
    other_scale, parse_needs,
};

use crate::Task;
use clariq_core::{Error, RequestId};
use clariq_eval::{Column, Measure, Ties};
use clariq_files::{Run, Source, read_run};
pub use spelling::spelled_otherwise;
use std::path::{Path, PathBuf};
pub use warnings::{ONE_SCORE, ScoredTopics, ShortMeasures, counted, ignored_lines};

/// Scores runs over one split of a collection.
pub trait Evaluation: Sync {
    /// Scores one file.
    fn score(&self, request: &EvalRequest) -> Result<EvalResult, Error>;

    /// Problems of the labels that do not prevent scoring.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// The figures of what a system wrote, under the names that configurations give them.
    fn figures(&self, written: &SystemOutput) -> Result<EvalResult, Error>;

    /// The value of a measure for every judged case, where the collection has a definition of its own.
    /// A case is a request, or one of several that belong to a request.
    fn values(
        &self,
        _run: &Run,
        _measure: &Measure,
    ) -> Result<Option<Vec<(RequestId, f64)>>, Error> {
        Ok(None)
    }

    /// The request of a case that is none itself, such as a facet of a topic.
    fn request_of(&self, _case: &RequestId) -> Option<&RequestId> {
        None
    }

    /// The values of a run request by request. Every run has the same columns.
    fn columns(&self, run: &Source, by: &ComparisonOptions) -> Result<ValuesByRequest, Error>;

    /// The rankings of a file: the lines of a TREC run, and what a submission ranks for the part that is
    /// compared.
    fn rankings(&self, file: &Source, _part: Option<&str>) -> Result<FileRankings, Error> {
        Ok(FileRankings { task: None, run: read_run(file)? })
    }

    /// The order of equal scores in the collection's own figures, unless another is asked for.
    fn usual_ties(&self) -> Ties {
        Ties::Id
    }

    /// The position of the column that requests are compared by.
    fn focus(&self) -> usize {
        0
    }
}

/// The rankings of a file.
pub struct FileRankings {
    /// The task that they are for, where the file says it.
    pub task: Option<Task>,
    pub run: Run,
}

/// The order of equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieRule {
    /// One order, and so one figure per measure.
    Order(Ties),
    /// All orders: the lowest and the highest figures.
    Interval,
}

/// A file to score by measures.
#[derive(Default)]
pub struct EvalRequest<'a> {
    pub file: PathBuf,
    /// Standard measures in place of the collection's own.
    pub measures: &'a [Measure],
    /// The order of equal scores, if it is not the usual one.
    pub ties: Option<TieRule>,
    /// True if the figures of every topic are wanted.
    pub by_topic: bool,
    /// The number of documents for a topic that the system of the run might have ranked, if known.
    pub depth: Option<usize>,
}

/// The figures of a file.
#[derive(Default)]
pub struct EvalResult {
    /// Names and means; with [`TieRule::Interval`] the lowest.
    pub figures: Vec<(String, f64)>,
    /// With [`TieRule::Interval`] the highest.
    pub highest: Option<Vec<f64>>,
    /// The values of every topic for each of the figures, where there is one order.
    pub topics: Vec<Column>,
    /// The names of figures with a cut-off beyond the depth of the run.
    pub short: Vec<String>,
    /// Parts of the file that the figures ignore.
    pub warnings: Vec<String>,
    /// Notes to print beside the figures.
    pub notes: Vec<String>,
    /// The form in which figures are printed.
    pub form: FigureFormat,
    /// Text to print in place of the figures.
    pub text: Option<String>,
    /// Tables to print in place of the figures, and a note to print after them.
    pub tables: Vec<ResultTable>,
    pub legend: Option<&'static str>,
}

/// A table of a collection's own figures.
#[derive(Debug, Clone, PartialEq)]
pub struct ResultTable {
    /// The name in JSON.
    pub name: &'static str,
    pub header: Vec<&'static str>,
    pub rows: Vec<Vec<ResultCell>>,
}

/// A cell of a [`ResultTable`].
#[derive(Debug, Clone, PartialEq)]
pub enum ResultCell {
    Text(String),
    Count(usize),
    /// A figure, and the digits that a table shows.
    Figure(f64, usize),
    Empty,
}

/// The form in which figures are printed.
#[derive(Debug, Clone, Copy, Default)]
pub enum FigureFormat {
    /// A table of measures and their values.
    #[default]
    Table,
    /// A table with a column of topics, in which `all` is the mean.
    Topics,
    /// Lines as the official scorer prints them, unless the user asks for a table.
    Lines(fn(&str, f64) -> String),
}

/// The output of a system for a split.
pub struct SystemOutput<'a> {
    /// The run or the submission.
    pub path: &'a Path,
    /// The run, in a system of one task.
    pub run: Option<&'a Run>,
    /// The need file, where the system predicts needs.
    pub need: Option<PathBuf>,
    /// Reads the complete ranking of a task beside a submission.
    pub ranking: &'a dyn Fn(Task) -> Result<Run, Error>,
    /// The names of the figures that are expected.
    pub expected: Vec<&'a str>,
}

/// The measures of a comparison.
#[derive(Clone, Copy, Default)]
pub struct ComparisonOptions<'a> {
    /// The part of the runs, such as a task; all, or the usual one, if none is named.
    pub part: Option<&'a str>,
    /// Standard measures in place of the usual ones.
    pub measures: &'a [Measure],
    /// The order of equal scores, if it is not the usual one.
    pub ties: Option<Ties>,
    /// The number of documents for a topic that the system of the run might have ranked, if known.
    pub depth: Option<usize>,
}

/// A run request by request.
pub struct ValuesByRequest {
    /// The values by each measure.
    pub columns: Vec<Column>,
    /// Parts of the runs that the figures ignore.
    pub warnings: Vec<String>,
}

impl ValuesByRequest {
    /// Warns of measures with a cut-off beyond the depth of the run.
    pub fn new(columns: Vec<Column>, mut warnings: Vec<String>) -> Self {
        warnings.extend(ShortMeasures::of(&columns).warning());
        Self { columns, warnings }
    }
}
