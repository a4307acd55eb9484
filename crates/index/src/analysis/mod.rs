//! The words of a text: three analysers, named in configurations and in an index's metadata.

pub mod lucene;
pub mod nltk;
pub mod porter;

use serde::{Deserialize, Serialize};
use std::cell::RefCell;
use std::fmt;
use tantivy::tokenizer::{
    Language, LowerCaser, SimpleTokenizer, Stemmer, StopWordFilter, TextAnalyzer,
};

/// How a text becomes tokens.
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

    /// Gives the tokens of a text to `emit`, in order and with repeats.
    pub(crate) fn for_each_token(self, text: &str, emit: &mut dyn FnMut(&str)) {
        match self {
            Self::Nltk => nltk::for_each_token(text, emit),
            Self::English => ENGLISH.with_borrow_mut(|analyzer| {
                analyzer.token_stream(text).process(&mut |token| emit(&token.text));
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

        // The index tells tokens apart by line feeds.
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
    fn english_words_are_unicode_words() {
        let tokens = Analyzer::English.tokens("The CAFÉ's running-shoes, 2024!");
        assert_eq!(tokens, ["café", "s", "run", "shoe", "2024"]);
        for text in ["the and of", " \t?"] {
            assert!(Analyzer::English.tokens(text).is_empty(), "the stop list is in force");
        }
    }
}
