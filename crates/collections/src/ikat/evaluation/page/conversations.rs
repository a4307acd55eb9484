//! The conversations: what the user says about themselves, and the turns.

use super::known::Known;
use super::{Comparison, turn};
use crate::ikat::Conversation;
use clariq_report::words::count;
use maud::{Markup, html};

pub(super) fn section(comparison: &Comparison, known: &Known) -> Markup {
    html! {
        section id="conversations" {
            h2 { "Conversations" }
            p {
                "Open a conversation and a turn to see what each run gave for it, beside what the "
                "organisers did. " span.mark { "✓" } " marks what labels call relevant (a passage that "
                "the organisers cite, or that NIST grades 2 or higher), "
                span.cross { "✗" } " what a run does not have."
            }
            @for (index, conversation) in comparison.topics.conversations.iter().enumerate() {
                (one(known, index, conversation))
            }
        }
    }
}

fn one(known: &Known, index: usize, conversation: &Conversation) -> Markup {
    html! {
        details.topic id={ "conversation-" (index) } {
            summary {
                span.number { (conversation.number) } " " span.request { (conversation.title) } " "
                span.range { (count(conversation.turns.len(), "turn")) }
            }
            div.inside {
                details {
                    summary {
                        "What the user says about themselves: "
                        (count(conversation.statements.len(), "statement"))
                    }
                    ol { @for text in &conversation.statements { li { (text) } } }
                }
                @for turn in &conversation.turns {
                    (turn::details(known, index, conversation, turn))
                }
            }
        }
    }
}
