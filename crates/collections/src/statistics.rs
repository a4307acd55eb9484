//! Statistics of a collection, as a table and by name.

use serde_json::Value;

/// The counts of a collection: a row for each figure, and a column for each split and for the
/// documents.
#[derive(Debug, Clone, PartialEq)]
pub struct Statistics {
    /// The names of the columns.
    pub columns: Vec<&'static str>,
    /// The rows.
    pub rows: Vec<StatisticsRow>,
    /// The same figures by name, for programs.
    pub named: Value,
}

/// One figure of every column.
#[derive(Debug, Clone, PartialEq)]
pub struct StatisticsRow {
    /// What is counted.
    pub name: &'static str,
    /// A value for each column, where it has one.
    pub amounts: Vec<Option<Amount>>,
}

/// A value of a table of statistics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Amount {
    /// How many.
    Count(usize),
    /// How many on average.
    Mean(f64),
}

/// Words of a text, separated by white space.
pub(crate) fn count_words(text: &str) -> usize {
    text.split_whitespace().count()
}

/// The mean of some counts; 0 of none.
pub(crate) fn mean(counts: &[usize]) -> f64 {
    if counts.is_empty() { 0.0 } else { counts.iter().sum::<usize>() as f64 / counts.len() as f64 }
}
