//! The token pipeline against NLTK 3.5 on recorded cases.
//!
//! `scripts/make-golden nltk` wrote all columns but the first of both files.

use clariq_index::Analyzer;
use clariq_index::analysis::nltk::word_tokenize;
use clariq_index::analysis::porter::stem;

const STEMS: &str = include_str!("../data/nltk_stems.tsv");
const TOKENS: &str = include_str!("../data/nltk_tokens.tsv");

/// The columns of each line. Cells hold no line feed, but may hold characters that other
/// definitions of a line break on.
fn rows<const N: usize>(file: &str) -> Vec<[&str; N]> {
    let lines = file.split('\n').filter(|line| !line.is_empty());
    lines
        .map(|line| {
            let cells: Vec<&str> = line.split('\t').collect();
            cells.try_into().unwrap_or_else(|_| panic!("{line:?} has not {N} columns"))
        })
        .collect()
}

#[test]
fn stems_equal_nltk() {
    let rows = rows(STEMS);
    assert!(rows.len() >= 3900, "{} words", rows.len());
    for [word, expected] in rows {
        assert_eq!(stem(word), expected, "{word:?}");
    }
}

#[test]
fn words_and_tokens_equal_nltk() {
    let rows = rows(TOKENS);
    assert!(rows.len() >= 300, "{} texts", rows.len());
    for [text, words, tokens] in rows {
        let text: String = serde_json::from_str(text).expect("a JSON string");
        let words: Vec<String> = serde_json::from_str(words).expect("a JSON array");
        let tokens: Vec<String> = serde_json::from_str(tokens).expect("a JSON array");
        assert_eq!(word_tokenize(&text), words, "{text:?}");
        assert_eq!(Analyzer::Nltk.tokens(&text), tokens, "{text:?}");
    }
}
