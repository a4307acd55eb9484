//! What spaCy takes off the start and the end of a word, and where it cuts one in the middle.

use super::classes::{
    DOLLARS, UNITS, is_currency, is_icon, is_letter, is_lower, is_punctuation, is_quote, is_upper,
};
use std::ops::Range;

/// The length in bytes of the mark that `word` starts with, or 0.
pub(super) fn prefix(word: &str) -> usize {
    let mut chars = word.chars();
    let Some(first) = chars.next() else { return 0 };
    if first.is_ascii_alphanumeric() && !matches!(first, 'U' | 'C' | 'A') {
        return 0;
    }
    let alone = match first {
        '.' => return Some(run(word.bytes())).filter(|&dots| dots >= 2).unwrap_or(0),
        '+' => !chars.next().is_some_and(|c| c.is_ascii_digit()),
        '§' | '%' | '=' | '—' | '–' => true,
        _ => is_mark(first) || is_currency(first),
    };
    if alone {
        return first.len_utf8();
    }
    DOLLARS.iter().find(|dollars| word.starts_with(**dollars)).map_or(0, |dollars| dollars.len())
}

/// The length in bytes of the mark that `word` ends with, or 0. Of several, the longest.
pub(super) fn suffix(word: &str) -> usize {
    let mut chars = word.chars().rev();
    let Some(last) = chars.next() else { return 0 };
    let before = chars.next();
    if last.is_ascii_alphanumeric() && !before.is_some_and(may_precede_a_letter) {
        return unit(word);
    }
    let alone = match last {
        '.' if before == Some('.') => return run(word.bytes().rev()),
        '.' => before.is_some_and(|before| ends_sentence(before, chars.next())),
        '+' => before.is_some_and(|c| c.is_ascii_digit()),
        's' | 'S' => {
            return match before {
                Some(apostrophe @ ('\'' | '’')) => 1 + apostrophe.len_utf8(),
                _ => unit(word),
            };
        }
        '…' if before == Some('…') => return 2 * last.len_utf8(),
        '—' | '–' => true,
        _ => is_mark(last),
    };
    let alone = if alone { last.len_utf8() } else { 0 };
    alone.max(currency(word)).max(unit(word))
}

fn may_precede_a_letter(c: char) -> bool {
    c.is_ascii_digit() || c == '\'' || !c.is_ascii()
}

/// A mark that is a token of its own on either side of a word.
fn is_mark(c: char) -> bool {
    is_punctuation(c) || is_quote(c) || is_icon(c)
}

/// How many of the first characters are full stops.
fn run(bytes: impl Iterator<Item = u8>) -> usize {
    bytes.take_while(|&byte| byte == b'.').count()
}

/// Whether a full stop behind `before` is a token; `second` is the character before that.
fn ends_sentence(before: char, second: Option<char>) -> bool {
    before.is_ascii_digit()
        || is_lower(before)
        || matches!(before, '%' | '²' | '-' | '+' | '|')
        || is_punctuation(before)
        || is_quote(before)
        || is_upper(before) && second.is_some_and(is_upper)
        || matches!(before, 'F' | 'C' | 'K') && second == Some('°')
}

fn behind_digit(word: &str, ending: &str) -> bool {
    word.strip_suffix(ending).is_some_and(|number| number.ends_with(|c: char| c.is_ascii_digit()))
}

fn currency(word: &str) -> usize {
    let dollars = DOLLARS.iter().find(|dollars| behind_digit(word, dollars));
    let sign = word.chars().next_back().filter(|&c| is_currency(c));
    dollars
        .map(|dollars| dollars.len())
        .or_else(|| {
            let sign = sign?;
            let number = &word[..word.len() - sign.len_utf8()];
            number.ends_with(|c: char| c.is_ascii_digit()).then_some(sign.len_utf8())
        })
        .unwrap_or(0)
}

/// The longest unit of measurement that follows a digit at the end of `word`.
fn unit(word: &str) -> usize {
    if !word.contains(|c: char| c.is_ascii_digit()) {
        return 0;
    }
    let units = UNITS.split(' ').filter(|unit| behind_digit(word, unit));
    units.map(str::len).max().unwrap_or(0)
}

/// Where `word` is cut in the middle, in order. Each range is a token, and so is what lies between.
pub(super) fn infixes(word: &str) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    if word.bytes().all(|byte| byte.is_ascii_alphanumeric()) {
        return found;
    }
    let mut start = 0;
    while let Some(c) = word[start..].chars().next() {
        let length = infix(&word[..start], c, &word[start..]);
        if length > 0 {
            found.push(start..start + length);
        }
        start += length.max(c.len_utf8());
    }
    found
}

/// The length of the mark at the start of `rest`, between `before` and what follows it, or 0.
fn infix(before: &str, c: char, rest: &str) -> usize {
    if c.is_ascii_alphanumeric() {
        return 0;
    }
    let left = before.chars().next_back();
    let right = rest[c.len_utf8()..].chars().next();
    let between = |left_fits: fn(char) -> bool, right_fits: fn(char) -> bool| {
        left.is_some_and(left_fits) && right.is_some_and(right_fits)
    };
    let cut = match c {
        '.' if right == Some('.') => return run(rest.bytes()),
        '.' => between(|c| is_lower(c) || is_quote(c), |c| is_upper(c) || is_quote(c)),
        '…' => true,
        ',' => between(is_letter, is_letter),
        ':' | '<' | '>' | '=' | '/' => between(is_letter_or_digit, is_letter),
        '+' | '*' | '^' => between(|c| c.is_ascii_digit(), is_digit_or_minus),
        '-' if between(|c| c.is_ascii_digit(), is_digit_or_minus) => true,
        '-' | '–' | '—' | '~' => return hyphen(left, rest),
        _ => is_icon(c),
    };
    if cut { c.len_utf8() } else { 0 }
}

fn is_letter_or_digit(c: char) -> bool {
    is_letter(c) || c.is_ascii_digit()
}

fn is_digit_or_minus(c: char) -> bool {
    c.is_ascii_digit() || c == '-'
}

/// The length of a dash between letters: one to three hyphens, one or two long dashes, or a tilde.
fn hyphen(left: Option<char>, rest: &str) -> usize {
    if !left.is_some_and(is_letter_or_digit) {
        return 0;
    }
    let fits =
        |dash: &str| rest.strip_prefix(dash).is_some_and(|after| after.starts_with(is_letter));
    let dashes = ["-", "–", "—", "--", "---", "——", "~"];
    dashes.into_iter().find(|dash| fits(dash)).map_or(0, str::len)
}
