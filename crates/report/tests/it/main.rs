//! The integration tests of this crate: pages of runs over the samples.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod clariq;
#[path = "../../../experiment/tests/it/common/mod.rs"]
mod common;
mod ikat;
mod mtrag;
mod page;
#[path = "../../../track-clariq/tests/it/written_table.rs"]
mod written_table;

use clariq_eval::parse_measures;
use clariq_files::Source;
use clariq_report::{PageRequest, PageRun, RenderedPage, page_of};
use common::Work;

/// The page of files of the folder over the split: runs, the first of which is the baseline, and need
/// files.
fn page(work: &Work, title: &str, runs: &[&str], needs: &[&str]) -> String {
    rendered(work, title, runs, needs, "").html
}

/// The same with its warnings, and by measures in place of the usual ones if any are named.
fn rendered(
    work: &Work,
    title: &str,
    runs: &[&str],
    needs: &[&str],
    measures: &str,
) -> RenderedPage {
    let source = |file: &&str| Source::new(work.folder.path(file));
    let shown = |file: &&str| PageRun {
        name: (*file).trim_end_matches(".run").to_owned(),
        file: source(file),
        depth: None,
        uses: Vec::new(),
    };
    let runs: Vec<PageRun> = runs.iter().map(shown).collect();
    let needs: Vec<_> = needs.iter().map(|file| ((*file).to_owned(), source(file))).collect();
    let measures = &parse_measures(measures).unwrap();
    let (runs, needs) = (&runs, &needs);
    let request = PageRequest { title, runs, baseline: 0, needs, measures, seed: 42 };
    let (page, _) =
        work.with_session(|session| page_of(session.collection, session.split.unwrap(), &request));
    page.unwrap()
}
