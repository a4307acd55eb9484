//! Document relevance of the runs: the challenge's main scores.

use super::ClariqPage;
use super::leaderboard::{is_released, part};
use crate::page::scroll;
use crate::scores::{ComparedRuns, RunScores, tests};
use crate::words::figure;
use clariq_collections::Split;
use clariq_core::Error;
use clariq_eval::Score;
use clariq_files::Run;
use clariq_track_clariq::evaluation::{DOCUMENT_MEASURES, document_relevance, table_stem};
use clariq_track_clariq::evaluation::{Leaderboard, ScorerTask};
use clariq_track_clariq::{ClariQ, EvalTable, Labelled, RetrievedWith};
use maud::{Markup, html};

/// Document relevance of all runs by one kind of retrieval.
pub(crate) struct DocumentsOfRuns {
    pub(crate) with: RetrievedWith,
    pub(crate) runs: Vec<DocumentScores>,
}

/// Document relevance of a run.
pub(crate) struct DocumentScores {
    /// The means by the measures of the leaderboard.
    values: Vec<f64>,
    /// The values of the facets by the same measures.
    scores: Vec<Score>,
    /// The contexts without an answer, or whose question has no scores in the table.
    not_covered: usize,
    /// All contexts.
    contexts: usize,
}

impl DocumentsOfRuns {
    fn title(&self) -> &'static str {
        match self.with {
            RetrievedWith::Answer => "After the question and its answer",
            RetrievedWith::QuestionAlone => "After the question, without its answer",
        }
    }
}

/// Document relevance of runs by the measures of the leaderboard, with and without the answer, as far as
/// the data folder has scores.
pub(super) fn relevance(
    clariq: &ClariQ,
    split: Split,
    labels: &Labelled,
    runs: &[Run],
) -> Result<Vec<DocumentsOfRuns>, Error> {
    let mut all = Vec::new();
    for with in [RetrievedWith::Answer, RetrievedWith::QuestionAlone] {
        let table = match EvalTable::open_of(&clariq.data, &table_stem(split, false), with) {
            Err(Error::Problem(problem)) if problem.kind.is_missing() => break,
            table => table?,
        };
        if !table.has_scores() {
            continue;
        }
        let mut scored = Vec::with_capacity(runs.len());
        for run in runs {
            let found = document_relevance(run, &table, labels);
            let find = |name: &str| {
                let metric = found.metrics.iter().find(|metric| metric.measure == name).cloned();
                metric.unwrap_or_else(|| Score::new("", name, Vec::new()))
            };
            let scores = DOCUMENT_MEASURES.map(find).to_vec();
            scored.push(DocumentScores {
                values: scores.iter().map(Score::value).collect(),
                not_covered: found.missing + found.not_candidates,
                contexts: scores.first().map_or(0, |score| score.values.len()),
                scores,
            });
        }
        // The table may have scores of other splits alone.
        if scored.iter().any(|run| run.contexts > 0) {
            all.push(DocumentsOfRuns { with, runs: scored });
        }
    }
    Ok(all)
}

pub(super) fn section(comparison: &ClariqPage) -> Markup {
    let names: Vec<&str> = comparison.request.runs.iter().map(|run| run.name.as_str()).collect();
    html! {
        section id="documents" {
            h2 { "Document relevance" }
            p {
                "The quality of the documents retrieved after the first question of each run, looked up "
                "in the released table as by the official scorer, averaged over facets. A facet whose question has no scores in the table counts the lowest "
                "score of its candidates."
            }
            @for documents in comparison.documents {
                h3 { (documents.title()) }
                (scroll(&format!("Document relevance: {}", documents.title()), &table(&names, documents)))
                (differences(comparison, documents).unwrap_or_default())
                (board(comparison, &names, documents).unwrap_or_default())
            }
        }
    }
}

/// The tests of every run against the baseline, over facets.
fn differences(comparison: &ClariqPage, documents: &DocumentsOfRuns) -> Option<Markup> {
    let request = comparison.request;
    let has_values =
        documents.runs.iter().flat_map(|run| &run.scores).all(|column| !column.values.is_empty());
    if request.runs.len() < 2 || !has_values {
        return None;
    }
    let runs = request.runs.iter().zip(&documents.runs).map(|(run, of_run)| RunScores {
        name: &run.name,
        uses: &[],
        scores: of_run.scores.clone(),
    });
    let compared = ComparedRuns::new(runs.collect(), request.baseline, request.seed, "facet");
    Some(html! {
        details {
            summary { "Tests against the baseline, over facets" }
            (scroll("Tests of document relevance", &tests(&compared)))
        }
    })
}

fn table(names: &[&str], documents: &DocumentsOfRuns) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th.text scope="col" { "run" }
                    @for measure in DOCUMENT_MEASURES { th scope="col" { (measure) } }
                    th scope="col" { "facets without scores" }
                }
            }
            tbody {
                @for (name, run) in names.iter().zip(&documents.runs) {
                    tr {
                        th.text scope="row" { (name) }
                        @for value in &run.values { td { (figure(*value)) } }
                        td { (run.not_covered) " of " (run.contexts) }
                    }
                }
            }
        }
    }
}

/// The runs among the published entries, which were scored after the answer.
fn board(comparison: &ClariqPage, names: &[&str], documents: &DocumentsOfRuns) -> Option<Markup> {
    if documents.with != RetrievedWith::Answer || !is_released(comparison) {
        return None;
    }
    let board = Leaderboard::published(ScorerTask::Documents, false, comparison.split)?;
    let runs = || names.iter().zip(&documents.runs);
    let (covered, others): (Vec<_>, Vec<_>) = runs().partition(|(_, run)| run.not_covered == 0);
    let entries = covered.iter().map(|(name, run)| ((**name).to_owned(), run.values.clone()));
    let names: Vec<&str> = others.iter().map(|(name, _)| **name).collect();
    Some(html! {
        (part("Among the published entries", "runs", &board, entries.collect()))
        @if !names.is_empty() {
            p.note {
                (names.join(", ")) ": not placed, because the table has no scores of some of their "
                "questions."
            }
        }
        @if let Some(remark) = board.remark { p.note { (remark) } }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::tests::Small;

    #[test]
    fn facets_without_scores_are_counted_beside_the_scores() {
        let small = Small::new(&[("whole", &[]), ("partial", &[])]);
        let run = |not_covered| DocumentScores {
            values: vec![0.25; 4],
            scores: Vec::new(),
            not_covered,
            contexts: 160,
        };
        let documents =
            [DocumentsOfRuns { with: RetrievedWith::Answer, runs: vec![run(0), run(55)] }];
        let page = ClariqPage { documents: &documents, ..small.comparison() };
        let page = section(&page).into_string();
        assert!(
            page.contains("<td>0 of 160</td>") && page.contains("<td>55 of 160</td>"),
            "{page}"
        );
    }
}
