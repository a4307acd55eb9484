//! The figures of every run, and which of them differ significantly.

use crate::comparison::{Comparison, Entry};
use crate::judged::{Judged, Scored};
use crate::markup::scroll;
use crate::significance::{LEVEL, Tested};
use crate::words::{count, difference, effect, figure, p_value, thousands};
use clariq_eval::{CUTOFFS, ROUNDS, diagnose, recall_interval};
use maud::{Markup, html};

pub(crate) fn section(comparison: &Comparison, judged: &Judged, tested: &[Tested]) -> Markup {
    let compared = judged.runs.len() > 1;
    html! {
        section id="figures" {
            h2 { "Figures" }
            p {
                "Recall of relevant questions among the first 5, 10, 20 and 30, as the official "
                "scorer computes it, averaged over " (count(judged.topics.len(), "topic")) "."
                @if compared { " The highest of each column is bold." }
            }
            (scroll("Recall of every run", &table(judged, tested)))
            @if compared {
                p.note {
                    "▲ significantly better, ▼ significantly worse than the baseline: p ≤ " (LEVEL)
                    " in a two-sided paired randomisation test over topics ("
                    (thousands(ROUNDS as usize)) " rounds, seed " (comparison.seed)
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
                @for (index, run) in judged.runs.iter().enumerate() {
                    tr {
                        th scope="row" {
                            (run.entry.name)
                            @if judged.runs.len() > 1 && index == judged.baseline {
                                " " span.tag { "baseline" }
                            }
                        }
                        @for cutoff in 0..CUTOFFS.len() {
                            (cell(judged, tested, index, run, cutoff))
                        }
                        @if uses { td.text { (list_uses(run.entry)) } }
                    }
                }
            }
        }
    }
}

fn cell(judged: &Judged, tested: &[Tested], index: usize, run: &Scored, cutoff: usize) -> Markup {
    let highest = judged.runs.iter().map(|run| run.means[cutoff]).fold(0.0, f64::max);
    let best = judged.runs.len() > 1 && run.means[cutoff] == highest;
    let found = tested
        .iter()
        .find(|tested| (tested.run, tested.cutoff) == (index, cutoff) && tested.is_significant());
    html! {
        td {
            @if best { b { (figure(run.means[cutoff])) } } @else { (figure(run.means[cutoff])) }
            span.sign { (found.map_or(html! {}, mark_direction)) }
        }
    }
}

fn mark_direction(tested: &Tested) -> Markup {
    let better = tested.test.mean_difference > 0.0;
    let (sign, class, words) = if better {
        ("▲", "up", "better than the baseline")
    } else {
        ("▼", "down", "worse than the baseline")
    };
    html! { span class=(class) aria-hidden="true" { (sign) } span.unseen { " " (words) } }
}

fn list_uses(entry: &Entry) -> String {
    if entry.uses.is_empty() { "–".to_owned() } else { entry.uses.join(", ") }
}

/// The columns of a test, after run and measure.
const TESTS: [&str; 8] = [
    "difference",
    "better on",
    "same on",
    "worse on",
    "effect size",
    "p (t-test)",
    "p (randomisation)",
    "p (Holm)",
];

fn tests(judged: &Judged, tested: &[Tested]) -> Markup {
    html! {
        table {
            caption { "Each run against " (judged.baseline().entry.name) }
            thead {
                tr {
                    th scope="col" { "run" } th scope="col" { "measure" }
                    @for name in TESTS { th scope="col" { (name) } }
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
            td {
                (p_value(tested.corrected))
                span.sign { @if tested.is_significant() { (mark_direction(tested)) } }
            }
        }
    }
}

/// Oddities of runs that a reader would not expect; nothing where there are none.
fn remarks(comparison: &Comparison) -> Markup {
    let remarks: Vec<(&str, String)> = comparison
        .runs
        .iter()
        .flat_map(|entry| {
            diagnose_run(comparison, entry).into_iter().map(|remark| (entry.name.as_str(), remark))
        })
        .collect();
    html! {
        @if !remarks.is_empty() {
            h3 { "Remarks" }
            ul { @for (name, remark) in remarks { li { b { (name) } ": " (remark) } } }
        }
    }
}

fn diagnose_run(comparison: &Comparison, entry: &Entry) -> Vec<String> {
    let topics = comparison.labels.topics.iter().map(|topic| &topic.id);
    let found = diagnose(&entry.run, topics, Some(comparison.bank));
    let mut remarks = Vec::new();
    if found.dropped_lines > 0 {
        let range = recall_interval(&entry.run, comparison.labels);
        remarks.push(format!(
            "{} of {} repeat a score and are dropped, as by the official scorer. Over all orders \
             of equal scores, R@30 lies between {} and {}.",
            count(found.dropped_lines, "line"),
            count(found.dropped_topics, "topic"),
            figure(range.lowest[3]),
            figure(range.highest[3])
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
