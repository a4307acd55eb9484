//! The conversations: what the user says about themselves, and the turns with what was said, the
//! organisers' answer, and below it that of each run.

use super::Comparison;
use super::known::{Answers, Known, Label};
use crate::ikat::{Conversation, Turn};
use clariq_report::words::{count, figure, shorten};
use maud::{Markup, html};
use std::collections::HashSet;

/// Statements and passages that are shown of a ranking. Below them are the relevant ones of lower
/// ranks.
const SHOWN: usize = 5;
/// The characters that are shown of a passage.
pub(super) const EXCERPT: usize = 240;

/// The id of a turn on the page.
pub(super) fn anchor(conversation: usize, turn: u32) -> String {
    format!("turn-{conversation}-{turn}")
}

/// Whose lists are shown.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Labels,
    Run,
}

/// A line of a list.
struct Item<'a> {
    /// From 1; `None` for a relevant document that is not in the ranking.
    rank: Option<usize>,
    id: &'a str,
    text: String,
    label: Label,
    is_used: bool,
}

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
                (conversation_details(known, index, conversation))
            }
        }
    }
}

fn conversation_details(known: &Known, index: usize, conversation: &Conversation) -> Markup {
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
                    (details(known, index, conversation, turn))
                }
            }
        }
    }
}

fn details(known: &Known, index: usize, conversation: &Conversation, turn: &Turn) -> Markup {
    html! {
        details.topic.turn id=(anchor(index, turn.number)) {
            summary {
                span.number { (turn.number) } " " span.request { (turn.utterance) }
            }
            div.inside {
                @if !turn.resolved.is_empty() && turn.resolved != turn.utterance {
                    p.note { "Resolved: " (turn.resolved) }
                }
                (reference(known, conversation, turn))
                @for run in &known.runs { (answer(known, run, conversation, turn)) }
            }
        }
    }
}

/// What the organisers labelled and answered.
fn reference(known: &Known, conversation: &Conversation, turn: &Turn) -> Markup {
    let statements = relevant_statements(known, conversation, turn);
    let statements =
        statements.iter().map(|number| statement(known, conversation, turn, number, None));
    let cited = select(&[], turn.citations.iter().flatten().map(String::as_str));
    let cited = cited.into_iter().map(|(rank, id)| passage(known, turn, id, rank));
    let [statements, cited] = [statements.collect::<Vec<_>>(), cited.collect()];
    html! {
        div.answer {
            h3 { "Labels and the organisers' response" }
            (side_by_side(Kind::Labels, &statements, &cited, &turn.response))
        }
    }
}

fn answer(known: &Known, run: &Answers, conversation: &Conversation, turn: &Turn) -> Markup {
    let ranked = run.statements(&turn.id);
    let wanted = relevant_statements(known, conversation, turn);
    let statements = select(ranked, wanted.iter().map(String::as_str));
    let statements = statements
        .into_iter()
        .map(|(rank, number)| statement(known, conversation, turn, number, rank));
    let (ranked, used) = (run.passages(&turn.id), run.used(&turn.id));
    let passages = select(ranked, turn.citations.iter().flatten().map(String::as_str));
    let passages = passages.into_iter().map(|(rank, id)| {
        let item = passage(known, turn, id, rank);
        Item { is_used: used.contains(id), ..item }
    });
    let [statements, passages] = [statements.collect::<Vec<_>>(), passages.collect()];
    let response = run.response(&turn.id).map_or("", |response| response.text.as_str());
    html! {
        div.answer {
            h3 { (run.entry.name) }
            p.note {
                @for (index, (name, value)) in run.figures(&turn.id).iter().enumerate() {
                    @if index > 0 { " · " } (name) " " (figure(*value))
                }
            }
            (side_by_side(Kind::Run, &statements, &passages, response))
        }
    }
}

/// The first of a ranking, then what is wanted with the ranks that it has further down, and without
/// one where it is missing.
fn select<'a>(
    ranked: &[&'a str],
    wanted: impl Iterator<Item = &'a str>,
) -> Vec<(Option<usize>, &'a str)> {
    let first = ranked.iter().take(SHOWN).enumerate();
    let mut selected: Vec<_> = first.map(|(index, id)| (Some(index + 1), *id)).collect();
    let mut seen: HashSet<&str> = selected.iter().map(|(_, id)| *id).collect();
    let mut further: Vec<_> = wanted
        .filter(|id| seen.insert(*id))
        .map(|id| (ranked.iter().position(|known| *known == id).map(|index| index + 1), id))
        .collect();
    further.sort_by_key(|(rank, _)| rank.unwrap_or(usize::MAX));
    selected.extend(further);
    selected
}

/// The numbers of the statements that any labels call relevant.
fn relevant_statements(known: &Known, conversation: &Conversation, turn: &Turn) -> Vec<String> {
    let numbers = (1..=conversation.statements.len()).map(|number| number.to_string());
    numbers.filter(|number| known.statement(&turn.id, number).is_relevant).collect()
}

fn statement<'a>(
    known: &Known,
    conversation: &Conversation,
    turn: &Turn,
    number: &'a str,
    rank: Option<usize>,
) -> Item<'a> {
    let index = number.parse::<usize>().ok().and_then(|number| number.checked_sub(1));
    let text = index.and_then(|index| conversation.statements.get(index));
    Item {
        rank,
        id: number,
        text: text.map_or("(not one of the user's)", String::as_str).to_owned(),
        label: known.statement(&turn.id, number),
        is_used: false,
    }
}

fn passage<'a>(known: &Known, turn: &Turn, id: &'a str, rank: Option<usize>) -> Item<'a> {
    let text = shorten(&known.text(id), EXCERPT);
    Item { rank, id, text, label: known.passage(&turn.id, id), is_used: false }
}

fn side_by_side(kind: Kind, statements: &[Item], passages: &[Item], response: &str) -> Markup {
    html! {
        div.lists {
            div.list { h4 { "Statements" } (list(statements, kind, "No statement.")) }
            div.list { h4 { "Passages" } (list(passages, kind, "No passage.")) }
            div.list {
                h4 { "Response" }
                @if response.trim().is_empty() { p.note { "No response." } }
                @else { p.response { (response) } }
            }
        }
    }
}

/// What a run ranks, and below it what it lacks; or, where there is no ranking, what labels name.
fn list(items: &[Item], kind: Kind, nothing: &str) -> Markup {
    let (ranked, others): (Vec<&Item>, Vec<&Item>) =
        items.iter().partition(|item| item.rank.is_some());
    html! {
        @if items.is_empty() { p.note { (nothing) } }
        @if !ranked.is_empty() {
            ol {
                @for item in ranked {
                    li.hit[item.label.is_relevant] value=[item.rank] { (line(item, "✓")) }
                }
            }
        }
        @if !others.is_empty() && kind == Kind::Labels {
            ul { @for item in others { li { (line(item, "✓")) } } }
        } @else if !others.is_empty() {
            ul.missed { @for item in others { li { (line(item, "✗")) } } }
        }
    }
}

fn line(item: &Item, sign: &str) -> Markup {
    let (class, words) = if sign == "✗" { ("cross", "missed") } else { ("mark", "relevant") };
    html! {
        @if item.label.is_relevant {
            span class=(class) aria-hidden="true" { (sign) " " }
            span.unseen { (words) ": " }
        }
        (item.text) " " span.id { (item.id) }
        @for word in &item.label.words { " " span.tag { (word) } }
        @if item.is_used { " " span.tag { "used" } }
    }
}
