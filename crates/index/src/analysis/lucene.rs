//! The tokens of Lucene's `EnglishAnalyzer`, which Anserini and Pyserini index English with.
//!
//! Words by the Unicode rules (Standard Annex 29), no possessive `'s`, lower case, without 33 stop
//! words, and Porter's stemmer as its author published it in Java, which differs from NLTK's
//! default and from Snowball's English. Emoji, which Lucene keeps, are left out, and words of more
//! than 255 characters are not split.

use super::porter::stem_as_author;
use unicode_segmentation::UnicodeSegmentation;

/// The stop words of `EnglishAnalyzer`, in alphabetical order.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// The tokens of a text, in order and with repeats.
///
/// ```
/// use clariq_index::analysis::lucene::lucene_tokens;
///
/// assert_eq!(lucene_tokens("What is Germany's economy like?"), ["what", "germani", "economi", "like"]);
/// assert_eq!(lucene_tokens("Don't they run in the U.S.?"), ["don't", "run", "u."]);
/// ```
pub fn lucene_tokens(text: &str) -> Vec<String> {
    let mut tokens = Vec::new();
    for word in text.unicode_words() {
        let mut word = without_possessive(word).to_lowercase();
        if STOP_WORDS.binary_search(&word.as_str()).is_err() {
            stem_as_author(&mut word);
            tokens.push(word);
        }
    }
    tokens
}

/// Takes away `'s` with any of three apostrophes.
fn without_possessive(word: &str) -> &str {
    let rest = word.strip_suffix(['s', 'S']);
    rest.and_then(|rest| rest.strip_suffix(['\'', '\u{2019}', '\u{ff07}'])).unwrap_or(word)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_follow_unicode() {
        let tokens = lucene_tokens(
            "The CAFÉ\u{2019}s e-mail: 3.14 and 1,000 wi_fi, O'Neill's \u{1f600} a.b",
        );
        assert_eq!(tokens, ["café", "e", "mail", "3.14", "1,000", "wi_fi", "o'neil", "a.b"]);
        assert!(lucene_tokens("the AND of").is_empty());
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
    }
}
