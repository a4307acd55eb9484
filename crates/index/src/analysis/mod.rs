//! Analysers, which turn texts into tokens. Configurations and indexes name them.

pub mod lucene;
pub mod nltk;
pub mod porter;

use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::cell::RefCell;
use std::fmt;
use tantivy::tokenizer::{
    Language, LowerCaser, SimpleTokenizer, Stemmer, StopWordFilter, TextAnalyzer,
};

#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Analyzer {
    /// The tokens of the published `ClariQ` baseline: NLTK's Treebank tokeniser, its stop words and
    /// its Porter stemmer, as of 2020. See [`nltk`].
    Nltk,
    /// The usual recipe, made of tantivy's parts: Unicode words, lower case, English stop words
    /// (Lucene's list), Snowball English.
    English,
    /// The tokens of Lucene's `EnglishAnalyzer`, with which Anserini and Pyserini index English.
    /// See [`lucene`].
    Lucene,
}

impl Analyzer {
    /// All analysers.
    pub const ALL: [Self; 3] = [Self::Nltk, Self::English, Self::Lucene];

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nltk => "nltk",
            Self::English => "english",
            Self::Lucene => "lucene",
        }
    }

    /// The tokens of a text, in order and with repeats.
    ///
    /// ```
    /// use clariq_index::Analyzer;
    /// assert_eq!(Analyzer::English.tokens("Are you looking for houses?"), ["you", "look", "hous"]);
    /// assert_eq!(Analyzer::Nltk.tokens("Are you looking for houses?"), ["are", "look", "hous", "?"]);
    /// ```
    pub fn tokens(self, text: &str) -> Vec<String> {
        let mut tokens = Vec::new();
        self.for_each_token(text, &mut |token| tokens.push(token.to_owned()));
        tokens
    }

    /// Calls `emit` with the tokens of a text, in order and with repeats.
    pub(crate) fn for_each_token(self, text: &str, emit: &mut dyn FnMut(&str)) {
        match self {
            Self::Nltk => nltk::for_each_token(text, emit),
            Self::English => ENGLISH.with_borrow_mut(|analyzer| {
                let text = cut_long_words(text);
                analyzer.token_stream(&text).process(&mut |token| emit(&token.text));
            }),
            Self::Lucene => lucene::for_each_token(text, emit),
        }
    }
}

impl fmt::Display for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// The characters after which words are split, the size of the buffer of Lucene's tokenizer: the time of
/// Snowball's stemmer can grow with the square of a word's length.
const LONGEST_WORD: usize = 255;

/// The text with a space after every 255 characters of a word.
fn cut_long_words(text: &str) -> Cow<'_, str> {
    if text.len() <= LONGEST_WORD {
        return Cow::Borrowed(text);
    }
    let mut cut = String::new();
    let mut copied = 0;
    let mut length = 0;
    for (position, letter) in text.char_indices() {
        if !letter.is_alphanumeric() {
            length = 0;
            continue;
        }
        if length == LONGEST_WORD {
            cut.push_str(&text[copied..position]);
            cut.push(' ');
            copied = position;
            length = 0;
        }
        length += 1;
    }
    if copied == 0 {
        return Cow::Borrowed(text);
    }
    cut.push_str(&text[copied..]);
    Cow::Owned(cut)
}

thread_local! {
    // Building the stemmer and the stop list costs more than a question does.
    static ENGLISH: RefCell<TextAnalyzer> = RefCell::new(english());
}

fn english() -> TextAnalyzer {
    let words = TextAnalyzer::builder(SimpleTokenizer::default()).filter(LowerCaser);
    match StopWordFilter::new(Language::English) {
        Some(stop) => words.filter(stop).filter(Stemmer::new(Language::English)).build(),
        None => words.filter(Stemmer::new(Language::English)).build(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        // The index separates tokens by line feeds.
        #[test]
        fn no_token_has_a_line_feed(text in any::<String>(), words in "[a-zA-Z'.,\"\\s]{0,80}") {
            for analyzer in Analyzer::ALL {
                for token in analyzer.tokens(&text).into_iter().chain(analyzer.tokens(&words)) {
                    prop_assert!(!token.contains('\n'), "{}: {:?}", analyzer, token);
                }
            }
        }
    }

    #[test]
    fn long_words_are_cut_and_stemmed_in_linear_time() {
        // A reader that takes quadratic time would not finish.
        let text = format!("x {} x", "y".repeat(1_000_000));
        let tokens = Analyzer::English.tokens(&text);
        assert_eq!(tokens.len(), 2 + 1_000_000_usize.div_ceil(LONGEST_WORD));
        for length in [254, 255, 256] {
            let word = "é".repeat(length);
            assert_eq!(Analyzer::English.tokens(&word).len(), length.div_ceil(LONGEST_WORD));
        }
    }

    #[test]
    fn english_words_are_unicode_words() {
        let tokens = Analyzer::English.tokens("The CAFÉ's running-shoes, 2024!");
        assert_eq!(tokens, ["café", "s", "run", "shoe", "2024"]);
        for text in ["the and of", " \t?"] {
            assert!(Analyzer::English.tokens(text).is_empty(), "the stop list is in force");
        }
    }
}
