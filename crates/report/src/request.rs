//! The request for a page, and the page made of it.

use clariq_collections::evaluation::ScoreOptions;
use clariq_eval::Measure;
use clariq_files::Source;

/// A run of a page.
pub struct PageRun {
    /// Its name on the page.
    pub name: String,
    pub file: Source,
    /// The number of documents for a topic that its system might have ranked, if known.
    pub depth: Option<usize>,
    /// Its declared uses beyond a request and the documents.
    pub uses: Vec<String>,
}

/// The content of a page.
#[derive(Clone, Copy)]
pub struct PageRequest<'a> {
    pub title: &'a str,
    /// The runs, in the order of the page.
    pub runs: &'a [PageRun],
    /// The position in `runs` of the run that the others are compared with.
    pub baseline: usize,
    /// Need files with their names.
    pub needs: &'a [(String, Source)],
    /// Measures in place of the usual ones.
    pub measures: &'a [Measure],
    /// The seed of the randomisation test.
    pub seed: u64,
}

impl PageRequest<'_> {
    /// How a run is measured: by the measures that were named, or else by the usual ones.
    pub(crate) fn options(&self, run: &PageRun) -> ScoreOptions<'_> {
        ScoreOptions { measures: self.measures, depth: run.depth, ..ScoreOptions::default() }
    }
}

/// A page that was rendered.
pub struct RenderedPage {
    pub html: String,
    /// The number of topics or turns that it shows.
    pub topics: usize,
    /// Parts of runs that the figures ignore, each with the name of its file.
    pub warnings: Vec<String>,
}
