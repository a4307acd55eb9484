//! Statistics of a collection, as a table and by name.

use clariq_core::{Doc, Documents, Error};
use serde_json::Value;

/// The counts of a collection: a row for each figure, and a column for each split and for the
/// documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// The names of the columns.
    pub columns: Vec<&'static str>,
    pub rows: Vec<StatisticsRow>,
    /// The same figures by name, for programs.
    pub named: Value,
}

/// A figure, with a value per column.
#[derive(Debug, Clone, PartialEq)]
pub struct StatisticsRow {
    /// The name of the count.
    pub name: &'static str,
    /// A value for each column; `None` if the figure does not apply to it.
    pub amounts: Vec<Option<Amount>>,
}

/// A value of a table of statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    Count(usize),
    Mean(f64),
}

impl From<usize> for Amount {
    fn from(count: usize) -> Self {
        Self::Count(count)
    }
}

impl From<f64> for Amount {
    fn from(mean: f64) -> Self {
        Self::Mean(mean)
    }
}

/// A figure of a split by the name of its row.
pub type StatisticsFigure<S> = (&'static str, fn(&S) -> Option<Amount>);

impl Statistics {
    /// The rows of the splits, and below them those of the documents, which have a column of their
    /// own.
    pub fn new<S>(
        splits: &[(&'static str, S)],
        figures: &[StatisticsFigure<S>],
        (documents, amounts): (&'static str, &[(&'static str, Amount)]),
        named: Value,
    ) -> Self {
        let of_splits = figures.iter().map(|(name, figure)| {
            let amounts = splits.iter().map(|(_, split)| figure(split));
            StatisticsRow { name, amounts: amounts.chain([None]).collect() }
        });
        let of_documents = amounts.iter().map(|(name, amount)| {
            let none = splits.iter().map(|_| None);
            StatisticsRow { name, amounts: none.chain([Some(*amount)]).collect() }
        });
        let columns = splits.iter().map(|(name, _)| *name).chain([documents]).collect();
        Self { columns, rows: of_splits.chain(of_documents).collect(), named }
    }
}

/// Counts of the words of texts, which are separated by white space.
#[derive(Debug, Clone, Copy, Default, PartialEq)]
pub struct WordCounts {
    /// The number of texts.
    pub texts: usize,
    /// The average number of words; 0 without texts.
    pub mean: f64,
    /// The number of words of the longest text.
    pub longest: usize,
}

impl WordCounts {
    pub fn of<'t>(texts: impl IntoIterator<Item = &'t str>) -> Self {
        let count = |text: &str| text.split_whitespace().count();
        Self::of_counts(&texts.into_iter().map(count).collect::<Vec<_>>())
    }

    /// Counts the words of documents. Their texts may be on disk, so only the counts are kept in
    /// memory.
    pub fn of_documents(documents: &dyn Documents) -> Result<Self, Error> {
        let count = |doc| Ok(documents.text(doc)?.split_whitespace().count());
        let counts = Doc::all(documents.len()).map(count).collect::<Result<Vec<_>, Error>>()?;
        Ok(Self::of_counts(&counts))
    }

    fn of_counts(counts: &[usize]) -> Self {
        Self {
            texts: counts.len(),
            mean: mean(counts),
            longest: counts.iter().copied().max().unwrap_or(0),
        }
    }
}

/// The mean of counts; 0 without any.
pub fn mean(counts: &[usize]) -> f64 {
    if counts.is_empty() { 0.0 } else { counts.iter().sum::<usize>() as f64 / counts.len() as f64 }
}
