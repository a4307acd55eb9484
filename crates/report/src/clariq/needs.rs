//! A confusion matrix of clarification needs per need file.

use super::ClariqPage;
use crate::page::scroll;
use crate::words::{count, figure};
use clariq_track_clariq::evaluation::{NeedClass, NeedReport, clarification_need, need_report};
use clariq_track_clariq::{Labelled, NeedLine};
use maud::{Markup, html};

/// The number of shades of a cell, by its share of the row.
const SHADES: usize = 5;

/// A confusion matrix per need file.
pub(crate) fn section(comparison: &ClariqPage) -> Markup {
    html! {
        section id="needs" {
            h2 { "Clarification need" }
            p {
                "Rows are the labels, columns the predictions, from 1 (clear by itself) to 4 "
                "(cannot be answered without a clarifying question); ✓ marks correct predictions. The "
                "stronger the colour of a cell, the larger its share of the row."
            }
            div.matrices {
                @for (name, lines) in comparison.named_needs() {
                    (matrix(name, lines, comparison.labels))
                }
            }
        }
    }
}

fn matrix(name: &str, lines: &[NeedLine], labels: &Labelled) -> Markup {
    let report = need_report(lines, labels);
    let scores = clarification_need(lines, labels);
    html! {
        div.matrix {
            h3 { (name) }
            (scroll(&format!("Confusion matrix of {name}"), &table(&report)))
            p {
                "Precision " (figure(scores.precision)) ", recall " (figure(scores.recall))
                ", F1 " (figure(scores.f1)) ", weighted by class as by the official scorer. "
                "Accuracy " (figure(report.accuracy)) ", off by " (figure(report.mean_absolute_error))
                " on average"
                @if let Some(kappa) = report.quadratic_kappa {
                    ", quadratically weighted kappa " (figure(kappa))
                }
                "."
            }
            @if scores.unknown > 0 {
                p.note {
                    (count(scores.unknown, "predicted topic")) " not among the labels, ignored."
                }
            }
        }
    }
}

fn table(report: &NeedReport) -> Markup {
    let sum = |column: usize| {
        report.classes.iter().map(|class| class.predicted_as[column]).sum::<usize>()
    };
    // The last column is for predictions outside 1 to 4, and is shown only if there are any.
    let columns: Vec<usize> = (1..=4).chain((sum(0) > 0).then_some(0)).collect();
    html! {
        table.confusion {
            thead {
                tr { td {} th scope="colgroup" colspan=(columns.len()) { "predicted" } td {} }
                tr {
                    th scope="col" { "labelled" }
                    @for &column in &columns {
                        th scope="col" { @if column == 0 { "none" } @else { (column) } }
                    }
                    th scope="col" { "all" }
                }
            }
            tbody {
                @for class in &report.classes {
                    tr {
                        th scope="row" { (class.need) }
                        @for &column in &columns { (cell(class, column)) }
                        td.all { (class.support) }
                    }
                }
                tr {
                    th scope="row" { "all" }
                    @for &column in &columns { td.all { (sum(column)) } }
                    td.all { (report.classes.iter().map(|class| class.support).sum::<usize>()) }
                }
            }
        }
    }
}

fn cell(class: &NeedClass, column: usize) -> Markup {
    let predicted = class.predicted_as[column];
    let shade = (predicted * SHADES).div_ceil(class.support.max(1));
    html! {
        td class={ "shade" (shade) } {
            (predicted)
            @if column == usize::from(class.need) {
                span.right aria-hidden="true" { " ✓" } span.unseen { " right" }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::clariq::tests::Small;
    use clariq_files::Source;

    fn page(lines: &[(&str, i64)]) -> String {
        let mut small = Small::new(&[("run", &[])]);
        let lines = lines
            .iter()
            .map(|&(topic, label)| NeedLine { topic: topic.into(), label, line: 1 })
            .collect();
        small.need_files = vec![("need".to_owned(), Source::memory("need", *b""))];
        small.needs = vec![lines];
        section(&small.comparison()).into_string()
    }

    #[test]
    fn predictions_outside_the_scale_have_their_own_column() {
        assert!(!page(&[("1", 1), ("2", 2)]).contains(">none<"));
        let page = page(&[("1", 1), ("2", 7)]);
        assert!(
            page.contains(">none<") && page.contains("Accuracy 0.5000, off by 1.0000"),
            "{page}"
        );
    }

    #[test]
    fn shades_grow_with_the_share_of_the_row() {
        let class = NeedClass {
            need: 1,
            precision: 0.0,
            recall: 0.0,
            f1: 0.0,
            support: 10,
            predicted_as: [0, 1, 5, 4, 0],
        };
        let shades: Vec<String> = (0..4).map(|column| cell(&class, column).into_string()).collect();
        for (shade, expected) in shades.iter().zip(["shade0", "shade1", "shade3", "shade2"]) {
            assert!(shade.contains(expected), "{shade}");
        }
    }
}
