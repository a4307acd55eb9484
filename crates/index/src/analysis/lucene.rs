//! The tokens of Lucene's `EnglishAnalyzer`, which Anserini and Pyserini index English with.
//!
//! Tokens of Lucene's `StandardTokenizer`, no possessive `'s`, lower case, without 33 stop words,
//! and Porter's stemmer as its author published it in Java, which differs from NLTK's default and
//! from Snowball's English.

mod standard_tokenizer;

use super::porter::stem_as_author;

/// The stop words of `EnglishAnalyzer`, in alphabetical order.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

pub(super) fn for_each_token(text: &str, emit: &mut dyn FnMut(&str)) {
    let mut token = String::new();
    standard_tokenizer::for_each_token(text, |word| {
        token.clear();
        token.extend(without_possessive(word).chars().map(lowercase));
        if STOP_WORDS.binary_search(&token.as_str()).is_err() {
            stem_as_author(&mut token);
            emit(&token);
        }
    });
}

/// The lower case of a character as Java's `Character.toLowerCase` gives it: one character,
/// wherever it stands.
fn lowercase(letter: char) -> char {
    // The dot of U+0130 would be a second character.
    letter.to_lowercase().next().unwrap_or(letter)
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
        let expected =
            ["café", "e", "mail", "3.14", "1,000", "wi_fi", "o'neil", "\u{1f600}", "a.b"];
        assert_eq!(tokens(text), expected);
        assert_eq!(tokens("Don't they run in the U.S.?"), ["don't", "run", "u."]);
        assert!(tokens("the AND of").is_empty());
        assert_eq!(tokens("İS ΣΑΣ"), ["σασ"], "`is` is a stop word, and no sigma is final");
    }

    #[test]
    fn signs_are_tokens_and_fractions_are_not() {
        let found = Analyzer::Lucene.tokens("© 2024 ® ™ ★ ↔ ¼ cup, 5 m², ½");
        assert_eq!(found, ["©", "2024", "®", "™", "★", "↔", "cup", "5", "m"]);
    }

    #[test]
    fn stop_words_are_in_order() {
        assert!(STOP_WORDS.is_sorted());
    }
}
