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
    pub name: String,
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

/// A figure under the name of its row; `None` if it does not apply to the split.
pub type Figure = (String, Option<Amount>);

/// A figure of a split.
pub fn figure(name: impl Into<String>, amount: Option<impl Into<Amount>>) -> Figure {
    (name.into(), amount.map(Into::into))
}

impl Statistics {
    /// The rows of the splits, which have the same figures, and below them those of the documents, which have a
    /// column of their own.
    pub fn new(
        splits: &[(&'static str, Vec<Figure>)],
        (documents, amounts): (&'static str, &[(&'static str, Amount)]),
        named: Value,
    ) -> Self {
        let mut rows = Vec::new();
        let first = splits.first().map_or(&[][..], |(_, figures)| figures.as_slice());
        for (place, (name, _)) in first.iter().enumerate() {
            let amounts = splits.iter().map(|(_, figures)| figures.get(place)?.1);
            rows.push(StatisticsRow {
                name: name.clone(),
                amounts: amounts.chain([None]).collect(),
            });
        }
        for (name, amount) in amounts {
            let mut amounts = vec![None; splits.len()];
            amounts.push(Some(*amount));
            rows.push(StatisticsRow { name: (*name).to_owned(), amounts });
        }
        let columns = splits.iter().map(|(name, _)| *name).chain([documents]).collect();
        Self { columns, rows, named }
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
