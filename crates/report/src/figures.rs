//! What are the figures, and which of them differ by more than luck?

use crate::judged::{Judged, Scored};
use crate::page::scroll;
use crate::significance::{LEVEL, Tested};
use crate::words::{count, difference, effect, figure, p_value, thousands};
use crate::{Comparison, Entry};
use clariq_eval::{CUTOFFS, ROUNDS, diagnose, recall_interval};
use maud::{Markup, html};

pub(crate) fn section(comparison: &Comparison, judged: &Judged, tested: &[Tested]) -> Markup {
    let compared = judged.runs.len() > 1;
    html! {
        section id="figures" {
            h2 { "Figures" }
            p {
                "Recall of relevant questions among the first 5, 10, 20 and 30, as the official scorer computes it, averaged "
                "over " (count(judged.topics.len(), "topic")) "."
                @if compared { " The highest of each column is bold." }
            }
            (scroll("Recall of every run", &table(judged, tested)))
            @if compared {
                p.note {
                    "▲ better, ▼ worse than the baseline by more than luck: p ≤ " (LEVEL) " in a two-sided paired "
                    "randomisation test over topics (" (thousands(ROUNDS as usize)) " rounds, seed " (comparison.seed)
                    "), after Holm's correction for the " (count(tested.len(), "comparison"))
                    " of this table. No mark: not shown to differ."
                }
                details {
                    summary { "The tests in full" }
                    (scroll("Tests against the baseline", &tests(judged, tested)))
                }
            }
            (remarks(comparison))
        }
    }
}

fn table(judged: &Judged, tested: &[Tested]) -> Markup {
    let uses = judged.runs.iter().any(|run| !run.entry.uses.is_empty());
    html! {
        table {
            caption { "Recall of relevant questions" }
            thead {
                tr {
                    th scope="col" { "run" }
                    @for cutoff in CUTOFFS { th scope="col" { "R@" (cutoff) } }
                    @if uses { th.text scope="col" { "uses" } }
                }
            }
            tbody {
                @for (place, run) in judged.runs.iter().enumerate() {
                    tr {
                        th scope="row" {
                            (run.entry.name)
                            @if judged.runs.len() > 1 && place == judged.baseline { " " span.tag { "baseline" } }
                        }
                        @for cutoff in 0..CUTOFFS.len() { (cell(judged, tested, place, run, cutoff)) }
                        @if uses { td.text { (used(run.entry)) } }
                    }
                }
            }
        }
    }
}

fn cell(judged: &Judged, tested: &[Tested], place: usize, run: &Scored, cutoff: usize) -> Markup {
    let highest = judged.runs.iter().map(|run| run.means[cutoff]).fold(0.0, f64::max);
    let best = judged.runs.len() > 1 && run.means[cutoff] == highest;
    let found = tested
        .iter()
        .find(|tested| (tested.run, tested.cutoff) == (place, cutoff) && tested.is_significant());
    html! {
        td {
            @if best { b { (figure(run.means[cutoff])) } } @else { (figure(run.means[cutoff])) }
            span.sign { (found.map_or(html! {}, mark)) }
        }
    }
}

fn mark(tested: &Tested) -> Markup {
    let better = tested.test.mean_difference > 0.0;
    let (sign, class, words) = if better {
        ("▲", "up", "better than the baseline")
    } else {
        ("▼", "down", "worse than the baseline")
    };
    html! { span class=(class) aria-hidden="true" { (sign) } span.unseen { " " (words) } }
}

fn used(entry: &Entry) -> String {
    if entry.uses.is_empty() { "–".to_owned() } else { entry.uses.join(", ") }
}

fn tests(judged: &Judged, tested: &[Tested]) -> Markup {
    html! {
        table {
            caption { "Each run against " (judged.baseline().entry.name) }
            thead {
                tr {
                    th scope="col" { "run" } th scope="col" { "measure" }
                    @for name in ["difference", "better on", "same on", "worse on", "effect size", "p (t-test)",
                        "p (randomisation)", "p (Holm)"] {
                        th scope="col" { (name) }
                    }
                }
            }
            tbody { @for tested in tested { (test_row(judged, tested)) } }
        }
        p.note {
            "Effect size: mean difference over standard deviation of the differences (Cohen's d"
            sub { "z" } "). A dash: all topics differ alike."
        }
    }
}

fn test_row(judged: &Judged, tested: &Tested) -> Markup {
    let test = &tested.test;
    html! {
        tr.first[tested.cutoff == 0] {
            th scope="row" { (judged.runs[tested.run].entry.name) }
            td { "R@" (CUTOFFS[tested.cutoff]) }
            td { (difference(test.mean_difference)) }
            td { (test.wins) } td { (test.ties) } td { (test.losses) }
            td { (effect(test.effect_size)) }
            td { (p_value(test.t_p)) } td { (p_value(test.randomisation_p)) }
            td { (p_value(tested.corrected)) span.sign { @if tested.is_significant() { (mark(tested)) } } }
        }
    }
}

/// What in a run would surprise its reader; nothing where there is nothing.
fn remarks(comparison: &Comparison) -> Markup {
    let remarks: Vec<(&str, String)> = comparison
        .runs
        .iter()
        .flat_map(|entry| {
            surprises(comparison, entry).into_iter().map(|remark| (entry.name.as_str(), remark))
        })
        .collect();
    html! {
        @if !remarks.is_empty() {
            h3 { "Remarks" }
            ul { @for (name, remark) in remarks { li { b { (name) } ": " (remark) } } }
        }
    }
}

fn surprises(comparison: &Comparison, entry: &Entry) -> Vec<String> {
    let topics = comparison.labels.topics.iter().map(|topic| &topic.id);
    let found = diagnose(&entry.run, topics, Some(comparison.bank));
    let mut remarks = Vec::new();
    if found.dropped_lines > 0 {
        let range = recall_interval(&entry.run, comparison.labels);
        remarks.push(format!(
            "{} of {} repeat a score and are dropped, as the official scorer does. Over all orders of equal scores R@30 \
             lies between {} and {}.",
            count(found.dropped_lines, "line"),
            count(found.dropped_topics, "topic"),
            figure(range.lowest[3]),
            figure(range.highest[3])
        ));
    }
    let counts = [
        (found.duplicates, "line", "repeating a question of the same topic"),
        (found.missing_topics, "topic", "without an answer, counted 0"),
        (found.unknown_topics, "topic", "not among the labels and not looked at"),
        (found.unknown_questions, "line", "with a question that is not in the bank"),
    ];
    let counts = counts.iter().filter(|(number, ..)| *number > 0);
    remarks.extend(counts.map(|(number, what, how)| format!("{} {how}.", count(*number, what))));
    remarks
}
