//! The input of a page.

use crate::clariq::{Bank, Labelled, NeedLine, Split};
use clariq_files::Run;

/// A run and its name on the page.
#[derive(Debug, Clone)]
pub struct Entry {
    /// Its name, unique on the page.
    pub name: String,
    /// Its lines, in file order.
    pub run: Run,
    /// What it uses beyond a request and the bank, as its record declares.
    pub uses: Vec<String>,
}

impl Entry {
    /// An entry that uses nothing but one request and the bank.
    pub fn new(name: impl Into<String>, run: Run) -> Self {
        Self { name: name.into(), run, uses: Vec::new() }
    }
}

/// A need file and its name on the page.
#[derive(Debug, Clone)]
pub struct NeedEntry {
    /// Its name.
    pub name: String,
    /// Its lines, in file order.
    pub lines: Vec<NeedLine>,
}

/// What a page compares.
#[derive(Debug, Clone, Copy)]
pub struct Comparison<'a> {
    /// The page's title.
    pub title: &'a str,
    /// The split that the runs answer.
    pub split: Split,
    /// The question bank.
    pub bank: &'a Bank,
    /// The labels of the split.
    pub labels: &'a Labelled,
    /// The runs, in the order of the page.
    pub runs: &'a [Entry],
    /// The position in `runs` of the run that the others are compared with.
    pub baseline: usize,
    /// Need files; may be empty.
    pub needs: &'a [NeedEntry],
    /// The seed of the randomisation test.
    pub seed: u64,
}
