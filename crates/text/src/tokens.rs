//! Tokens as spaCy's English tokenizer counts them.
//!
//! The rules are those of spaCy 3 (`spacy/tokenizer.pyx`, `spacy/lang/en`), which need no model. A
//! text is cut at white space. From each word, marks are taken off both ends as long as the rest is
//! neither an exception (`don't` is two tokens, `Mr.` is one) nor empty; what remains is cut at
//! marks between letters, unless it is an address. A space between two words is no token; any other
//! white space is one.

mod affixes;
mod classes;
mod exceptions;
mod url;

use crate::is_space;
use exceptions::{EXCEPTIONS, Exceptions};
use std::ops::Range;

/// The number of tokens of `text`.
///
/// ```
/// use clariq_text::tokens::count;
///
/// assert_eq!(count("Don't stop."), 4);
/// assert_eq!(count("two  spaces"), 3);
/// ```
pub fn count(text: &str) -> usize {
    let mut count = 0;
    for_each(text, |_| count += 1);
    count
}

/// The tokens of `text`, in order.
pub fn split(text: &str) -> Vec<&str> {
    let mut tokens = Vec::new();
    for_each(text, |range| tokens.push(&text[range]));
    tokens
}

/// Calls `each` with the range in bytes of every token of `text`, in order.
pub fn for_each(text: &str, mut each: impl FnMut(Range<usize>)) {
    let exceptions = &*EXCEPTIONS;
    let mut start = 0;
    let mut in_space = text.starts_with(is_space);
    for (index, c) in text.char_indices() {
        if is_space(c) == in_space {
            continue;
        }
        cut_span(text, start..index, in_space, exceptions, &mut each);
        // The space behind a word belongs to the word.
        start = if c == ' ' { index + 1 } else { index };
        in_space = !in_space;
    }
    cut_span(text, start..text.len(), in_space, exceptions, &mut each);
}

fn cut_span(
    text: &str,
    span: Range<usize>,
    is_space: bool,
    exceptions: &Exceptions,
    each: &mut impl FnMut(Range<usize>),
) {
    if span.is_empty() {
        return;
    }
    if is_space {
        return each(span);
    }
    let word = &text[span.clone()];
    if let Some(pieces) = exceptions.get(word) {
        emit_pieces(pieces, span.start, each);
    } else if word.bytes().all(|byte| byte.is_ascii_alphabetic()) {
        each(span);
    } else {
        let mut tokens = Vec::new();
        cut_by_rules(word, span.start, Some(exceptions), &mut |token| tokens.push(token));
        restore_exceptions(text, &tokens, exceptions, each);
    }
}

fn emit_pieces(pieces: &[u8], mut start: usize, each: &mut (impl FnMut(Range<usize>) + ?Sized)) {
    for &piece in pieces {
        let end = start + usize::from(piece);
        each(start..end);
        start = end;
    }
}

/// Cuts one word, which starts at byte `offset` of its text, by the rules. Without `exceptions`, by
/// the rules alone.
fn cut_by_rules(
    word: &str,
    offset: usize,
    exceptions: Option<&Exceptions>,
    each: &mut dyn FnMut(Range<usize>),
) {
    let is_exception = |text: &str| exceptions.is_some_and(|table| table.get(text).is_some());
    let (mut start, mut end) = (0, word.len());
    let mut suffixes = Vec::new();
    while start < end {
        let rest = &word[start..end];
        if is_exception(rest) {
            break;
        }
        let prefix = affixes::prefix(rest);
        if prefix > 0 && is_exception(&rest[prefix..]) {
            each(offset + start..offset + start + prefix);
            start += prefix;
            break;
        }
        let suffix = affixes::suffix(&rest[prefix..]);
        if suffix > 0 && is_exception(&rest[..rest.len() - suffix]) {
            suffixes.push(end - suffix..end);
            end -= suffix;
            break;
        }
        if prefix + suffix == 0 {
            break;
        }
        if prefix > 0 {
            each(offset + start..offset + start + prefix);
            start += prefix;
        }
        if suffix > 0 {
            suffixes.push(end - suffix..end);
            end -= suffix;
        }
    }
    if start < end {
        cut_stem(&word[start..end], offset + start, exceptions, each);
    }
    suffixes.iter().rev().for_each(|suffix| each(offset + suffix.start..offset + suffix.end));
}

/// Cuts what is left of a word without the marks around it.
fn cut_stem(
    stem: &str,
    offset: usize,
    exceptions: Option<&Exceptions>,
    each: &mut dyn FnMut(Range<usize>),
) {
    if let Some(pieces) = exceptions.and_then(|table| table.get(stem)) {
        return emit_pieces(pieces, offset, each);
    }
    let mut start = 0;
    if !url::is_url(stem) {
        // A mark at the very start is no infix.
        for infix in affixes::infixes(stem).into_iter().filter(|infix| infix.start > 0) {
            if infix.start > start {
                each(offset + start..offset + infix.start);
            }
            each(offset + infix.start..offset + infix.end);
            start = infix.end;
        }
    }
    if start < stem.len() {
        each(offset + start..offset + stem.len());
    }
}

/// Hands on the tokens of one word, with the exceptions among them that the rules have cut: `a.` in
/// `x-a.`, a face in `fine:)`. Longer exceptions come before shorter ones, earlier before later.
fn restore_exceptions(
    text: &str,
    tokens: &[Range<usize>],
    exceptions: &Exceptions,
    each: &mut impl FnMut(Range<usize>),
) {
    let mut taken = vec![false; tokens.len()];
    let mut restored: Vec<Option<usize>> = vec![None; tokens.len()];
    for length in (2..=exceptions.most_pieces.min(tokens.len())).rev() {
        for first in 0..=tokens.len() - length {
            let last = first + length - 1;
            let whole = &text[tokens[first].start..tokens[last].end];
            let same = |pieces: &exceptions::Pieces| {
                let lengths = tokens[first..=last].iter().map(Range::len);
                lengths.eq(pieces.iter().map(|&piece| usize::from(piece)))
            };
            if exceptions.cut(whole).is_some_and(same) {
                if !taken[first] && !taken[last] {
                    restored[first] = Some(last);
                }
                taken[first..=last].fill(true);
            }
        }
    }
    let mut index = 0;
    while index < tokens.len() {
        let range = tokens[index].start..tokens[restored[index].unwrap_or(index)].end;
        match restored[index].and_then(|_| exceptions.get(&text[range.clone()])) {
            Some(pieces) => emit_pieces(pieces, range.start, each),
            None => each(range),
        }
        index = restored[index].unwrap_or(index) + 1;
    }
}
