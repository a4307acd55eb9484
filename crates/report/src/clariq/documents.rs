//! Document relevance of the runs: the challenge's main figures.

use super::ClariqPage;
use super::leaderboard::{is_released, part};
use crate::page::scroll;
use crate::words::figure;
use clariq_core::{Error, ProblemKind};
use clariq_eval::Column;
use clariq_files::Run;
use clariq_track_clariq::evaluation::{DOCUMENT_MEASURES, document_relevance, table_stem};
use clariq_track_clariq::evaluation::{Leaderboard, ScorerTask};
use clariq_track_clariq::{ClariQ, ClariqSplit, EvalTable, Labelled, RetrievedWith};
use maud::{Markup, html};

/// Document relevance of all runs by one kind of retrieval.
pub(crate) struct DocumentsOfRuns {
    pub(crate) with: RetrievedWith,
    /// For each run, the figures by the measures of the leaderboard.
    pub(crate) figures: Vec<Vec<f64>>,
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
/// the data folder has figures.
pub(super) fn relevance(
    clariq: &ClariQ,
    split: ClariqSplit,
    labels: &Labelled,
    runs: &[Run],
) -> Result<Vec<DocumentsOfRuns>, Error> {
    let mut all = Vec::new();
    for with in [RetrievedWith::Answer, RetrievedWith::QuestionAlone] {
        let table = match EvalTable::open_of(&clariq.data, &table_stem(split, false), with) {
            Err(Error::Problem(problem)) if problem.kind == ProblemKind::MissingFile => break,
            table => table?,
        };
        if !table.has_figures() {
            continue;
        }
        let mut figures = Vec::with_capacity(runs.len());
        for run in runs {
            let scores = document_relevance(run, &table, labels);
            let find = |name: &str| scores.metrics.iter().find(|metric| metric.measure == name);
            let means = DOCUMENT_MEASURES.map(|name| find(name).map_or(0.0, Column::mean));
            figures.push(means.to_vec());
        }
        all.push(DocumentsOfRuns { with, figures });
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
                "in the released table as by the official scorer, averaged over facets."
            }
            @for documents in comparison.documents {
                h3 { (documents.title()) }
                (scroll(&format!("Document relevance: {}", documents.title()), &table(&names, documents)))
                (board(comparison, &names, documents).unwrap_or_default())
            }
        }
    }
}

fn table(names: &[&str], documents: &DocumentsOfRuns) -> Markup {
    html! {
        table {
            thead {
                tr {
                    th.text scope="col" { "run" }
                    @for measure in DOCUMENT_MEASURES { th scope="col" { (measure) } }
                }
            }
            tbody {
                @for (name, figures) in names.iter().zip(&documents.figures) {
                    tr {
                        th.text scope="row" { (name) }
                        @for value in figures { td { (figure(*value)) } }
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
    let entries = names.iter().map(|name| (*name).to_owned()).zip(documents.figures.clone());
    Some(part("Among the published entries", "runs", &board, entries.collect()))
}
