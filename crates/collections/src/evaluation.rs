//! The evaluation of files by a collection: its cases (requests, facets of one, turns) with their scores.
//! Means, tables, comparisons and pages are made of them. A collection without definitions of its own is
//! scored by its judgements ([`ByQrels`]).

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
use clariq_eval::{Measure, Score, Ties};
use clariq_files::{Run, Source};
pub use spelling::{other_spellings, spelled_otherwise, unknown_spelled_otherwise};
pub use warnings::{ONE_SCORE, ScoredTopics, ignored_lines, warn_of_short};

/// Scores files over one split of a collection.
pub trait Evaluation: Sync {
    /// The scores of answers, case by case, and their rankings.
    fn cases(&self, answers: Answers, by: &ScoreOptions) -> Result<Cases, Error>;

    /// Problems of the labels that do not prevent scoring.
    fn warnings(&self) -> &[String] {
        &[]
    }

    /// The request of a case that is none itself, such as a facet of a topic.
    fn request_of(&self, _case: &RequestId) -> Option<&RequestId> {
        None
    }

    /// The order of equal scores in the collection's own scores, unless another is asked for.
    fn usual_ties(&self) -> Ties {
        Ties::Id
    }

    /// The position of the score that requests are compared by.
    fn focus(&self) -> usize {
        0
    }
}

/// The answers that are scored.
#[derive(Clone, Copy)]
pub enum Answers<'a> {
    /// A file: a run, a submission, or predicted needs.
    File(&'a Source),
    /// A ranking without a file.
    Run(&'a Run),
}

/// How answers are scored.
#[derive(Debug, Clone, Copy, Default)]
pub struct ScoreOptions<'a> {
    /// The part of the answers, such as a task; all, or the usual one, if none is named.
    pub part: Option<&'a str>,
    /// Standard measures in place of the usual ones.
    pub measures: &'a [Measure],
    /// The order of equal scores, if it is not the usual one.
    pub ties: Option<TieRule>,
    /// The number of documents for a topic that the system of the run might have ranked, if known.
    pub depth: Option<usize>,
}

/// The order of equal scores.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TieRule {
    /// One order, and so one score per measure.
    Order(Ties),
    /// All orders: the lowest and the highest scores.
    Interval,
}

impl ScoreOptions<'_> {
    /// The order of equal scores; the `usual` one for an interval, too.
    pub fn order(&self, usual: Ties) -> Ties {
        match self.ties {
            Some(TieRule::Order(ties)) => ties,
            None | Some(TieRule::Interval) => usual,
        }
    }
}

/// The cases of answers.
#[derive(Default)]
pub struct Cases {
    pub scores: Vec<Score>,
    /// Tables of a collection's own, as of decisions.
    pub tables: Vec<ScoreTable>,
    /// The rankings of a file, where it has those of one task.
    pub rankings: Option<Rankings>,
    /// Parts of the answers that the scores ignore.
    pub warnings: Vec<String>,
}

impl Cases {
    pub fn new(scores: Vec<Score>, warnings: Vec<String>) -> Self {
        Self { scores, warnings, ..Self::default() }
    }

    /// The scores by which files are compared, those of a part together, with a warning of measures with
    /// a cut-off beyond the depth of the run.
    #[must_use]
    pub fn compared(mut self) -> Self {
        let mut compared: Vec<Score> = Vec::with_capacity(self.scores.len());
        for score in self.scores.drain(..).filter(|it| it.is_compared) {
            let same_part = compared.iter().rposition(|it| it.part == score.part);
            compared.insert(same_part.map_or(compared.len(), |last| last + 1), score);
        }
        self.warnings.extend(warn_of_short(&compared, Score::name));
        Self { scores: compared, ..self }
    }
}

/// The rankings of a file.
pub struct Rankings {
    /// The task that they are for, where the file says it.
    pub task: Option<Task>,
    pub run: Run,
}

/// A table of a collection's own scores.
#[derive(Debug, Clone, PartialEq)]
pub struct ScoreTable {
    /// The name in JSON.
    pub name: &'static str,
    pub header: Vec<&'static str>,
    pub rows: Vec<Vec<ScoreCell>>,
}

/// A cell of a [`ScoreTable`].
#[derive(Debug, Clone, PartialEq)]
pub enum ScoreCell {
    Text(String),
    Count(usize),
    /// A score, and the digits that a table shows.
    Score(f64, usize),
    Empty,
}
