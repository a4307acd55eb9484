//! The words of a text: three analysers, named in configurations and in an index's metadata.

mod english;
pub mod lucene;
pub mod nltk;
pub mod porter;
pub mod stopwords;

use serde::{Deserialize, Serialize};
use std::fmt;

/// How a text becomes tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Analyzer {
    /// The tokens of the published `ClariQ` baseline: NLTK's Treebank tokeniser, its stop words and
    /// its Porter stemmer, as of 2020. See [`nltk::nltk_tokens`].
    Nltk,
    /// Unicode words, lower case, English stop words (Lucene's list), Snowball English.
    English,
    /// The tokens of Lucene's `EnglishAnalyzer`, with which Anserini and Pyserini index English.
    /// See
    /// [`lucene::lucene_tokens`].
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
        match self {
            Self::Nltk => nltk::nltk_tokens(text),
            Self::English => english::tokens(text),
            Self::Lucene => lucene::lucene_tokens(text),
        }
    }
}

impl fmt::Display for Analyzer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}
