//! The page around the sections: head, style, contents and footer.

use crate::comparison::Comparison;
use crate::judged::Judged;
use crate::words::count;
use crate::{depth, differences, figures, leaderboard, needs, significance, topics};
use maud::{DOCTYPE, Markup, PreEscaped, html};

/// Nothing is loaded and nothing executes, whatever a request or the name of a run contains.
const POLICY: &str = "default-src 'none'; style-src 'unsafe-inline'; img-src data:; \
                      base-uri 'none'; form-action 'none'";
const STYLE: &str = include_str!("style.css");

/// Renders all sections that have something to show.
pub(crate) fn render(comparison: &Comparison) -> String {
    let judged = Judged::new(comparison);
    let tested = significance::test_against_baseline(&judged, comparison.seed);
    let placed = leaderboard::section(comparison, &judged);
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            (head(comparison.title))
            body {
                header {
                    h1 { (comparison.title) }
                    p { (describe(comparison, &judged)) }
                    (contents(comparison, placed.is_some()))
                }
                main {
                    (figures::section(comparison, &judged, &tested))
                    @if let Some(placed) = placed { (placed) }
                    (depth::section(&judged))
                    (differences::section(&judged))
                    (needs::section(comparison))
                    (topics::section(comparison, &judged))
                }
                (footer(comparison))
            }
        }
    };
    replace_controls(page.into_string())
}

fn head(title: &str) -> Markup {
    html! {
        head {
            meta charset="utf-8";
            meta http-equiv="Content-Security-Policy" content=(POLICY);
            meta name="viewport" content="width=device-width, initial-scale=1";
            meta name="color-scheme" content="light dark";
            meta name="generator" content={ "clariq " (env!("CARGO_PKG_VERSION")) };
            // Without it, browsers request an icon from the server.
            link rel="icon" href="data:,";
            title { (title) }
            style { (PreEscaped(STYLE)) }
        }
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
    format!("{what}, {bank}; compared with {}.", judged.baseline().entry.name)
}

fn contents(comparison: &Comparison, placed: bool) -> Markup {
    let parts = [
        ("figures", "Figures", true),
        ("leaderboard", "Leaderboard", placed),
        ("depth", "Depth", true),
        ("differences", "Differences", comparison.runs.len() > 1),
        ("needs", "Need", !comparison.needs.is_empty()),
        ("topics", "Topics", true),
    ];
    html! {
        nav aria-label="Contents" {
            @for (id, name, shown) in parts { @if shown { a href={ "#" (id) } { (name) } } }
        }
    }
}

fn footer(comparison: &Comparison) -> Markup {
    html! {
        footer {
            p {
                "Made by clariq " (env!("CARGO_PKG_VERSION")) ". Question bank "
                code { (comparison.bank.checksum().short()) }
                ", split " (comparison.split) ", seed " (comparison.seed) "."
                " Equal scores are treated as by the official scorer: of a topic's lines with the "
                "same score, the first counts."
            }
        }
    }
}

/// Replaces control characters, which HTML does not allow, by a visible mark.
fn replace_controls(page: String) -> String {
    let stray = |c: char| c.is_control() && c != '\n';
    if page.contains(stray) { page.replace(stray, "\u{fffd}") } else { page }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::testing::Small;

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

    #[test]
    fn the_style_loads_nothing() {
        assert!(!STYLE.contains("url(") && !STYLE.contains("@import") && !STYLE.contains('<'));
    }
}
