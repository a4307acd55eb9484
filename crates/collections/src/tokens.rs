//! Tokens of a text, counted by Unicode and never fewer than spaCy's.
//!
//! The guidelines of TREC iKAT limit a response to 250 tokens of spaCy's English tokenizer. The
//! count here is that of the words and marks of Unicode's word boundaries (Standard Annex 29), and
//! of the places within a word where spaCy cuts. What spaCy keeps whole (`vs.`, `U.S.`, `...`) may
//! count more than once, so that a text within the limit by this count is within it by spaCy's.

use unicode_segmentation::UnicodeSegmentation;

/// Words that spaCy splits although they have no apostrophe.
const CLIPPED: &[&str] = &[
    "aint", "arent", "cannot", "cant", "couldnt", "couldve", "didnt", "doesnt", "dont", "gonna",
    "gotta", "hadnt", "hasnt", "havent", "hes", "hows", "id", "im", "isnt", "itd", "itll", "ive",
    "mightve", "mustve", "shes", "shouldnt", "shouldve", "thats", "theres", "theyd", "theyll",
    "theyre", "theyve", "wasnt", "wed", "werent", "weve", "whats", "wheres", "whos", "whove",
    "whys", "wont", "wouldnt", "wouldve", "yall", "youd", "youll", "youre", "youve",
];

/// The number of tokens of `text`.
pub fn count(text: &str) -> usize {
    text.split_word_bounds().map(count_piece).sum::<usize>() + count_start(text)
}

/// The number of tokens that a text gains if `sentence`, which does not begin with white space, is
/// appended to it after a space: no word extends over a space.
pub fn count_added(sentence: &str) -> usize {
    format!(" {sentence}").split_word_bounds().map(count_piece).sum()
}

/// The longest start of `text` with at most `most` tokens, without white space at its end.
pub fn first(text: &str, most: usize) -> &str {
    let mut count = count_start(text);
    for (start, piece) in text.split_word_bound_indices() {
        count += count_piece(piece);
        if count > most {
            return text[..start].trim_end();
        }
    }
    text.trim_end()
}

/// A single space before the first word is a token; one between two words is not.
fn count_start(text: &str) -> usize {
    usize::from(text.starts_with(' ') && !text.starts_with("  "))
}

/// The number of tokens between two word boundaries: of white space, marks, or a word.
fn count_piece(piece: &str) -> usize {
    if piece.contains(char::is_alphanumeric) {
        let is_clipped = CLIPPED.iter().any(|word| piece.eq_ignore_ascii_case(word));
        return 1 + count_cuts(piece) + usize::from(is_clipped);
    }
    match piece.chars().filter(|&c| c != ' ').count() {
        0 => usize::from(piece.len() > 1),
        marks => marks,
    }
}

/// The number of tokens that spaCy adds by splitting a word at marks and digits.
fn count_cuts(word: &str) -> usize {
    let mut cuts = 0;
    let mut before = ' ';
    let mut rest = word.chars();
    while let Some(c) = rest.next() {
        cuts += match c {
            // A unit after a number, as in `5km`.
            _ if before.is_numeric() && c.is_alphabetic() => 1,
            '_' | ',' => 0,
            _ if c.is_alphanumeric() => 0,
            '\'' | '’' => 1,
            // The end of a sentence without a space after it; otherwise `U.S` or `0.5`.
            '.' if !(before.is_lowercase()
                && rest.clone().next().is_some_and(char::is_uppercase)) =>
            {
                0
            }
            _ => 2,
        };
        before = c;
    }
    cuts
}
