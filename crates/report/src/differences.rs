//! Differences between each run and the baseline, topic by topic.

use crate::bars::{self, Bar};
use crate::judged::{Judged, Scored};
use crate::markup::scroll;
use crate::words::{difference, figure};
use maud::{Markup, html};

/// One chart and one table per run that is not the baseline; nothing where there is only one run.
pub(crate) fn section(judged: &Judged) -> Markup {
    let baseline = &judged.baseline().entry.name;
    html! {
        @if judged.runs.len() > 1 {
            section id="differences" {
                h2 { "Differences by topic" }
                p {
                    "R@30 of each run minus R@30 of " b { (baseline) } ", topic by topic, sorted. "
                    "Bars go up (and are blue) where the run is better, down (and are orange) where "
                    b { (baseline) } " is. No bar: no difference."
                }
                @for (index, run) in judged.others() { (one(judged, index, run)) }
            }
        }
    }
}

fn one(judged: &Judged, index: usize, run: &Scored) -> Markup {
    let sorted = sort_by_difference(judged, run);
    let bars: Vec<Bar> = sorted
        .iter()
        .map(|&(topic, value)| Bar { name: judged.topics[topic].topic.id.as_str(), value })
        .collect();
    let baseline = &judged.baseline().entry.name;
    let (id, title) = (
        format!("difference-{index}"),
        format!("R@30 of {} minus R@30 of {baseline}", run.entry.name),
    );
    let [better, same, worse] =
        [|value| value > 0.0, |value| value == 0.0, |value: f64| value < 0.0]
            .map(|is: fn(f64) -> bool| sorted.iter().filter(|(_, value)| is(*value)).count());
    let same_everywhere = same == sorted.len();
    html! {
        figure {
            figcaption {
                h3 { (run.entry.name) " against " (baseline) }
                p {
                    @if same_everywhere { "The same on all " (sorted.len()) " topics." }
                    @else {
                        "Better on " (better) ", the same on " (same) ", worse on " (worse) " of "
                        (sorted.len()) " topics."
                    }
                }
            }
            @if !same_everywhere {
                (scroll(&title, &bars::chart(&bars, &id, &title, "difference in R@30")))
            }
        }
        @if !same_everywhere {
            details {
                summary { "The same as numbers, with requests" }
                (scroll(&title, &table(judged, run, &sorted)))
            }
        }
    }
}

/// Topics and their differences, the best for the run first; equal ones in the order of topics.
fn sort_by_difference(judged: &Judged, run: &Scored) -> Vec<(usize, f64)> {
    let difference = |topic| run.deepest(topic) - judged.baseline().deepest(topic);
    let mut sorted: Vec<(usize, f64)> =
        (0..judged.topics.len()).map(|topic| (topic, difference(topic))).collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    sorted
}

fn table(judged: &Judged, run: &Scored, sorted: &[(usize, f64)]) -> Markup {
    html! {
        table.texts {
            caption { "R@30 by topic" }
            thead {
                tr {
                    th scope="col" { "topic" } th.text scope="col" { "request" }
                    th scope="col" { (judged.baseline().entry.name) }
                    th scope="col" { (run.entry.name) }
                    th scope="col" { "difference" }
                }
            }
            tbody {
                @for &(topic, value) in sorted {
                    tr {
                        th scope="row" {
                            a href={ "#topic-" (topic) } { (judged.topics[topic].topic.id) }
                        }
                        td.text { (judged.topics[topic].topic.request) }
                        td { (figure(judged.baseline().deepest(topic))) }
                        td { (figure(run.deepest(topic))) }
                        td { (difference(value)) }
                    }
                }
            }
        }
    }
}
