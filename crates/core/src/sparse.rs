//! Sparse vectors: weights of the words of a vocabulary, almost all of them 0.

use crate::checksum::Checksum;
use crate::document::{Doc, Documents};
use crate::encoder::Progress;
use crate::problem::Result;
use crate::reading::CutTexts;
use std::borrow::Cow;

/// Sparse vectors, one per text: the words that have a weight, by ascending number.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct SparseVectors {
    /// The end of each vector in `entries`.
    ends: Vec<usize>,
    /// The words and weights of all vectors, one after the other.
    entries: Vec<(u32, f32)>,
}

impl SparseVectors {
    /// The number of vectors.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// True if there are no vectors.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    /// Appends a vector: words by ascending number, with weights other than 0.
    pub fn push(&mut self, vector: impl IntoIterator<Item = (u32, f32)>) {
        self.entries.extend(vector);
        self.ends.push(self.entries.len());
    }

    /// The words and weights of the vector at `index`, counted from 0.
    ///
    /// # Panics
    ///
    /// If there is no such vector.
    pub fn row(&self, index: usize) -> &[(u32, f32)] {
        let start = index.checked_sub(1).map_or(0, |before| self.ends[before]);
        &self.entries[start..self.ends[index]]
    }

    /// All vectors in order.
    pub fn rows(&self) -> impl ExactSizeIterator<Item = &[(u32, f32)]> {
        (0..self.len()).map(|index| self.row(index))
    }
}

impl<V: IntoIterator<Item = (u32, f32)>> FromIterator<V> for SparseVectors {
    fn from_iter<I: IntoIterator<Item = V>>(vectors: I) -> Self {
        let mut all = Self::default();
        for vector in vectors {
            all.push(vector);
        }
        all
    }
}

/// Texts in, weights of words out: the dot product of two vectors is the score of a document.
pub trait SparseEncoder: Send + Sync {
    /// Encodes requests, one vector per text, in order. Each is computed by itself, so that its
    /// vector does not depend on the others. `progress` counts texts.
    fn encode(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors>;

    /// Encodes documents, one vector per text, in order. They may be computed together, which is
    /// faster; the last digits of a weight then depend on the others.
    fn encode_documents(&self, texts: &[&str], progress: Progress) -> Result<SparseVectors> {
        self.encode(texts, progress)
    }

    /// The word of a number, for explanations.
    fn word(&self, number: u32) -> Cow<'_, str>;

    /// The texts so far that exceeded the model's length and were cut.
    fn cut(&self) -> CutTexts {
        CutTexts::default()
    }

    /// Checksum of everything that determines the vectors.
    fn checksum(&self) -> &Checksum;
}

/// Calls `each` with the vectors of blocks of consecutive documents, in order. A document without a
/// text has no weights. `progress` counts documents.
pub fn encode_sparsely(
    encoder: &dyn SparseEncoder,
    documents: &dyn Documents,
    block: usize,
    progress: Progress,
    mut each: impl FnMut(SparseVectors) -> Result<()>,
) -> Result<()> {
    let all: Vec<Doc> = Doc::all(documents.len()).collect();
    for docs in all.chunks(block) {
        let mut texts: Vec<Cow<str>> = Vec::with_capacity(docs.len());
        for &doc in docs {
            texts.push(documents.text(doc)?);
        }
        let with_text: Vec<&str> =
            texts.iter().map(AsRef::as_ref).filter(|text| !text.is_empty()).collect();
        progress((docs.len() - with_text.len()) as u64);
        let encoded = encoder.encode_documents(&with_text, progress)?;
        let mut rows = encoded.rows();
        let mut vectors = SparseVectors::default();
        for text in &texts {
            let row = if text.is_empty() { None } else { rows.next() };
            vectors.push(row.into_iter().flatten().copied());
        }
        each(vectors)?;
    }
    Ok(())
}
