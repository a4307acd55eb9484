//! Runs with their figures, and tests of each against the baseline.

use clariq_eval::{Column, Tested, test_against_baseline};

/// The accepted probability of any false mark on the page.
pub(crate) const LEVEL: f64 = 0.05;

/// A run with its figures.
pub(crate) struct Measured<'a> {
    pub(crate) name: &'a str,
    /// What it uses beyond one request and the documents.
    pub(crate) uses: &'a [String],
    /// The same measures and topics for all runs.
    pub(crate) columns: Vec<Column>,
}

/// All runs, in the order of the page.
pub(crate) struct Compared<'a> {
    pub(crate) runs: Vec<Measured<'a>>,
    /// The position of the run that the others are compared with.
    pub(crate) baseline: usize,
    /// Every other run against it, by every column.
    pub(crate) tested: Vec<Tested>,
    pub(crate) seed: u64,
    /// What figures are averaged over: `topic`, `turn`.
    pub(crate) unit: &'static str,
}

impl<'a> Compared<'a> {
    pub(crate) fn new(
        runs: Vec<Measured<'a>>,
        baseline: usize,
        seed: u64,
        unit: &'static str,
    ) -> Self {
        let columns: Vec<&[Column]> = runs.iter().map(|run| &run.columns[..]).collect();
        let tested = test_against_baseline(&columns, baseline, seed);
        Self { runs, baseline, tested, seed, unit }
    }

    pub(crate) fn baseline(&self) -> &Measured<'a> {
        &self.runs[self.baseline]
    }

    /// The runs that are compared with the baseline, with their positions.
    pub(crate) fn others(&self) -> impl Iterator<Item = (usize, &Measured<'a>)> {
        self.runs.iter().enumerate().filter(|(index, _)| *index != self.baseline)
    }
}
