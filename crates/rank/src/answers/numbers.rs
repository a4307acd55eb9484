//! Numbers in what models write.

use super::clothes::{is_label, without_mark};
use std::ops::RangeInclusive;

/// A number in a text, and the position behind it; `None` for one with a sign or decimals.
struct Found {
    value: Option<u8>,
    start: usize,
    end: usize,
}

/// The numbers of a text that stand alone: they are no part of a word.
fn numbers_in(text: &str) -> Vec<Found> {
    let bytes = text.as_bytes();
    let mut found = Vec::new();
    let mut at = 0;
    while at < bytes.len() {
        if !bytes[at].is_ascii_digit() {
            at += 1;
            continue;
        }
        let start = at;
        while at < bytes.len() && bytes[at].is_ascii_digit() {
            at += 1;
        }
        let mut is_whole = true;
        while at + 1 < bytes.len()
            && matches!(bytes[at], b'.' | b',')
            && bytes[at + 1].is_ascii_digit()
        {
            is_whole = false;
            at += 1;
            while at < bytes.len() && bytes[at].is_ascii_digit() {
                at += 1;
            }
        }
        let before = text[..start].chars().next_back();
        let after = text[at..].chars().next();
        let is_in_word = before.is_some_and(|c| c.is_alphanumeric() || c == '_')
            || after.is_some_and(|c| c.is_alphabetic() || c == '_');
        if is_in_word {
            continue;
        }
        let sign = matches!(before, Some('-' | '−' | '+'));
        // `0-3` has no sign.
        let two_before = text[..start].chars().rev().nth(1);
        is_whole &= !sign || two_before.is_some_and(|c| c.is_ascii_digit());
        let value = text[start..at].parse().ok().filter(|_| is_whole);
        found.push(Found { value, start, end: at });
    }
    found
}

/// The only number in a text, if it is in the range, whose own mention does not count.
pub(super) fn only_number(text: &str, range: &RangeInclusive<u8>) -> Option<u8> {
    let found = numbers_in(text);
    let mut values = Vec::new();
    let mut index = 0;
    while let Some(number) = found.get(index) {
        let next = found.get(index + 1);
        let between = next.map_or("", |next| text[number.end..next.start].trim());
        let next = next.and_then(|next| next.value);
        let is_range = number.value == Some(*range.start())
            && next == Some(*range.end())
            && matches!(between, "-" | "–" | "—" | "to" | "and" | "..");
        if is_range {
            index += 2;
            continue;
        }
        values.push(number.value);
        let has_scale = next == Some(*range.end())
            && matches!(between, "/" | "out of" | "of" | "on a scale of");
        index += if has_scale { 2 } else { 1 };
    }
    let only = values.first().copied().flatten()?;
    (values.iter().all(|value| *value == Some(only)) && range.contains(&only)).then_some(only)
}

/// The numbers in brackets, as in `[2] > [1]` and `[2, 1]`; `None` for one that is too long.
pub(super) fn bracketed(text: &str) -> Vec<Option<usize>> {
    let mut numbers = Vec::new();
    // Behind the last `[`, as long as only numbers, commas and blanks follow.
    let mut inside: Option<Vec<Option<usize>>> = None;
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c.is_ascii_digit() {
            let digits = rest.len() - rest.trim_start_matches(|c: char| c.is_ascii_digit()).len();
            if let Some(inside) = &mut inside {
                inside.push(rest[..digits].parse().ok());
            }
            rest = &rest[digits..];
            continue;
        }
        match c {
            '[' => inside = Some(Vec::new()),
            ']' => numbers.extend(inside.take().into_iter().flatten()),
            ',' | ' ' | '>' => {}
            _ => inside = None,
        }
        rest = &rest[c.len_utf8()..];
    }
    numbers
}

/// Words beside the numbers in a line that is an order.
const WORDS_OF_ORDERS: &str = " doc document documents from least most order passage passages rank ranked ranking relevant to ";

/// The numbers of a line that has no other words than an order has. That of a list before a text is
/// none of them.
pub(super) fn bare_numbers(line: &str) -> impl Iterator<Item = Option<usize>> {
    let line = line.trim();
    let line = without_mark(line).unwrap_or(line);
    let mut words = line.split(|c: char| !c.is_alphabetic()).filter(|word| !word.is_empty());
    let is_order = words.all(|word| {
        is_label(word) || WORDS_OF_ORDERS.contains(&format!(" {} ", word.to_lowercase()))
    });
    let line = if is_order { line } else { "" };
    let digits = line.split(|c: char| !c.is_ascii_digit()).filter(|digits| !digits.is_empty());
    digits.map(|digits| digits.parse().ok())
}
