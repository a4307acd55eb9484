//! The page about runs of `ClariQ`: recall, the challenge's leaderboard, the questions of every
//! topic, and the confusion of needs.

mod depth;
mod documents;
mod judged;
mod leaderboard;
mod needs;
#[cfg(test)]
mod tests;
mod topics;

use crate::answer::answer;
use crate::differences::{self, Focus, TopicRow};
use crate::page::{Page, Section};
use crate::request::{PageRequest, RenderedPage};
use crate::scores::{self, ComparedRuns, RunScores};
use crate::words::{count, figure};
use clariq_collections::Split;
use clariq_collections::documents::Bank;
use clariq_collections::evaluation::{Answers, Evaluation as _, warn_of_short};
use clariq_core::{Documents, Error};
use clariq_eval::{Score, Ties, diagnose};
use clariq_files::Run;
use clariq_track_clariq::evaluation::{CUTOFFS, Official, question_relevance, recall_interval};
use clariq_track_clariq::{ClariQ, Labelled, NeedLine};
use documents::DocumentsOfRuns;
use judged::JudgedRuns;
use maud::{Markup, html};
use std::collections::HashMap;

/// The unit of measures of questions.
const TOPIC: &str = "topic";

/// The runs and labels of a page.
#[derive(Clone, Copy)]
pub(crate) struct ClariqPage<'a> {
    pub(crate) request: PageRequest<'a>,
    pub(crate) split: Split,
    pub(crate) bank: &'a Bank,
    pub(crate) labels: &'a Labelled,
    /// The lines of the runs.
    pub(crate) runs: &'a [Run],
    /// Their document relevance, if the folder has the evaluation table.
    pub(crate) documents: &'a [DocumentsOfRuns],
    /// The values of the runs by the measures that were named, if any were.
    pub(crate) by_name: &'a [Vec<Score>],
    /// The lines of the need files.
    pub(crate) needs: &'a [Vec<NeedLine>],
}

impl ClariqPage<'_> {
    /// The need files with their names.
    pub(crate) fn named_needs(&self) -> impl Iterator<Item = (&str, &[NeedLine])> {
        let names = self.request.needs.iter().map(|(name, _)| name.as_str());
        names.zip(self.needs.iter().map(Vec::as_slice))
    }
}

/// The page of runs over a split.
pub(crate) fn page(
    clariq: &ClariQ,
    split: Split,
    request: &PageRequest,
) -> Result<RenderedPage, Error> {
    let official = Official::new(clariq, split);
    let labels = official.labels()?;
    let topics = official.topics()?;
    let mut runs = Vec::new();
    let mut needs = Vec::new();
    let mut by_name = Vec::new();
    let mut warnings = Vec::new();
    for shown in request.runs {
        let file = &shown.file;
        let run = official.run(file)?;
        // The page has details; the warnings are also printed.
        let found = topics.warnings(&run, Ties::Official);
        warnings.extend(found.iter().map(|warning| format!("{}: {warning}", file.name())));
        if let Some(short) =
            warn_of_short(&question_relevance(&run, labels, Ties::Official), Score::name)
            && request.measures.is_empty()
        {
            warnings.push(format!("{}: {short}", file.name()));
        }
        if !request.measures.is_empty() {
            let found = official.cases(Answers::File(file), &request.options(shown))?;
            by_name.push(found.compared().scores);
        }
        runs.push(run);
    }
    for (_, file) in request.needs {
        needs.push(official.need_lines(file)?);
    }
    let documents = documents::relevance(clariq, split, labels, &runs)?;
    let html = render(&ClariqPage {
        documents: &documents,
        by_name: &by_name,
        request: *request,
        split,
        bank: &clariq.bank,
        labels,
        runs: &runs,
        needs: &needs,
    });
    Ok(RenderedPage { html, topics: labels.topics.len(), warnings })
}

fn render(comparison: &ClariqPage) -> String {
    let judged = JudgedRuns::new(comparison);
    let request = comparison.request;
    let compared = compare(comparison, &judged);
    Page {
        title: request.title,
        lead: describe(comparison, &judged, &compared),
        answer: answer(&compared, focus(comparison, &compared)),
        sections: sections(comparison, &judged, &compared),
        footer: footer(comparison),
        style: "",
    }
    .render()
}

/// The runs and the tests between them, by recall or by the measures that were named.
fn compare<'a>(comparison: &ClariqPage, judged: &JudgedRuns<'a>) -> ComparedRuns<'a> {
    if comparison.by_name.is_empty() {
        return compare_by_recall(comparison, judged);
    }
    let PageRequest { baseline, seed, .. } = comparison.request;
    let runs = judged.runs.iter().zip(comparison.by_name).map(|(run, scores)| RunScores {
        name: &run.shown.name,
        uses: &run.shown.uses,
        scores: scores.clone(),
    });
    let unit = comparison.by_name[0].first().map_or(TOPIC, |column| column.unit);
    ComparedRuns::new(runs.collect(), baseline, seed, unit)
}

fn compare_by_recall<'a>(comparison: &ClariqPage, judged: &JudgedRuns<'a>) -> ComparedRuns<'a> {
    let PageRequest { baseline, seed, .. } = comparison.request;
    let runs = judged.runs.iter().map(|run| RunScores {
        name: &run.shown.name,
        uses: &run.shown.uses,
        scores: run.scores.clone(),
    });
    ComparedRuns::new(runs.collect(), baseline, seed, TOPIC)
}

/// The topics or, for measures of documents, the facets of a column.
fn rows<'a>(labels: &'a Labelled, judged: &JudgedRuns<'a>, column: &'a Score) -> Vec<TopicRow<'a>> {
    let topics = judged.topics.iter().enumerate();
    let places: HashMap<&str, (usize, &str)> = topics
        .map(|(index, judged)| (judged.topic.id.as_str(), (index, judged.topic.request.as_str())))
        .collect();
    let facets = labels.facets.iter();
    let topic_of: HashMap<&str, &str> =
        facets.map(|facet| (facet.id.as_str(), labels.topics[facet.topic].id.as_str())).collect();
    let mut rows = Vec::with_capacity(column.values.len());
    for (id, _) in &column.values {
        let topic = topic_of.get(id.as_str()).copied().filter(|_| column.unit != TOPIC);
        let (index, request) =
            places.get(topic.unwrap_or(id.as_str())).copied().unwrap_or_default();
        rows.push(TopicRow { id: id.as_str(), request, anchor: format!("topic-{index}") });
    }
    rows
}

/// The column that topics are ordered by: the first that was named, or else the deepest recall, if
/// runs differ by it.
fn focus(comparison: &ClariqPage, compared: &ComparedRuns) -> usize {
    let preferred = if comparison.by_name.is_empty() { CUTOFFS.len() - 1 } else { 0 };
    compared.telling_of_all(preferred)
}

/// All sections that have something to show.
fn sections(comparison: &ClariqPage, judged: &JudgedRuns, compared: &ComparedRuns) -> Vec<Section> {
    let section = |id, name, content| Section { id, name, content };
    let topics = count(judged.topics.len(), "topic");
    let (intro, titles) = if comparison.by_name.is_empty() {
        (
            format!(
                "Recall of relevant questions among the first 5, 10, 20 and 30, as the official scorer \
                 computes it, averaged over {topics}."
            ),
            ["Recall of every run", "Recall of relevant questions"],
        )
    } else {
        let facets = comparison.by_name.iter().flatten().find(|column| column.unit != TOPIC);
        let facets = facets.map_or_else(String::new, |column| {
            let facets = count(column.values.len(), column.unit);
            format!("; the challenge's measures of documents over {facets}")
        });
        let intro = format!("Standard measures, as in trec_eval, over {topics}{facets}.");
        (intro, ["Scores of every run"; 2])
    };
    let placed = leaderboard::section(comparison, judged);
    let column = focus(comparison, compared);
    let focused = &compared.baseline().scores[column];
    let deepest = Focus {
        id: "differences",
        name: "Differences",
        heading: format!("Differences by {}", focused.unit),
        column,
        topics: rows(comparison.labels, judged, focused),
    };
    // The last section has topics, and no facets.
    let by_recall = (focused.unit != TOPIC).then(|| compare_by_recall(comparison, judged));
    let (by_topic, of_topics) = match &by_recall {
        Some(by_recall) => (by_recall, by_recall.telling_of_all(CUTOFFS.len() - 1)),
        None => (compared, column),
    };
    let has_documents = !comparison.documents.is_empty();
    let documents = has_documents.then(|| documents::section(comparison));
    let needs = (!comparison.needs.is_empty()).then(|| needs::section(comparison));
    [
        Some(scores::section(compared, &intro, titles, &remarks(comparison))),
        placed.map(|placed| section("leaderboard", "Leaderboard", placed)),
        documents.map(|documents| section("documents", "Documents", documents)),
        Some(section("depth", "Depth", depth::section(judged))),
        differences::section(compared, &deepest),
        needs.map(|needs| section("needs", "Need", needs)),
        Some(section("topics", "Topics", topics::section(comparison, judged, by_topic, of_topics))),
    ]
    .into_iter()
    .flatten()
    .collect()
}

fn describe(comparison: &ClariqPage, judged: &JudgedRuns, compared: &ComparedRuns) -> String {
    format!(
        "{} on {} of {}, a bank of {}{}.",
        count(comparison.runs.len(), "run"),
        count(judged.topics.len(), "topic"),
        comparison.split,
        count(comparison.bank.len(), "question"),
        compared.against()
    )
}

fn footer(comparison: &ClariqPage) -> Markup {
    html! {
        "Question bank " code { (comparison.bank.checksum().short()) }
        ", split " (comparison.split) ", seed " (comparison.request.seed) "."
        " Equal scores are treated as by the official scorer: of a topic's lines with the "
        "same score, the first counts."
    }
}

/// Each run's name with a remark about it.
fn remarks<'a>(comparison: &ClariqPage<'a>) -> Vec<(&'a str, String)> {
    let runs = comparison.request.runs.iter().zip(comparison.runs);
    runs.flat_map(|(shown, run)| {
        diagnose_run(comparison, run).into_iter().map(|remark| (shown.name.as_str(), remark))
    })
    .collect()
}

fn diagnose_run(comparison: &ClariqPage, run: &Run) -> Vec<String> {
    let topics = comparison.labels.topics.iter().map(|topic| &topic.id);
    let found = diagnose(run, topics, Some(comparison.bank));
    let mut remarks = Vec::new();
    if found.dropped_lines > 0 {
        let [lowest, highest] = recall_interval(run, comparison.labels, &CUTOFFS);
        remarks.push(format!(
            "{} of {} repeat a score and are dropped, as by the official scorer. Over all orders \
             of equal scores, R@30 lies between {} and {}.",
            count(found.dropped_lines, "line"),
            count(found.dropped_topics, "topic"),
            figure(lowest[3].value()),
            figure(highest[3].value())
        ));
    }
    let counts = [
        (found.duplicates, "line", "repeating a question of the same topic"),
        (found.missing_topics, "topic", "without an answer, counted 0"),
        (found.unknown_topics, "topic", "not among the labels, ignored"),
        (found.unknown_documents, "line", "with a question that is not in the bank"),
    ];
    let counts = counts.iter().filter(|(number, ..)| *number > 0);
    remarks.extend(counts.map(|(number, unit, remark)| {
        let counted = count(*number, unit);
        format!("{counted} {remark}.")
    }));
    remarks
}

#[cfg(test)]
mod page_tests {
    use super::tests::Small;
    use super::*;

    #[test]
    fn one_run_has_nothing_to_compare() {
        let small = Small::new(&[("only", &[("1", "Q1", 1.0)])]);
        let page = render(&small.comparison());
        assert!(!page.contains("id=\"differences\"") && !page.contains("class=\"tag\""));
        assert!(page.contains("1 run on 2 topics of dev"));
    }

    #[test]
    fn control_characters_are_made_visible() {
        let small = Small::new(&[("a\u{1}b", &[])]);
        assert!(render(&small.comparison()).contains("a\u{fffd}b"));
    }
}
