//! The tokens of Lucene's `EnglishAnalyzer`, which Anserini and Pyserini index English with.
//!
//! Words by the Unicode rules (Standard Annex 29), no possessive `'s`, lower case, without 33 stop
//! words, and Porter's stemmer as its author published it in Java, which differs from NLTK's
//! default and from Snowball's English. Emoji, which Lucene keeps, are left out, and words of more
//! than 255 characters are not split.

use super::porter::{lowercase, stem_as_author};
use unicode_segmentation::UnicodeSegmentation;

/// The stop words of `EnglishAnalyzer`, in alphabetical order.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

pub(super) fn for_each_token(text: &str, emit: &mut dyn FnMut(&str)) {
    let mut token = String::new();
    for word in text.unicode_words() {
        lowercase(without_possessive(word), &mut token);
        if STOP_WORDS.binary_search(&token.as_str()).is_err() {
            stem_as_author(&mut token);
            emit(&token);
        }
    }
}

/// Takes away `'s` with any of three apostrophes.
fn without_possessive(word: &str) -> &str {
    let rest = word.strip_suffix(['s', 'S']);
    rest.and_then(|rest| rest.strip_suffix(['\'', '\u{2019}', '\u{ff07}'])).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Analyzer;

    #[test]
    fn words_follow_unicode() {
        let tokens = |text| Analyzer::Lucene.tokens(text);
        let text = "The CAFÉ\u{2019}s e-mail: 3.14 and 1,000 wi_fi, O'Neill's \u{1f600} a.b";
        let expected = ["café", "e", "mail", "3.14", "1,000", "wi_fi", "o'neil", "a.b"];
        assert_eq!(tokens(text), expected);
        assert_eq!(tokens("Don't they run in the U.S.?"), ["don't", "run", "u."]);
        assert!(tokens("the AND of").is_empty());
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
    }
}
