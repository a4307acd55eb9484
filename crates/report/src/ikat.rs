//! The page about runs of iKAT: figures, differences, and every conversation with the statements,
//! passages and responses of each run side by side.

mod conversations;

use crate::answer::answer;
use crate::differences::{self, Focus, TopicRow};
use crate::page::{Page, Section};
use crate::request::{PageRequest, PageRun, RenderedPage};
use crate::scores::{self, ComparedRuns, RunScores};
use crate::words::count;
use clariq_collections::evaluation::Cases;
use clariq_collections::{Collection, Split};
use clariq_core::{Error, bail, fit};
use clariq_eval::{Score, keep_common};
use clariq_track_ikat::evaluation::{EvaluatedRun, IkatEvaluation, IkatLabels, scores};
use clariq_track_ikat::run::Submission;
use clariq_track_ikat::{Ikat, PASSAGES, TopicFile};
use maud::html;
use std::collections::{HashMap, HashSet};

/// The number of characters shown of a passage.
const EXCERPT: usize = 240;

/// The beginning of a passage's text, if the collection has the passage.
fn text_of(ikat: &Ikat, id: &str) -> String {
    let passages = ikat.ranked_in(PASSAGES);
    let text = passages.find(id).and_then(|passage| passages.text(passage).ok());
    text.map_or_else(String::new, |text| fit(text.trim(), EXCERPT).into_owned())
}

const STYLE: &str = include_str!("ikat/style.css");

/// A run of the page, as it was read.
pub(crate) struct PageEntry<'a> {
    pub(crate) shown: &'a PageRun,
    pub(crate) submission: Submission,
    pub(crate) evaluated: EvaluatedRun,
    /// The figures; the same measures over the same turns for all runs, and none without labels.
    pub(crate) scores: Vec<Score>,
}

/// The runs and labels of a page.
pub(crate) struct IkatPage<'a> {
    pub(crate) request: &'a PageRequest<'a>,
    /// Conversations and the texts of passages.
    pub(crate) ikat: &'a Ikat,
    pub(crate) split: Split,
    pub(crate) topics: &'a TopicFile,
    pub(crate) labels: &'a IkatLabels,
    pub(crate) runs: &'a [PageEntry<'a>],
}

/// The page of runs over a split. Without labels, it shows rankings and responses without figures.
pub(crate) fn page(
    ikat: &Ikat,
    split: Split,
    request: &PageRequest,
) -> Result<RenderedPage, Error> {
    if let Some((_, need)) = request.needs.first() {
        let need = need.name();
        let hint = "leave it out: iKAT has no need labels";
        bail!("--need", "runs of ClariQ beside it", "`{need}` with runs of iKAT", hint);
    }
    let evaluation = IkatEvaluation::open(ikat, split)?;
    let labels = &evaluation.labels;
    let mut runs = Vec::new();
    let mut warnings = Vec::new();
    for run in request.runs {
        IkatEvaluation::check_submission(&run.file)?;
        let read = evaluation.read(&run.file)?;
        let scores = if labels.are_absent() {
            Vec::new()
        } else {
            scores(&read.evaluated, labels, None, request.measures)?
        };
        let found = Cases::new(scores, read.warnings).compared();
        let file = run.file.name();
        warnings.extend(found.warnings.iter().map(|warning| format!("{file}: {warning}")));
        runs.push(PageEntry {
            shown: run,
            submission: read.submission,
            evaluated: read.evaluated,
            scores: found.scores,
        });
    }
    // Only runs of this program have complete rankings of statements beside them.
    keep_common(&mut runs.iter_mut().map(|run| &mut run.scores).collect::<Vec<_>>());
    if labels.are_absent() {
        warnings.push(format!("the folder has no labels of {split}: the page has no scores"));
    }
    let topics = ikat.topics(split)?;
    let html = render(&IkatPage { request, ikat, split, topics, labels, runs: &runs });
    Ok(RenderedPage { html, topics: topics.turns().count(), warnings })
}

fn render(comparison: &IkatPage) -> String {
    let PageRequest { title, baseline, seed, .. } = *comparison.request;
    let runs = comparison.runs.iter().map(|entry| RunScores {
        name: &entry.shown.name,
        uses: &entry.shown.uses,
        scores: entry.scores.clone(),
    });
    let compared = ComparedRuns::new(runs.collect(), baseline, seed, "turn");
    Page {
        title,
        lead: describe(comparison, &compared),
        answer: if compared.baseline().scores.is_empty() {
            html! {}
        } else {
            answer(&compared, compared.telling_of_all(main_column(&compared)))
        },
        sections: sections(comparison, &compared),
        footer: html! {
            "Split " (comparison.split) " of " (comparison.ikat.label()) ", seed "
            (seed) ". Equal scores are in the order of descending ids."
        },
        style: STYLE,
    }
    .render()
}

fn sections(comparison: &IkatPage, compared: &ComparedRuns) -> Vec<Section> {
    let scores = &compared.baseline().scores;
    let has_rankings = scores.iter().any(|column| column.part.starts_with("statements"));
    let of_statements = if has_rankings { "statements" } else { "ptkb_provenance" };
    let content = conversations::section(comparison, compared, [of_statements, "passages"]);
    let conversations = Section { id: "conversations", name: "Conversations", content };
    if scores.is_empty() {
        return vec![conversations];
    }
    let intro = "Each part of the runs, over the turns that its labels judge: the rankings of \
                 statements and of passages, the statements of the responses as lists \
                 (ptkb_provenance) and as sets (macro averages), and ROUGE-1 against the organisers' responses.";
    let titles = ["Scores of every run", "Scores by part"];
    let mut sections = vec![scores::section(compared, intro, titles, &remarks(comparison))];
    for (id, name, part) in
        [("by-statements", "Statements", of_statements), ("by-passages", "Passages", "passages")]
    {
        let focus = focus(comparison, compared, (id, name), part);
        sections.extend(focus.and_then(|focus| differences::section(compared, &focus)));
    }
    sections.push(conversations);
    sections
}

/// The position of the column that tells most of the runs: passages, or what they have.
fn main_column(compared: &ComparedRuns) -> usize {
    first_of(compared, "passages").unwrap_or_default()
}

/// The position of the first measure of a part of the runs.
fn first_of(compared: &ComparedRuns, part: &str) -> Option<usize> {
    compared.baseline().scores.iter().position(|column| column.part.starts_with(part))
}

/// The differences by the first measure of a part of the runs, if there is one.
fn focus<'a>(
    comparison: &'a IkatPage,
    compared: &'a ComparedRuns,
    (id, name): (&'static str, &'static str),
    part: &str,
) -> Option<Focus<'a>> {
    let column = first_of(compared, part)?;
    let mut texts: HashMap<&str, (&str, String)> = HashMap::new();
    for (index, conversation) in comparison.topics.conversations.iter().enumerate() {
        for turn in &conversation.turns {
            let anchor = conversations::anchor(index, turn.number);
            texts.insert(turn.id.as_str(), (turn.utterance.as_str(), anchor));
        }
    }
    let mut topics = Vec::new();
    for (turn, _) in &compared.baseline().scores[column].values {
        let (request, anchor) = texts.remove(turn.as_str()).unwrap_or_default();
        topics.push(TopicRow { id: turn.as_str(), request, anchor });
    }
    Some(Focus { id, name, heading: format!("Differences by turn: {part}"), column, topics })
}

fn describe(comparison: &IkatPage, compared: &ComparedRuns) -> String {
    format!(
        "{} on {} of {}, {} of iKAT{}.",
        count(comparison.runs.len(), "run"),
        count(comparison.topics.turns().count(), "turn"),
        count(comparison.topics.conversations.len(), "conversation"),
        comparison.split,
        compared.against()
    )
}

/// Turns that a run does not answer.
fn remarks<'a>(comparison: &'a IkatPage) -> Vec<(&'a str, String)> {
    let mut remarks = Vec::new();
    for entry in comparison.runs {
        let turns = entry.submission.turns.iter();
        let turn_ids: HashSet<&str> = turns.map(|turn| turn.id.as_str()).collect();
        let all = comparison.topics.turns();
        let missing = all.filter(|(_, turn)| !turn_ids.contains(turn.id.as_str())).count();
        if missing > 0 {
            let remark = format!("{} without an answer, counted 0.", count(missing, "turn"));
            remarks.push((entry.shown.name.as_str(), remark));
        }
    }
    remarks
}
