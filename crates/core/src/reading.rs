//! Settings of a model's folder that a configuration may override.

use serde::{Deserialize, Serialize};
use std::sync::atomic::{AtomicUsize, Ordering};

/// The similarity of two vectors. Vectors for cosine have length 1, so both are dot products.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Similarity {
    /// The cosine of the angle between them.
    Cosine,
    /// Their dot product.
    Dot,
}

/// A way to make one vector of the vectors of a text's tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pooling {
    /// The vector of the first token.
    Cls,
    /// The largest value of each dimension.
    Max,
    /// The mean over all tokens, without padding.
    Mean,
    /// The sum divided by the square root of the number of tokens.
    #[serde(rename = "mean_sqrt_len_tokens", alias = "mean_sqrt_len")]
    MeanSqrtLen,
    /// The mean with the weights 1, 2, 3 and so on (Muennighoff, arXiv 2202.08904).
    WeightedMean,
    /// The vector of the last token.
    LastToken,
}

/// Overrides of a model's folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReadingOverrides {
    /// The longest text or pair in tokens, at most the number of the model's positions, where it has a
    /// table of them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_tokens: Option<usize>,
    /// Text that an encoder puts before a request.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub query_prompt: Option<String>,
    /// Text that an encoder puts before a document.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub document_prompt: Option<String>,
    /// The pooling of an encoder's token vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pooling: Option<Pooling>,
    /// The similarity of an encoder's vectors.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub similarity: Option<Similarity>,
    /// True if a text generator cuts longer texts at their end, and not at their beginning.
    #[serde(skip)]
    pub cut_at_end: bool,
}

impl ReadingOverrides {
    /// Cuts longer texts or pairs to `max_tokens` tokens, if there is such a limit.
    pub fn cut_at(max_tokens: impl Into<Option<usize>>) -> Self {
        Self { max_tokens: max_tokens.into(), ..Self::default() }
    }
}

/// The texts or pairs that a model has cut so far, because they were longer than it reads.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct CutTexts {
    /// Their number.
    pub count: usize,
    /// The number of all that it has read.
    pub all: usize,
    /// The tokens that it reads at most.
    pub max_tokens: usize,
}

/// Counts texts or pairs as a model reads them.
#[derive(Debug, Default)]
pub struct TextCounter {
    all: AtomicUsize,
    cut: AtomicUsize,
}

impl TextCounter {
    /// Counts a text that was read, whole or cut.
    pub fn add(&self, is_cut: bool) {
        self.all.fetch_add(1, Ordering::Relaxed);
        self.cut.fetch_add(usize::from(is_cut), Ordering::Relaxed);
    }

    /// The counts so far of a model that reads at most `max_tokens` tokens.
    pub fn cut_at(&self, max_tokens: usize) -> CutTexts {
        let [count, all] = [&self.cut, &self.all].map(|counter| counter.load(Ordering::Relaxed));
        CutTexts { count, all, max_tokens }
    }
}
