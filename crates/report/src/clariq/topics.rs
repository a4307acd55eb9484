//! The questions of every run for every topic, with hits and misses.

use super::ClariqPage;
use super::judged::{DEPTH, JudgedRuns, JudgedTopic, OfficialRun};
use crate::page::{mark_rank, scroll};
use crate::scores::ComparedRuns;
use crate::words::count;
use clariq_collections::documents::Bank;
use clariq_core::{DocId, Documents};
use clariq_track_clariq::NO_QUESTION;
use clariq_track_clariq::evaluation::CUTOFFS;
use maud::{Markup, html};

/// The number of questions of a list that are shown at once; a click shows the rest.
const SHOWN: usize = 10;

/// The topics in the order of their differences by the measure of a column.
pub(crate) fn section(
    comparison: &ClariqPage,
    judged: &JudgedRuns,
    compared: &ComparedRuns,
    column: usize,
) -> Markup {
    html! {
        section id="topics" {
            h2 { "Topics and their questions" }
            p {
                "Open a topic to see where each run has its relevant questions and how its list "
                "begins. "
                span.mark { "✓" } " and bold mark a relevant question, " span.cross { "✗" }
                " one that is not among the first " (DEPTH) "."
                @if compared.runs.len() > 1 {
                    " Topics on which runs differ most from the baseline come first."
                }
            }
            @for topic in compared.by_difference(column) {
                @let change = compared.change(column, topic);
                (topic_details(comparison.bank, judged, &change, topic))
            }
        }
    }
}

fn topic_details(bank: &Bank, judged: &JudgedRuns, change: &Markup, topic: usize) -> Markup {
    let entry = &judged.topics[topic];
    html! {
        details.topic id={ "topic-" (topic) } {
            summary {
                span.number { (entry.topic.id) } " " span.request { (entry.topic.request) } " "
                (change)
            }
            div.inside {
                p.note {
                    @if !entry.topic.description.is_empty() { (entry.topic.description) " · " }
                    (count(entry.relevant.len(), "relevant question"))
                    @if let Some(need) = entry.topic.need { " · clarification need " (need) }
                }
                @let name = format!("Relevant questions of topic {}", entry.topic.id);
                (scroll(&name, &rank_table(bank, judged, entry, topic)))
                div.lists { @for run in &judged.runs { (list(bank, entry, run, topic)) } }
            }
        }
    }
}

/// The rank of each relevant question in each run, the earliest found first, missed questions last.
fn rank_table(bank: &Bank, judged: &JudgedRuns, entry: &JudgedTopic, topic: usize) -> Markup {
    let rank_in = |run: &OfficialRun, wanted: &DocId| {
        run.lists[topic].iter().position(|question| *question == wanted)
    };
    let mut rows: Vec<(&DocId, Vec<Option<usize>>)> = entry
        .relevant
        .iter()
        .map(|wanted| (wanted, judged.runs.iter().map(|run| rank_in(run, wanted)).collect()))
        .collect();
    rows.sort_by_key(|(_, ranks)| ranks.iter().flatten().min().copied().unwrap_or(DEPTH));
    html! {
        table.texts {
            caption { "Relevant questions and their ranks" }
            thead {
                tr {
                    th.text scope="col" { "question" }
                    @for run in &judged.runs { th scope="col" { (run.shown.name) } }
                }
            }
            tbody {
                @for (wanted, ranks) in rows {
                    tr {
                        th.text scope="row" { (words(bank, wanted)) }
                        @for rank in ranks { td { (mark_rank(rank)) } }
                    }
                }
                (found(judged, entry, topic))
            }
        }
    }
}

fn found(judged: &JudgedRuns, entry: &JudgedTopic, topic: usize) -> Markup {
    let hits = |run: &OfficialRun| {
        entry.relevant.iter().filter(|wanted| run.lists[topic].contains(wanted)).count()
    };
    html! {
        tr.sum {
            th.text scope="row" { "found among the first " (DEPTH) }
            @for run in &judged.runs { td { (hits(run)) " of " (entry.relevant.len()) } }
        }
    }
}

fn list(bank: &Bank, entry: &JudgedTopic, run: &OfficialRun, topic: usize) -> Markup {
    let questions = &run.lists[topic];
    let recalls = CUTOFFS.iter().zip(&run.scores);
    html! {
        div.list {
            h3 { (run.shown.name) }
            p.note {
                @for (cutoff, recall) in recalls {
                    "R@" (cutoff) " " (format!("{:.2}", recall.values[topic].1)) " "
                }
            }
            @if questions.is_empty() { p { "No answer." } }
            ol {
                @for rank in 0..questions.len().min(SHOWN) { (item(bank, entry, questions, rank)) }
            }
            @if questions.len() > SHOWN {
                @let hits = hits_below(entry, questions);
                details.more {
                    summary { "Ranks 11 to " (questions.len()) ": " (hits) }
                    ol start=(SHOWN + 1) {
                        @for rank in SHOWN..questions.len() { (item(bank, entry, questions, rank)) }
                    }
                }
            }
        }
    }
}

/// The hits among the questions that are not shown at once, with their ranks.
fn hits_below(entry: &JudgedTopic, questions: &[&DocId]) -> String {
    let hits: Vec<String> = (SHOWN..questions.len())
        .filter(|&rank| is_hit(entry, questions, rank))
        .map(|rank| (rank + 1).to_string())
        .collect();
    match hits.len() {
        0 => "no hit".to_owned(),
        1 => format!("1 hit, at {}", hits[0]),
        many => format!("{many} hits, at {}", hits.join(", ")),
    }
}

/// True if the question at a rank is relevant and not a repetition.
fn is_hit(entry: &JudgedTopic, questions: &[&DocId], rank: usize) -> bool {
    entry.relevant.contains(questions[rank]) && !questions[..rank].contains(&questions[rank])
}

fn item(bank: &Bank, entry: &JudgedTopic, questions: &[&DocId], rank: usize) -> Markup {
    let id = questions[rank];
    let again = questions[..rank].contains(&id);
    html! {
        @if is_hit(entry, questions, rank) {
            li.hit {
                span.mark aria-hidden="true" { "✓ " } span.unseen { "relevant: " } (words(bank, id))
            }
        } @else {
            li { (words(bank, id)) @if again { " (again)" } }
        }
    }
}

fn words(bank: &Bank, id: &DocId) -> Markup {
    html! { (question(bank, id)) " " span.id { (id) } }
}

/// The text of a question, or a remark in brackets if it has none.
fn question<'a>(bank: &'a Bank, id: &DocId) -> &'a str {
    match bank.find(id.as_str()) {
        Some(number) if !bank.text(number).trim().is_empty() => bank.text(number),
        _ if id.as_str() == NO_QUESTION => "(asks nothing)",
        Some(_) => "(no words)",
        None => "(not in the question bank)",
    }
}

#[cfg(test)]
mod tests {
    use super::super::compare;
    use super::*;
    use crate::clariq::tests::{ATTACK, Line, Small};

    fn page(lines: &[Line]) -> String {
        let small = Small::new(&[("run", lines)]);
        let comparison = small.comparison();
        let judged = JudgedRuns::new(&comparison);
        section(&comparison, &judged, &compare(&comparison, &judged), 3).into_string()
    }

    #[test]
    fn hits_are_marked_and_misses_are_listed() {
        let page = page(&[("1", "Q1", 3.0), ("1", "Q4", 2.0), ("1", "Q1", 1.0)]);
        assert_eq!(
            page.matches("<li class=\"hit\">").count(),
            1,
            "a repeated question is no second hit"
        );
        assert!(page.contains("what about Q1 <span class=\"id\">Q1</span> (again)"));
        assert!(page.contains("found among the first 30</th><td>1 of 4"));
        assert_eq!(page.matches("missed").count(), 3 + 2);
        assert!(page.contains("(asks nothing)") && page.contains("No answer."));
    }

    #[test]
    fn topics_on_which_runs_differ_come_first() {
        let both = ("1", "Q1", 1.0);
        let small = Small::new(&[("base", &[both]), ("other", &[both, ("2", "Q5", 1.0)])]);
        let comparison = small.comparison();
        let judged = JudgedRuns::new(&comparison);
        let page = section(&comparison, &judged, &compare(&comparison, &judged), 3).into_string();
        let at = |id: &str| page.find(&format!("id=\"{id}\"")).unwrap();
        assert!(at("topic-1") < at("topic-0"));
        assert!(page.contains("R@30: base 0.00 → other 0.") && page.contains("come first"));
    }

    #[test]
    fn requests_cannot_write_markup() {
        let page = page(&[("1", "<b>Q</b>", 1.0)]);
        assert!(!page.contains(ATTACK) && !page.contains("<script") && !page.contains("<b>Q"));
        assert!(page.contains("&lt;script&gt;alert(&quot;1&quot;)&lt;/script&gt; &amp; 'friends'"));
        assert!(page.contains("(not in the question bank)"));
    }
}
