//! A turn: what was said, the organisers' answer, and below it that of each run.

use super::known::{Answers, Known, Label};
use crate::words::{figure, shorten};
use clariq_collections::ikat::{Conversation, Turn};
use maud::{Markup, html};
use std::collections::HashSet;

/// Statements and passages that are shown of a ranking. Below them are the relevant ones of lower
/// ranks.
const SHOWN: usize = 5;
/// The characters that are shown of a passage.
const EXCERPT: usize = 240;

/// The id of a turn on the page.
pub(super) fn anchor(conversation: usize, turn: u32) -> String {
    format!("turn-{conversation}-{turn}")
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

pub(super) fn details(
    known: &Known,
    index: usize,
    conversation: &Conversation,
    turn: &Turn,
) -> Markup {
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
    let cited = turn.citations.iter().flatten().map(|id| passage(known, turn, id, None));
    html! {
        div.answer {
            h3 { "Labels and the organisers' response" }
            (side_by_side(&statements.collect::<Vec<_>>(), &cited.collect::<Vec<_>>(), &turn.response))
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
    let response = run.response(&turn.id).map_or("", |response| response.text.as_str());
    html! {
        div.answer {
            h3 { (run.entry.name) }
            p.note {
                @for (index, (name, value)) in run.figures(&turn.id).iter().enumerate() {
                    @if index > 0 { " · " } (name) " " (figure(*value))
                }
            }
            (side_by_side(&statements.collect::<Vec<_>>(), &passages.collect::<Vec<_>>(), response))
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
    let shown: HashSet<&str> = selected.iter().map(|(_, id)| *id).collect();
    let mut further: Vec<_> = wanted
        .filter(|id| !shown.contains(id))
        .map(|id| (ranked.iter().position(|known| *known == id).map(|index| index + 1), id))
        .collect();
    further.sort_by_key(|(rank, _)| rank.unwrap_or(usize::MAX));
    further.dedup();
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
    let text = shorten(known.text(id), EXCERPT);
    Item { rank, id, text, label: known.passage(&turn.id, id), is_used: false }
}

fn side_by_side(statements: &[Item], passages: &[Item], response: &str) -> Markup {
    html! {
        div.lists {
            div.list { h4 { "Statements" } (list(statements, "No statement.")) }
            div.list { h4 { "Passages" } (list(passages, "No passage.")) }
            div.list {
                h4 { "Response" }
                @if response.trim().is_empty() { p.note { "No response." } }
                @else { p.response { (response) } }
            }
        }
    }
}

/// A list by rank; labels without a ranking have none.
fn list(items: &[Item], nothing: &str) -> Markup {
    let is_ranked = items.iter().any(|item| item.rank.is_some());
    html! {
        @if items.is_empty() { p.note { (nothing) } }
        @else if is_ranked {
            ol {
                @for item in items.iter().filter(|item| item.rank.is_some()) {
                    li.hit[item.label.is_relevant] value=[item.rank] { (line(item, "✓")) }
                }
            }
            @let missed: Vec<&Item> = items.iter().filter(|item| item.rank.is_none()).collect();
            @if !missed.is_empty() {
                ul.missed { @for item in missed { li { (line(item, "✗")) } } }
            }
        } @else {
            ul { @for item in items { li { (line(item, "✓")) } } }
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
