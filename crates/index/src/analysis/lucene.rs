//! The tokens of Lucene's `EnglishAnalyzer`, which Anserini and Pyserini index English with.
//!
//! Words by the Unicode rules (Standard Annex 29), no possessive `'s`, lower case, without 33 stop
//! words, and Porter's stemmer as its author published it in Java, which differs from NLTK's
//! default and from Snowball's English. Emoji, which Lucene keeps, are left out, and words of more
//! than 255 characters are not split.

use super::porter;
use super::porter::{Rule, ends_in_consonant, has_vowel, measure};
use unicode_segmentation::UnicodeSegmentation;

/// The stop words of `EnglishAnalyzer`, in alphabetical order.
const STOP_WORDS: [&str; 33] = [
    "a", "an", "and", "are", "as", "at", "be", "but", "by", "for", "if", "in", "into", "is", "it",
    "no", "not", "of", "on", "or", "such", "that", "the", "their", "then", "there", "these",
    "they", "this", "to", "was", "will", "with",
];

/// Step 2 of the stemmer. Beside the paper's rules: `bli` for `abli`, and `logi`.
const DOUBLE_SUFFIXES: [Rule; 21] = [
    ("ational", "ate"),
    ("tional", "tion"),
    ("enci", "ence"),
    ("anci", "ance"),
    ("izer", "ize"),
    ("bli", "ble"),
    ("alli", "al"),
    ("entli", "ent"),
    ("eli", "e"),
    ("ousli", "ous"),
    ("ization", "ize"),
    ("ation", "ate"),
    ("ator", "ate"),
    ("alism", "al"),
    ("iveness", "ive"),
    ("fulness", "ful"),
    ("ousness", "ous"),
    ("aliti", "al"),
    ("iviti", "ive"),
    ("biliti", "ble"),
    ("logi", "log"),
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
            stem(&mut word);
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

/// Porter's stemmer. M. F. Porter, "An algorithm for suffix stripping", Program 14 (1980), with its
/// author's later changes.
fn stem(word: &mut String) {
    if word.chars().nth(2).is_none() {
        return;
    }
    strip_plural(word);
    strip_past_and_gerund(word);
    if word.strip_suffix('y').is_some_and(has_vowel) {
        word.pop();
        word.push('i');
    }
    porter::replace_first(word, &DOUBLE_SUFFIXES, |rest| measure(rest) > 0);
    porter::replace_first(word, &porter::ADJECTIVE_SUFFIXES, |rest| measure(rest) > 0);
    porter::drop_final_suffix(word);
    drop_final_e(word);
    porter::drop_double_l(word);
}

/// Step 1a.
fn strip_plural(word: &mut String) {
    if word.ends_with("sses") || word.ends_with("ies") {
        word.truncate(word.len() - 2);
    } else if word.ends_with('s') && !word.ends_with("ss") {
        word.pop();
    }
}

/// Step 1b.
fn strip_past_and_gerund(word: &mut String) {
    if let Some(rest) = word.strip_suffix("eed") {
        if measure(rest) > 0 {
            word.pop();
        }
        return;
    }
    let rest = word.strip_suffix("ed").or_else(|| word.strip_suffix("ing"));
    let Some(length) = rest.filter(|rest| has_vowel(rest)).map(str::len) else { return };
    word.truncate(length);
    if ["at", "bl", "iz"].iter().any(|ending| word.ends_with(ending)) {
        word.push('e');
    } else if porter::ends_double_consonant(word) {
        if !word.ends_with(['l', 's', 'z']) {
            word.pop();
        }
    } else if measure(word) == 1 && ends_short_syllable(word) {
        word.push('e');
    }
}

/// Step 5a.
fn drop_final_e(word: &mut String) {
    let Some(rest) = word.strip_suffix('e') else { return };
    let size = measure(rest);
    if size > 1 || size == 1 && !ends_short_syllable(rest) {
        word.pop();
    }
}

/// Whether a word ends consonant-vowel-consonant, the last not `w`, `x` or `y`.
fn ends_short_syllable(word: &str) -> bool {
    let mut ends = word.char_indices().rev().map(|(at, _)| at);
    let (Some(last), Some(middle), Some(_)) = (ends.next(), ends.next(), ends.next()) else {
        return false;
    };
    ends_in_consonant(word)
        && !word.ends_with(['w', 'x', 'y'])
        && !ends_in_consonant(&word[..last])
        && ends_in_consonant(&word[..middle])
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Stems of NLTK's `PorterStemmer` in its mode `MARTIN_EXTENSIONS`, which is the same
    /// algorithm.
    #[test]
    fn stems_are_those_of_the_author() {
        let text = include_str!("lucene/stems.txt");
        let mut count = 0;
        for line in text.lines() {
            let (word, expected) = line.split_once(' ').unwrap();
            let mut stemmed = word.to_owned();
            stem(&mut stemmed);
            assert_eq!(stemmed, expected, "{word}");
            count += 1;
        }
        assert!(count > 500, "{count} words");
    }

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
