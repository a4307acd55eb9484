//! Blocks of features, by name.

use serde::{Deserialize, Serialize};

/// Features that belong together.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Block {
    /// Words, letters and form of the request's phrase.
    #[serde(rename = "core")]
    Core,
    /// Which kinds of questions BM25 finds for the phrase.
    #[serde(rename = "aspects")]
    Aspects,
    /// The phrase's vector along the principal axes of the bank.
    #[serde(rename = "p12")]
    Phrase,
    /// The same of the mean of the questions nearest to the phrase.
    #[serde(rename = "f12")]
    Feedback,
}

impl Block {
    /// All blocks.
    pub const ALL: [Self; 4] = [Self::Core, Self::Aspects, Self::Phrase, Self::Feedback];

    /// The name in configurations.
    pub fn name(self) -> &'static str {
        match self {
            Self::Core => "core",
            Self::Aspects => "aspects",
            Self::Phrase => "p12",
            Self::Feedback => "f12",
        }
    }

    /// Whether it is made with an encoder.
    pub fn needs_encoder(self) -> bool {
        matches!(self, Self::Phrase | Self::Feedback)
    }
}
