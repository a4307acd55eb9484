//! The page about runs of `ClariQ`: recall, the challenge's leaderboard, the questions of every
//! topic, and the confusion of needs.

mod depth;
mod judged;
mod leaderboard;
mod needs;
mod topics;

use crate::clariq::evaluation::{CUTOFFS, recall_interval};
use crate::clariq::{Bank, Labelled, NeedLine, Split};
use clariq_eval::diagnose;
use clariq_files::Run;
use clariq_report::differences::{self, Focus, Topic};
use clariq_report::figures::{self, Compared, Measured, Words};
use clariq_report::page::{Page, Section};
use clariq_report::words::{count, figure};
use judged::Judged;
use maud::{Markup, html};

/// A run and its name on the page.
#[derive(Debug, Clone)]
pub(crate) struct Entry {
    /// Its name, unique on the page.
    pub(crate) name: String,
    pub(crate) run: Run,
    /// What it uses beyond a request and the bank, as its record declares.
    pub(crate) uses: Vec<String>,
}

/// A need file and its name on the page.
#[derive(Debug, Clone)]
pub(crate) struct NeedEntry {
    pub(crate) name: String,
    pub(crate) lines: Vec<NeedLine>,
}

/// What a page compares.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Comparison<'a> {
    pub(crate) title: &'a str,
    pub(crate) split: Split,
    pub(crate) bank: &'a Bank,
    pub(crate) labels: &'a Labelled,
    pub(crate) runs: &'a [Entry],
    /// The position in `runs` of the run that the others are compared with.
    pub(crate) baseline: usize,
    /// Need files; may be empty.
    pub(crate) needs: &'a [NeedEntry],
    pub(crate) seed: u64,
}

pub(crate) fn render(comparison: &Comparison) -> String {
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
    add("figures", "Figures", figures::section(compared, &words, &remarks(comparison)));
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

/// Each run's name with a remark about it.
fn remarks<'a>(comparison: &Comparison<'a>) -> Vec<(&'a str, String)> {
    let runs = comparison.runs.iter();
    runs.flat_map(|entry| {
        diagnose_run(comparison, entry).into_iter().map(|remark| (entry.name.as_str(), remark))
    })
    .collect()
}

fn diagnose_run(comparison: &Comparison, entry: &Entry) -> Vec<String> {
    let topics = comparison.labels.topics.iter().map(|topic| &topic.id);
    let found = diagnose(&entry.run, topics, Some(comparison.bank));
    let mut remarks = Vec::new();
    if found.dropped_lines > 0 {
        let [lowest, highest] = recall_interval(&entry.run, comparison.labels);
        remarks.push(format!(
            "{} of {} repeat a score and are dropped, as by the official scorer. Over all orders \
             of equal scores, R@30 lies between {} and {}.",
            count(found.dropped_lines, "line"),
            count(found.dropped_topics, "topic"),
            figure(lowest[3]),
            figure(highest[3])
        ));
    }
    let counts = [
        (found.duplicates, "line", "repeating a question of the same topic"),
        (found.missing_topics, "topic", "without an answer, counted 0"),
        (found.unknown_topics, "topic", "not among the labels, ignored"),
        (found.unknown_questions, "line", "with a question that is not in the bank"),
    ];
    let counts = counts.iter().filter(|(number, ..)| *number > 0);
    remarks.extend(counts.map(|(number, what, how)| format!("{} {how}.", count(*number, what))));
    remarks
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::evaluation::tests::Small;

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
