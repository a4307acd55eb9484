//! Analysers, which turn texts into tokens. Configurations and indexes name them.

pub mod lucene;
pub mod nltk;
pub mod porter;
mod snowball;

use serde::{Deserialize, Serialize};
use std::fmt;
use tantivy::tokenizer::Language;

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
    /// As `English`, for Arabic.
    Arabic,
    /// As `English`, for Danish.
    Danish,
    /// As `English`, for Dutch.
    Dutch,
    /// As `English`, for Finnish.
    Finnish,
    /// As `English`, for French.
    French,
    /// As `English`, for German.
    German,
    /// As `English`, for Greek.
    Greek,
    /// As `English`, for Hungarian.
    Hungarian,
    /// As `English`, for Italian.
    Italian,
    /// As `English`, for Norwegian.
    Norwegian,
    /// As `English`, for Portuguese.
    Portuguese,
    /// As `English`, for Romanian.
    Romanian,
    /// As `English`, for Russian.
    Russian,
    /// As `English`, for Spanish.
    Spanish,
    /// As `English`, for Swedish.
    Swedish,
    /// As `English`, for Tamil.
    Tamil,
    /// As `English`, for Turkish.
    Turkish,
}

impl Analyzer {
    /// All analysers.
    pub const ALL: [Self; 20] = [
        Self::Nltk,
        Self::English,
        Self::Lucene,
        Self::Arabic,
        Self::Danish,
        Self::Dutch,
        Self::Finnish,
        Self::French,
        Self::German,
        Self::Greek,
        Self::Hungarian,
        Self::Italian,
        Self::Norwegian,
        Self::Portuguese,
        Self::Romanian,
        Self::Russian,
        Self::Spanish,
        Self::Swedish,
        Self::Tamil,
        Self::Turkish,
    ];

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Nltk => "nltk",
            Self::English => "english",
            Self::Lucene => "lucene",
            Self::Arabic => "arabic",
            Self::Danish => "danish",
            Self::Dutch => "dutch",
            Self::Finnish => "finnish",
            Self::French => "french",
            Self::German => "german",
            Self::Greek => "greek",
            Self::Hungarian => "hungarian",
            Self::Italian => "italian",
            Self::Norwegian => "norwegian",
            Self::Portuguese => "portuguese",
            Self::Romanian => "romanian",
            Self::Russian => "russian",
            Self::Spanish => "spanish",
            Self::Swedish => "swedish",
            Self::Tamil => "tamil",
            Self::Turkish => "turkish",
        }
    }

    /// The language of a Snowball analyser.
    fn language(self) -> Option<Language> {
        Some(match self {
            Self::Nltk | Self::Lucene => return None,
            Self::English => Language::English,
            Self::Arabic => Language::Arabic,
            Self::Danish => Language::Danish,
            Self::Dutch => Language::Dutch,
            Self::Finnish => Language::Finnish,
            Self::French => Language::French,
            Self::German => Language::German,
            Self::Greek => Language::Greek,
            Self::Hungarian => Language::Hungarian,
            Self::Italian => Language::Italian,
            Self::Norwegian => Language::Norwegian,
            Self::Portuguese => Language::Portuguese,
            Self::Romanian => Language::Romanian,
            Self::Russian => Language::Russian,
            Self::Spanish => Language::Spanish,
            Self::Swedish => Language::Swedish,
            Self::Tamil => Language::Tamil,
            Self::Turkish => Language::Turkish,
        })
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

    /// The share of the words of a text that are stop words of the analyser's language, from 0 to 1; 0 for
    /// languages without a list, and for analysers that are no Snowball's.
    pub fn share_of_stop_words(self, text: &str) -> f64 {
        let Some(language) = self.language() else { return 0.0 };
        let words = snowball::words(text).count();
        let mut kept = 0;
        snowball::for_each_token(language, text, &mut |_| kept += 1);
        words.saturating_sub(kept) as f64 / words.max(1) as f64
    }

    /// Calls `emit` with the tokens of a text, in order and with repeats.
    pub(crate) fn for_each_token(self, text: &str, emit: &mut dyn FnMut(&str)) {
        match self.language() {
            Some(language) => snowball::for_each_token(language, text, emit),
            None if self == Self::Lucene => lucene::for_each_token(text, emit),
            None => nltk::for_each_token(text, emit),
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
}
