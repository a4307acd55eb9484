//! Recall at every depth, as numbers and as a chart, whose lines differ in colour, dashes and the name
//! at the end.

use super::judged::{DEPTH, JudgedRuns, OfficialRun};
use crate::page::scroll;
use crate::scale::{Scale, px, spread, steps_to};
use crate::words::figure;
use clariq_core::fit;
use clariq_track_clariq::evaluation::CUTOFFS;
use maud::{Markup, html};

const WIDTH: f64 = 640.0;
const HEIGHT: f64 = 400.0;
const LEFT: f64 = 58.0;
const RIGHT: f64 = 476.0;
const TOP: f64 = 14.0;
const BOTTOM: f64 = 348.0;

/// The number of colours, and of dash patterns.
const KINDS: usize = 6;
/// With more runs than this, names at the ends of lines are harder to read than the legend.
const NAMED: usize = 12;

pub(crate) fn section(judged: &JudgedRuns) -> Markup {
    html! {
        section id="depth" {
            h2 { "Recall against depth" }
            p {
                "The share of a topic's relevant questions among the first questions of its list, "
                "averaged over topics."
            }
            figure {
                (scroll("Chart of recall against depth", &chart(judged)))
                (legend(judged))
            }
            details {
                summary { "The same as numbers" }
                (scroll("Recall at every depth", &numbers(judged)))
            }
        }
    }
}

fn legend(judged: &JudgedRuns) -> Markup {
    html! {
        ul.legend {
            @for (index, run) in judged.runs.iter().enumerate() {
                li {
                    svg.swatch viewBox="0 0 44 12" aria-hidden="true" {
                        g class=(line_classes(index)) {
                            polyline points="1,6 43,6" {} circle cx="22" cy="6" r="3.5" {}
                        }
                    }
                    (run.shown.name)
                }
            }
        }
    }
}

fn numbers(judged: &JudgedRuns) -> Markup {
    html! {
        table {
            caption { "Mean recall at every depth" }
            thead {
                tr {
                    th scope="col" { "depth" }
                    @for run in &judged.runs { th scope="col" { (run.shown.name) } }
                }
            }
            tbody {
                @for depth in 0..DEPTH {
                    tr {
                        th scope="row" { (depth + 1) }
                        @for run in &judged.runs { td { (figure(run.curve[depth])) } }
                    }
                }
            }
        }
    }
}

/// The classes of a run's line. Six runs differ in colour and dashes; further runs repeat colours
/// with other dashes.
fn line_classes(run: usize) -> String {
    format!("line c{} d{}", run % KINDS, (run + run / KINDS) % KINDS)
}

fn chart(judged: &JudgedRuns) -> Markup {
    let highest = judged.runs.iter().flat_map(|run| &run.curve).copied().fold(0.0, f64::max);
    let ticks = steps_to(highest, 0.1);
    let x = Scale { from: (1.0, DEPTH as f64), to: (LEFT, RIGHT) };
    let y = Scale { from: (0.0, ticks as f64 / 10.0), to: (BOTTOM, TOP) };
    html! {
        svg.chart viewBox={ "0 0 " (px(WIDTH)) " " (px(HEIGHT)) } role="img"
            aria-labelledby="depth-title" {
            title id="depth-title" { "Mean recall of relevant questions at depth 1 to " (DEPTH) }
            (axes(x, y, ticks))
            @for (index, run) in judged.runs.iter().enumerate() { (line(index, run, x, y)) }
            @if judged.runs.len() <= NAMED { (names(judged, y)) }
        }
    }
}

fn axes(x: Scale, y: Scale, ticks: usize) -> Markup {
    let middle = f64::midpoint(TOP, BOTTOM);
    html! {
        @for tick in 0..=ticks {
            @let value = tick as f64 / 10.0;
            @let at = px(y.at(tick as f64 / 10.0));
            line.grid x1=(px(LEFT)) x2=(px(RIGHT)) y1=(at) y2=(at) {}
            text.tick x=(px(LEFT - 8.0)) y=(at) dy="0.35em" text-anchor="end" {
                (format!("{value:.1}"))
            }
        }
        @for depth in [1, 5, 10, 15, 20, 25, 30] {
            @let at = px(x.at(f64::from(depth)));
            line.axis x1=(at) x2=(at) y1=(px(BOTTOM)) y2=(px(BOTTOM + 5.0)) {}
            text.tick x=(at) y=(px(BOTTOM + 20.0)) text-anchor="middle" { (depth) }
        }
        line.axis x1=(px(LEFT)) x2=(px(RIGHT)) y1=(px(BOTTOM)) y2=(px(BOTTOM)) {}
        text.name x=(px(f64::midpoint(LEFT, RIGHT))) y=(px(HEIGHT - 8.0)) text-anchor="middle" {
            "depth (questions looked at)"
        }
        text.name x="16" y=(px(middle)) transform={ "rotate(-90 16 " (px(middle)) ")" }
            text-anchor="middle" { "mean recall" }
    }
}

fn line(index: usize, run: &OfficialRun, x: Scale, y: Scale) -> Markup {
    let points = run
        .curve
        .iter()
        .zip(1..)
        .map(|(&recall, depth)| (px(x.at(f64::from(depth))), px(y.at(recall))));
    let points: Vec<(String, String)> = points.collect();
    let path: Vec<String> = points.iter().map(|(x, y)| format!("{x},{y}")).collect();
    html! {
        g class=(line_classes(index)) {
            title { (run.shown.name) }
            polyline points=(path.join(" ")) {}
            @for cutoff in CUTOFFS {
                @let (x, y) = &points[cutoff - 1];
                circle cx=(x) cy=(y) r="3.5" {
                    title { (run.shown.name) ": R@" (cutoff) " " (figure(run.curve[cutoff - 1])) }
                }
            }
        }
    }
}

/// The names at the ends of the lines, moved apart, each with a stroke to its line.
fn names(judged: &JudgedRuns, y: Scale) -> Markup {
    let ends: Vec<f64> = judged.runs.iter().map(|run| y.at(run.curve[DEPTH - 1])).collect();
    let positions = spread(&ends, 17.0, BOTTOM);
    let runs = judged.runs.iter();
    html! {
        @for (index, ((run, end), label)) in runs.zip(&ends).zip(&positions).enumerate() {
            g class={ "end c" (index % KINDS) } {
                line x1=(px(RIGHT + 5.0)) x2=(px(RIGHT + 15.0)) y1=(px(*end)) y2=(px(*label)) {}
                text x=(px(RIGHT + 19.0)) y=(px(*label)) dy="0.35em" {
                    (fit(&run.shown.name, 17))
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::line_classes;
    use std::collections::BTreeSet;

    #[test]
    fn six_runs_differ_in_colour_and_dashes_and_36_in_one_of_them() {
        assert_eq!(line_classes(2), "line c2 d2");
        assert_eq!((0..36).map(line_classes).collect::<BTreeSet<_>>().len(), 36);
    }
}
