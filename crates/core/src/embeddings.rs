//! Vectors of texts.

use crate::document::{Doc, Documents};
use crate::encoder::{Encoder, Progress};
use crate::problem::Result;
use std::borrow::Cow;

/// Vectors of one length, one row per text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embeddings {
    /// The length of a vector.
    pub dim: usize,
    /// All rows, one after the other.
    pub values: Vec<f32>,
}

impl Embeddings {
    /// The number of rows.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dim).unwrap_or(0)
    }

    /// True if there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// The row at `index`, counted from 0: a vector of `dim` values.
    ///
    /// # Panics
    ///
    /// If there is no such row.
    pub fn row(&self, index: usize) -> &[f32] {
        &self.values[index * self.dim..(index + 1) * self.dim]
    }

    /// All rows in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[f32]> {
        self.values.chunks_exact(self.dim.max(1))
    }

    /// Appends the rows of others, which have the same length.
    pub fn extend(&mut self, others: Self) {
        self.dim = others.dim;
        self.values.extend(others.values);
    }
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
