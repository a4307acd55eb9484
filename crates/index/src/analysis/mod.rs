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
    // As `English`, for other languages.
    Arabic,
    Danish,
    Dutch,
    Finnish,
    French,
    German,
    Greek,
    Hungarian,
    Italian,
    Norwegian,
    Portuguese,
    Romanian,
    Russian,
    Spanish,
    Swedish,
    Tamil,
    Turkish,
}

/// Every analyser in the order of its type, its name in configurations, and the language of a Snowball analyser.
const ANALYZERS: [(Analyzer, &str, Option<Language>); 20] = [
    (Analyzer::Nltk, "nltk", None),
    (Analyzer::English, "english", Some(Language::English)),
    (Analyzer::Lucene, "lucene", None),
    (Analyzer::Arabic, "arabic", Some(Language::Arabic)),
    (Analyzer::Danish, "danish", Some(Language::Danish)),
    (Analyzer::Dutch, "dutch", Some(Language::Dutch)),
    (Analyzer::Finnish, "finnish", Some(Language::Finnish)),
    (Analyzer::French, "french", Some(Language::French)),
    (Analyzer::German, "german", Some(Language::German)),
    (Analyzer::Greek, "greek", Some(Language::Greek)),
    (Analyzer::Hungarian, "hungarian", Some(Language::Hungarian)),
    (Analyzer::Italian, "italian", Some(Language::Italian)),
    (Analyzer::Norwegian, "norwegian", Some(Language::Norwegian)),
    (Analyzer::Portuguese, "portuguese", Some(Language::Portuguese)),
    (Analyzer::Romanian, "romanian", Some(Language::Romanian)),
    (Analyzer::Russian, "russian", Some(Language::Russian)),
    (Analyzer::Spanish, "spanish", Some(Language::Spanish)),
    (Analyzer::Swedish, "swedish", Some(Language::Swedish)),
    (Analyzer::Tamil, "tamil", Some(Language::Tamil)),
    (Analyzer::Turkish, "turkish", Some(Language::Turkish)),
];

impl Analyzer {
    /// All analysers.
    pub fn all() -> [Self; 20] {
        ANALYZERS.map(|(analyzer, ..)| analyzer)
    }

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        ANALYZERS[self as usize].1
    }

    /// The language of a Snowball analyser.
    fn language(self) -> Option<Language> {
        ANALYZERS[self as usize].2
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

    #[test]
    fn the_row_of_an_analyser_has_the_name_that_configurations_have_for_it() {
        for analyzer in Analyzer::all() {
            assert_eq!(ANALYZERS[analyzer as usize].0, analyzer);
            assert_eq!(serde_json::to_value(analyzer).unwrap(), analyzer.name());
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        // The index separates tokens by line feeds.
        #[test]
        fn no_token_has_a_line_feed(text in any::<String>(), words in "[a-zA-Z'.,\"\\s]{0,80}") {
            for analyzer in Analyzer::all() {
                for token in analyzer.tokens(&text).into_iter().chain(analyzer.tokens(&words)) {
                    prop_assert!(!token.contains('\n'), "{}: {:?}", analyzer, token);
                }
            }
        }
    }
}
