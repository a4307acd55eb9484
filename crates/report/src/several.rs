//! A page over several collections: the scores of each system over each, and the means.

use crate::answer::answer;
use crate::page::Page;
use crate::scores::{self, ComparedRuns, RunScores};
use crate::words::count;
use clariq_eval::Score;
use maud::html;

/// A system with its scores; their parts are the collections and the means.
pub struct SeveralRun {
    /// Its name on the page.
    pub name: String,
    /// The same parts and measures for all systems.
    pub scores: Vec<Score>,
}

/// The page, as HTML. The first system is the baseline; `remarks` are what collections say beside
/// their scores.
///
/// # Panics
///
/// If there is no system, or the systems have different scores.
pub fn several_page(title: &str, remarks: &[String], runs: &[SeveralRun], seed: u64) -> String {
    let mut shown = Vec::with_capacity(runs.len());
    for SeveralRun { name, scores } in runs {
        shown.push(RunScores { name, uses: &[], scores: scores.clone() });
    }
    let compared = ComparedRuns::new(shown, 0, seed, "request");
    let intro = "The scores over each collection; “mean” is the mean of the collections, “weighted” \
                 that of all requests.";
    let remarks: Vec<(&str, String)> =
        remarks.iter().map(|remark| ("note", remark.clone())).collect();
    let section = scores::section(&compared, intro, ["Scores over each collection"; 2], &remarks);
    let lead = format!("{}{}.", count(runs.len(), "system"), compared.against());
    // The last part is that of all requests; its first measure is the usual one.
    let scores = &compared.baseline().scores;
    let last = scores.last().map(|score| score.part.clone());
    let focus = scores.iter().position(|score| Some(&score.part) == last.as_ref());
    Page {
        title,
        lead,
        answer: answer(&compared, focus.unwrap_or_default()),
        sections: vec![section],
        footer: html! { "Seed " (seed) "." },
        style: include_str!("ikat/style.css"),
    }
    .render()
}
