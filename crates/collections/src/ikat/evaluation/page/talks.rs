//! The page about conversations with a simulated user: what was said, beside the statements and
//! passages that each response names.

use super::{STYLE, text_of};
use crate::Collection;
use crate::ikat::Ikat;
use crate::ikat::run::{Submission, SubmittedTurn};
use clariq_report::page::{Page, Section};
use clariq_report::words::count;
use maud::{Markup, html};

/// Renders the page; every run has a name. Passages are shown as far as the collection has them.
pub(crate) fn render(title: &str, ikat: &Ikat, runs: &[(&str, &Submission)]) -> String {
    let all = runs.iter().map(|(_, submission)| submission.turns.len()).sum();
    let content = html! {
        section id="conversations" {
            h2 { "Conversations" }
            p {
                "Open a conversation to see what the simulated user said, and each response with "
                "the statements and passages that it names."
            }
            @for (name, submission) in runs {
                h3 { (name) }
                @for turns in submission.turns.chunk_by(|a, b| topic(a) == topic(b)) {
                    details.topic {
                        summary {
                            span.number { (topic(&turns[0])) } " "
                            span.request { (said(&turns[0])) } " "
                            span.range { (count(turns.len(), "turn")) }
                        }
                        div.inside { @for turn in turns { (details(ikat, turn)) } }
                    }
                }
            }
        }
    };
    Page {
        title,
        lead: format!("{} with simulated users, {}.", count(runs.len(), "run"), count(all, "turn")),
        sections: vec![Section { id: "conversations", name: "Conversations", content }],
        footer: html! { "Texts of passages are those of " (ikat.label()) "." },
        style: STYLE,
    }
    .render()
}

/// The conversation of a turn.
fn topic(turn: &SubmittedTurn) -> &str {
    turn.id.rsplit_once('_').map_or(&turn.id, |(topic, _)| topic)
}

/// What the user says in a turn.
fn said(turn: &SubmittedTurn) -> &str {
    turn.utterance.as_deref().unwrap_or_default()
}

fn details(ikat: &Ikat, turn: &SubmittedTurn) -> Markup {
    html! {
        div.answer {
            h3 { "User: " (said(turn)) }
            @for response in &turn.responses {
                div.lists {
                    div.list {
                        h4 { "Statements" }
                        ul { @for statement in &response.statements { li { (statement.text) } } }
                    }
                    div.list {
                        h4 { "Passages" }
                        ol {
                            @for passage in &response.passages {
                                li { (text_of(ikat, &passage.id)) " " span.id { (passage.id) } }
                            }
                        }
                    }
                    div.list { h4 { "Response" } p.response { (response.text) } }
                }
            }
        }
    }
}
