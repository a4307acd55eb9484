//! Sentence boundaries by rules, close to those of spaCy's statistical segmenter.
//!
//! The passages of iKAT were cut with the `senter` of spaCy's `en_core_web_sm`, whose weights this
//! program does not carry. Its decisions are local: how a word ends, and how the next one begins.
//! The rules here state both, from "a full stop after an ordinary word: always" to "a number: only
//! before a word such as *The*", as observed in that segmenter's output.

mod boundary;
mod words;

use crate::is_space;
use boundary::{Ending, Opening};

/// Where the sentences of `text` start, in bytes and in order. White space belongs to the sentence
/// before it, so that the first start is 0 and sentences cover all of the text. None of an empty
/// text.
///
/// ```
/// use clariq_text::sentences::starts;
///
/// assert_eq!(starts("Mr. Li left. He was late!"), [0, 13]);
/// ```
pub fn starts(text: &str) -> Vec<usize> {
    let mut starts = Vec::new();
    if text.is_empty() {
        return starts;
    }
    starts.push(0);
    let (mut ending, mut last, mut end) = (Ending::Never, "", 0);
    for (start, word) in words_of(text) {
        if text[end..start].contains('\u{a0}') {
            ending = ending.before_no_break_space(last);
        }
        let is_first = ending != Ending::Never && ending.meets(Opening::of(word));
        if is_first {
            starts.push(start);
        }
        (ending, last, end) = (Ending::of(word, is_first), word, start + word.len());
    }
    starts
}

/// The sentences of `text`. A single space behind one is not part of it; other white space is, as
/// in spaCy.
pub fn split(text: &str) -> Vec<&str> {
    let starts = starts(text);
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(&start, end)| without_one_space(&text[start..end])).collect()
}

fn without_one_space(sentence: &str) -> &str {
    match sentence.strip_suffix(' ') {
        Some(shorter) if !shorter.ends_with(is_space) => shorter,
        _ => sentence,
    }
}

/// The words of `text` between white space, with where they start.
fn words_of(text: &str) -> impl Iterator<Item = (usize, &str)> {
    text.split(is_space)
        .filter(|word| !word.is_empty())
        .map(|word| (word.as_ptr() as usize - text.as_ptr() as usize, word))
}
