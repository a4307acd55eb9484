//! The rules on the number of turns and on their ids.

use super::super::{CheckedRun, Violations};
use crate::run::SubmittedTurn;
use crate::topics::{IkatConversation, Year};
use clariq_core::count_of;
use clariq_files::{quoted, shorten};
use std::collections::HashMap;

pub(super) fn other_number_of_turns(run: &CheckedRun, found: &mut Violations) {
    let turns = run.turns().count();
    let expected = run.topics.turns().count();
    if turns != expected {
        found.push((None, format!("{turns} in place of {expected}")));
    }
}

/// The number of turns of each conversation in the run.
fn turns_by_conversation(run: &CheckedRun) -> HashMap<String, usize> {
    let mut counts = HashMap::new();
    for turn in run.turns() {
        if let Some((conversation, _)) = split_turn_id(&turn.id, run.submission.year) {
            *counts.entry(conversation).or_default() += 1;
        }
    }
    counts
}

pub(super) fn other_number_of_conversations(run: &CheckedRun, found: &mut Violations) {
    let conversations = turns_by_conversation(run).len();
    let expected = run.topics.conversations.len();
    if conversations != expected {
        found.push((None, format!("{conversations} in place of {expected}")));
    }
}

pub(super) fn other_number_of_turns_in_a_conversation(run: &CheckedRun, found: &mut Violations) {
    let counts = turns_by_conversation(run);
    for IkatConversation { number, turns, .. } in &run.topics.conversations {
        let count = counts.get(number).copied().unwrap_or_default();
        if count != turns.len() {
            let expected = turns.len();
            found.push((None, format!("{count} of conversation {number} in place of {expected}")));
        }
    }
}

/// The conversation and the number that a turn id names. In 2024 both are whole numbers.
fn split_turn_id(id: &str, year: Year) -> Option<(String, i64)> {
    let (conversation, turn) = id.split_once('_')?;
    let turn = whole_number(turn)?;
    match year {
        Year::Y2024 => Some((whole_number(conversation)?.to_string(), turn)),
        _ => Some((conversation.to_owned(), turn)),
    }
}

/// A whole number as Python's `int` reads it, blanks around it included.
fn whole_number(text: &str) -> Option<i64> {
    text.trim().parse().ok()
}

/// The conversation of a turn, if there is one.
pub(super) fn conversation_of<'r>(
    run: &'r CheckedRun,
    turn: &SubmittedTurn,
) -> Option<&'r IkatConversation> {
    let (number, _) = split_turn_id(&turn.id, run.submission.year)?;
    run.topics.conversation(&number)
}

pub(super) fn turn_id_of_another_form(run: &CheckedRun, found: &mut Violations) {
    if run.submission.year != Year::Y2024 {
        unread_turn_ids(run, found);
    }
}

pub(super) fn turn_id_of_no_integers(run: &CheckedRun, found: &mut Violations) {
    if run.submission.year == Year::Y2024 {
        unread_turn_ids(run, found);
    }
}

fn unread_turn_ids(run: &CheckedRun, found: &mut Violations) {
    for turn in run.turns() {
        if split_turn_id(&turn.id, run.submission.year).is_none() {
            found.push((None, quoted(&turn.id)));
        }
    }
}

pub(super) fn unknown_conversation(run: &CheckedRun, found: &mut Violations) {
    for turn in run.turns() {
        if let Some((number, _)) = split_turn_id(&turn.id, run.submission.year)
            && run.topics.conversation(&number).is_none()
        {
            found.push((None, quoted(&turn.id)));
        }
    }
}

pub(super) fn unknown_turn(run: &CheckedRun, found: &mut Violations) {
    for turn in run.turns() {
        if let Some((_, index)) = split_turn_id(&turn.id, run.submission.year)
            && let Some(conversation) = conversation_of(run, turn)
        {
            let last = conversation.turns.len();
            // The official program counts; topics whose numbers have gaps have turns beyond that.
            let is_known = conversation.turns.iter().any(|known| i64::from(known.number) == index);
            if !is_known && !usize::try_from(index).is_ok_and(|index| (1..=last).contains(&index)) {
                found.push((
                    None,
                    format!("`{}`, of {}", shorten(&turn.id), count_of(last, "turn")),
                ));
            }
        }
    }
}
