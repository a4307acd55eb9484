//! The abilities of learned models: encoding texts, scoring pairs, generating text.

use crate::bail;
use crate::checksum::Checksum;
use crate::document::{Doc, Documents};
use crate::embeddings::Embeddings;
use crate::problem::Result;
use crate::reading::{CutTexts, Similarity};
use crate::token_vectors::{TextSide, TokenVectors};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroUsize;

/// Called with the number of items finished since the last call, from any thread.
pub type Progress<'a> = &'a (dyn Fn(u64) + Sync);

/// Texts in, vectors out: the dot product of two is their similarity.
pub trait Encoder: Send + Sync {
    /// Encodes requests, one row per text, in order. Each is computed by itself, so that its vector
    /// does not depend on the others. `progress` counts texts.
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<Embeddings>;

    /// Encodes documents, one row per text, in order. Some models read them with another prompt than
    /// requests. Documents may be computed together, which is faster; the last digits of a vector
    /// then depend on the others.
    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode(texts, progress)
    }

    /// Encodes documents as [`Encoder::encode_documents`] does, but each by itself: for texts whose
    /// vectors are cached one by one.
    fn encode_documents_alone(&self, texts: &[&str], progress: Progress) -> Result<Embeddings> {
        self.encode(texts, progress)
    }

    /// The vectors of the tokens of texts, in order, each text by itself.
    ///
    /// # Errors
    ///
    /// A model that gives texts one vector alone.
    fn encode_tokens(
        &self,
        _texts: &[&str],
        _side: TextSide,
        _progress: Progress,
    ) -> Result<Vec<TokenVectors>> {
        let expected = "a model that gives each token a vector, such as the folder of an encoder";
        bail!("maxsim", expected, "one that gives each text a vector")
    }

    /// A token of [`Encoder::encode_tokens`] in words.
    fn token(&self, id: u32) -> Cow<'_, str> {
        Cow::Owned(format!("#{id}"))
    }

    /// The meaning of the dot product of two vectors.
    fn similarity(&self) -> Similarity {
        Similarity::Cosine
    }

    /// The texts so far that exceeded the model's length and were cut.
    fn cut(&self) -> CutTexts {
        CutTexts::default()
    }

    /// Checksum of everything that determines the vectors.
    fn checksum(&self) -> &Checksum;
}

/// The number of documents whose texts are in memory at a time while they are encoded.
const BLOCK: usize = 65_536;

/// The vectors of documents by one encoder.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct DocumentVectors {
    /// A row per document, in the order of their numbers.
    pub vectors: Embeddings,
    /// The documents without a text, in order.
    pub empty: Vec<Doc>,
}

impl DocumentVectors {
    /// Encodes documents. `progress` counts them.
    pub fn encode(
        encoder: &dyn Encoder,
        documents: &dyn Documents,
        progress: Progress,
    ) -> Result<Self> {
        Self::encode_by(documents, |texts| encoder.encode_documents(texts, progress))
    }

    /// Encodes documents by a function of their texts.
    pub fn encode_by(
        documents: &dyn Documents,
        encode: impl Fn(&[&str]) -> Result<Embeddings>,
    ) -> Result<Self> {
        let mut encoded = Self::default();
        let all: Vec<Doc> = Doc::all(documents.len()).collect();
        for block in all.chunks(BLOCK) {
            let mut texts: Vec<Cow<str>> = Vec::with_capacity(block.len());
            for &doc in block {
                let text = documents.text(doc)?;
                if text.is_empty() {
                    encoded.empty.push(doc);
                }
                texts.push(text);
            }
            let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
            encoded.vectors.extend(encode(&texts)?);
        }
        Ok(encoded)
    }
}

/// Pairs of request and document in, scores out: the higher, the better the document fits.
pub trait PairScorer: Send + Sync {
    /// Scores pairs, in order. `progress` counts pairs.
    fn score(&self, pairs: &[(&str, &str)], progress: Progress) -> Result<Vec<f32>>;

    /// Scores the pairs of several requests, those of each by themselves. `progress` counts requests.
    fn score_each(
        &self,
        requests: &[Vec<(&str, &str)>],
        progress: Progress,
    ) -> Result<Vec<Vec<f32>>> {
        let mut all = Vec::with_capacity(requests.len());
        for pairs in requests {
            all.push(self.score(pairs, &|_| {})?);
            progress(1);
        }
        Ok(all)
    }

    /// The pairs so far that exceeded the model's length and were cut.
    fn cut(&self) -> CutTexts {
        CutTexts::default()
    }

    /// Checksum of everything that determines the scores.
    fn checksum(&self) -> &Checksum;
}

/// The parameters of a text generator's beam search.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decoding {
    /// Texts that are continued at each step; 1 always takes the most probable token.
    pub beams: NonZeroUsize,
    /// The exponent of the length by which a text's log-probability is divided.
    pub length_penalty: f64,
    /// The most tokens of a text, including the start token.
    pub max_length: usize,
    /// True if the search ends as soon as there are as many complete texts as beams.
    pub early_stopping: bool,
    /// The fewest tokens of a text, including the start token and the end of the text.
    #[serde(default, skip_serializing_if = "is_0")]
    pub min_length: usize,
}

impl Decoding {
    /// The most beams, a limit of memory.
    pub const MOST_BEAMS: usize = 64;
    /// The most tokens of a text, a limit of time.
    pub const MOST_TOKENS: usize = 1024;
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
fn is_0(length: &usize) -> bool {
    *length == 0
}

/// Texts in, generated texts out.
pub trait TextGenerator: Send + Sync {
    /// Generates a text for each, in order; it does not depend on the others. `progress` counts texts.
    fn generate(
        &self,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>>;

    /// The mean log-probability of the tokens of each target after `source`, the end of the text
    /// included.
    ///
    /// # Errors
    ///
    /// A model that only generates.
    fn likelihood(&self, _source: &str, _targets: &[&str]) -> Result<Vec<f32>> {
        let expected = "a model that scores texts, such as the folder of a T5";
        let hint = "the stage `likelihood` needs one";
        bail!("likelihood", expected, "one that only generates", hint)
    }

    /// The texts so far that exceeded the model's length and were cut.
    fn cut(&self) -> CutTexts {
        CutTexts::default()
    }

    /// Checksum of everything that determines the texts.
    fn checksum(&self) -> &Checksum;
}
