//! Recall at every depth, as a chart and as numbers.

use super::judged::{DEPTH, Judged};
use super::lines::{chart, line_classes};
use clariq_report::page::scroll;
use clariq_report::words::figure;
use maud::{Markup, html};

pub(crate) fn section(judged: &Judged) -> Markup {
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

fn legend(judged: &Judged) -> Markup {
    html! {
        ul.legend {
            @for (index, run) in judged.runs.iter().enumerate() {
                li {
                    svg.swatch viewBox="0 0 44 12" aria-hidden="true" {
                        g class=(line_classes(index)) {
                            polyline points="1,6 43,6" {} circle cx="22" cy="6" r="3.5" {}
                        }
                    }
                    (run.entry.name)
                }
            }
        }
    }
}

fn numbers(judged: &Judged) -> Markup {
    html! {
        table {
            caption { "Mean recall at every depth" }
            thead {
                tr {
                    th scope="col" { "depth" }
                    @for run in &judged.runs { th scope="col" { (run.entry.name) } }
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
