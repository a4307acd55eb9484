//! Which tokens of a text have a vector that counts, in folders that give each token one.

use clariq_core::TextSide;
use serde::Deserialize;

/// How the tokens of a text are chosen.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct LateInteraction {
    /// The most tokens of a request and of a document; by default those of the folder.
    pub lengths: [Option<usize>; 2],
    pub expansion: Option<Expansion>,
    /// True if tokens beside those that are attended to may count.
    pub(crate) has_mask: bool,
    /// Words whose tokens do not count.
    pub skipped: Vec<String>,
    /// The sides on which they do not count.
    pub(crate) skips: Vec<String>,
    /// The ids of the only tokens of a document that count, if not all do.
    pub kept: Option<Vec<i64>>,
    /// Beginnings of texts that are one token each.
    pub marks: Vec<String>,
}

/// Tokens that are put behind a request until it has a length.
#[derive(Debug, Clone, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expansion {
    pub strategy: Strategy,
    /// True if the other tokens attend to them.
    #[serde(default)]
    pub attend: bool,
    /// The token; by default `[MASK]`, or the one that ends a text.
    pub token: Option<String>,
    pub length: usize,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Strategy {
    /// Longer requests are cut.
    Fixed,
    /// Longer requests stay as they are.
    Min,
}

impl LateInteraction {
    /// True if the words that do not count do not count on this side.
    pub fn skips(&self, side: TextSide) -> bool {
        let name = match side {
            TextSide::Request => "query",
            TextSide::Document => "document",
        };
        self.skips.iter().any(|task| task == name)
    }

    /// True if the tokens of the expansion count.
    pub fn counts_expansion(&self) -> bool {
        self.has_mask || self.expansion.as_ref().is_some_and(|expansion| expansion.attend)
    }
}
