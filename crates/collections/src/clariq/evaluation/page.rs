//! The page about runs of `ClariQ`: recall, the challenge's leaderboard, the questions of every
//! topic, and the confusion of needs.

mod comparison;
mod depth;
mod judged;
mod leaderboard;
mod lines;
mod needs;
mod remarks;
mod topics;

pub use comparison::{Comparison, Entry, NeedEntry};

use crate::clariq::evaluation::CUTOFFS;
use clariq_report::differences::{self, Focus, Topic};
use clariq_report::figures::{self, Compared, Measured, Words};
use clariq_report::page::{Page, Section};
use clariq_report::words::count;
use judged::Judged;
use maud::{Markup, html};

/// Renders the page.
///
/// # Panics
///
/// If `baseline` is not the position of a run.
pub fn render(comparison: &Comparison) -> String {
    let judged = Judged::new(comparison);
    let runs = judged.runs.iter().map(|run| Measured {
        name: &run.entry.name,
        uses: &run.entry.uses,
        columns: run.scores.columns(),
    });
    let compared = Compared::new(runs.collect(), comparison.baseline, comparison.seed, "topic");
    Page {
        title: comparison.title,
        lead: describe(comparison, &judged),
        sections: sections(comparison, &judged, &compared),
        footer: footer(comparison),
        style: "",
    }
    .render()
}

/// All sections that have something to show.
fn sections(comparison: &Comparison, judged: &Judged, compared: &Compared) -> Vec<Section> {
    let mut sections = Vec::new();
    let mut add = |id, name, content| sections.push(Section { id, name, content });
    let words = Words {
        intro: format!(
            "Recall of relevant questions among the first 5, 10, 20 and 30, as the official \
             scorer computes it, averaged over {}.",
            count(judged.topics.len(), "topic")
        ),
        label: "Recall of every run",
        caption: "Recall of relevant questions",
    };
    add("figures", "Figures", figures::section(compared, &words, &remarks::list(comparison)));
    if let Some(placed) = leaderboard::section(comparison, judged) {
        add("leaderboard", "Leaderboard", placed);
    }
    add("depth", "Depth", depth::section(judged));
    if compared.runs.len() > 1 {
        let content = differences::section(compared, &deepest(judged));
        add("differences", "Differences", content);
    }
    if !comparison.needs.is_empty() {
        add("needs", "Need", needs::section(comparison));
    }
    add("topics", "Topics", topics::section(comparison, judged));
    sections
}

/// Topics are compared by recall at the largest depth.
fn deepest<'a>(judged: &Judged<'a>) -> Focus<'a> {
    let topic = |(index, judged): (usize, &judged::JudgedTopic<'a>)| Topic {
        id: judged.topic.id.as_str(),
        request: &judged.topic.request,
        anchor: format!("topic-{index}"),
    };
    Focus {
        id: "differences",
        charts: "difference",
        heading: "Differences by topic".to_owned(),
        column: CUTOFFS.len() - 1,
        topics: judged.topics.iter().enumerate().map(topic).collect(),
    }
}

fn describe(comparison: &Comparison, judged: &Judged) -> String {
    let what = format!(
        "{} on {} of {}",
        count(comparison.runs.len(), "run"),
        count(judged.topics.len(), "topic"),
        comparison.split
    );
    let bank = format!("a bank of {}", count(comparison.bank.len(), "question"));
    if comparison.runs.len() < 2 {
        return format!("{what}, {bank}.");
    }
    let baseline = &comparison.runs[comparison.baseline].name;
    format!("{what}, {bank}; compared with {baseline}.")
}

fn footer(comparison: &Comparison) -> Markup {
    html! {
        "Question bank " code { (comparison.bank.checksum().short()) }
        ", split " (comparison.split) ", seed " (comparison.seed) "."
        " Equal scores are treated as by the official scorer: of a topic's lines with the "
        "same score, the first counts."
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::evaluation::testing::Small;

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
