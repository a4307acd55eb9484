//! Differences between each run and the baseline, topic by topic.

use crate::bars::{self, Bar};
use crate::means;
use crate::page::{Section, scroll};
use crate::scores::{ComparedRuns, RunScores};
use crate::words::{difference, figure};
use maud::{Markup, html};

/// The measure that runs are compared by, topic by topic; another by which a run differs, if it does
/// not by this one.
#[derive(Clone)]
pub(crate) struct Focus<'a> {
    /// The id of the section.
    pub(crate) id: &'static str,
    /// Its name in the contents.
    pub(crate) name: &'static str,
    /// The heading of the section.
    pub(crate) heading: String,
    /// The position of the column.
    pub(crate) column: usize,
    /// The topics of the column, in its order.
    pub(crate) topics: Vec<TopicRow<'a>>,
}

impl<'a> Focus<'a> {
    /// The column at that position by topic; `topics` has the ids and requests. The parts of the
    /// page about topics have the ids `topic-0`, `topic-1` and so on.
    pub(crate) fn by_topic(
        column: usize,
        topics: impl Iterator<Item = (&'a str, &'a str)>,
    ) -> Self {
        let topic =
            |(index, (id, request))| TopicRow { id, request, anchor: format!("topic-{index}") };
        Self {
            id: "differences",
            name: "Differences",
            heading: "Differences by topic".to_owned(),
            column,
            topics: topics.enumerate().map(topic).collect(),
        }
    }
}

/// A topic as the tables show it.
#[derive(Clone)]
pub(crate) struct TopicRow<'a> {
    pub(crate) id: &'a str,
    /// The text of the request.
    pub(crate) request: &'a str,
    /// The id of its part of the page.
    pub(crate) anchor: String,
}

/// A chart and a table per run other than the baseline; nothing without such runs.
pub(crate) fn section(compared: &ComparedRuns, focus: &Focus) -> Option<Section> {
    let baseline = compared.baseline().name;
    let unit = compared.unit;
    let content = html! {
        section id=(focus.id) {
            h2 { (focus.heading) }
            figure {
                figcaption {
                    h3 { "Mean " (compared.baseline().scores[focus.column].name()) }
                    p { "Lines are 95 % intervals of the means over " (unit) "s (bootstrap, seed " (compared.seed) ")." }
                }
                (scroll("Means", &means::chart(compared, focus.column, &format!("{}-means", focus.id))))
            }
            p {
                "The score of each run minus that of " b { (baseline) } ", " (unit) " by "
                (unit) ", sorted. "
                "Blue: the run is better. Orange: " b { (baseline) } " is. Without a difference, a " (unit) " has no bar."
            }
            @for (index, run) in compared.others() {
                @let column = compared.telling(focus.column, &[index]);
                (compare_run(compared, &Focus { column, ..focus.clone() }, index, run))
            }
        }
    };
    (compared.runs.len() > 1).then_some(Section { id: focus.id, name: focus.name, content })
}

/// The chart and the table of a run.
fn compare_run(compared: &ComparedRuns, focus: &Focus, index: usize, run: &RunScores) -> Markup {
    let sorted = sort_by_difference(compared, focus, run);
    let bars: Vec<Bar> = sorted
        .iter()
        .filter(|(_, value)| *value != 0.0)
        .map(|&(topic, value)| Bar { name: focus.topics[topic].id, value })
        .collect();
    let baseline = compared.baseline().name;
    let unit = compared.unit;
    let measure = run.scores[focus.column].name();
    let short = &run.scores[focus.column].measure;
    let id = format!("{}-{index}", focus.id);
    let title = format!("{measure} of {} minus {measure} of {baseline}", run.name);
    let better = sorted.iter().filter(|(_, value)| *value > 0.0).count();
    let worse = sorted.iter().filter(|(_, value)| *value < 0.0).count();
    let same = sorted.len() - better - worse;
    let same_everywhere = same == sorted.len();
    html! {
        figure {
            figcaption {
                h3 { (run.name) " against " (baseline) " by " (measure) }
                p {
                    @if same_everywhere { "The same by every measure on all " (sorted.len()) " " (unit) "s." }
                    @else {
                        "Better on " (better) ", the same on " (same) ", worse on " (worse) " of "
                        (sorted.len()) " " (unit) "s."
                    }
                }
            }
            @if !same_everywhere {
                (scroll(&title, &bars::chart(&bars, &id, &title, short, unit)))
            }
        }
        @if !same_everywhere {
            details {
                summary { "The same scores in a table, with requests" }
                (scroll(&title, &table(compared, focus, run, &sorted)))
            }
        }
    }
}

/// Topics and their differences, the best for the run first; equal ones in the order of topics.
fn sort_by_difference(
    compared: &ComparedRuns,
    focus: &Focus,
    run: &RunScores,
) -> Vec<(usize, f64)> {
    let values = |run: &RunScores| run.scores[focus.column].values.clone();
    let pairs = values(run).into_iter().zip(values(compared.baseline()));
    let mut sorted: Vec<(usize, f64)> =
        pairs.map(|((_, value), (_, base))| value - base).enumerate().collect();
    sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
    sorted
}

fn table(
    compared: &ComparedRuns,
    focus: &Focus,
    run: &RunScores,
    sorted: &[(usize, f64)],
) -> Markup {
    let value = |run: &RunScores, topic: usize| figure(run.scores[focus.column].values[topic].1);
    html! {
        table.texts {
            caption { (run.scores[focus.column].name()) " by " (compared.unit) }
            thead {
                tr {
                    th scope="col" { (compared.unit) } th.text scope="col" { "request" }
                    th scope="col" { (compared.baseline().name) }
                    th scope="col" { (run.name) }
                    th scope="col" { "difference" }
                }
            }
            tbody {
                @for &(topic, change) in sorted {
                    @let shown = &focus.topics[topic];
                    tr {
                        th scope="row" { a href={ "#" (shown.anchor) } { (shown.id) } }
                        td.text { (shown.request) }
                        td { (value(compared.baseline(), topic)) }
                        td { (value(run, topic)) }
                        td { (difference(change)) }
                    }
                }
            }
        }
    }
}
