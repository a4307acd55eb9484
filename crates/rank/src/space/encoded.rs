//! The documents of a space, encoded by one of its encoders.

use clariq_core::{Doc, DocumentVectors, Embeddings, Encoder, ModelName, Similarity};
use ndarray::{Array2, ArrayView2, Axis, CowArray, Ix2, s};
use rayon::prelude::*;
use std::ops::Range;
use std::sync::Arc;

/// The number of documents that a thread compares at a time: 1.5 MB of vectors of length 384.
const PIECE: usize = 1024;

/// An encoder, and the vectors of the documents by it.
pub(crate) struct EncodedDocuments {
    pub(super) model: ModelName,
    pub(super) similarity: Similarity,
    documents: Arc<DocumentVectors>,
}

impl EncodedDocuments {
    pub(super) fn new(
        model: ModelName,
        encoder: &dyn Encoder,
        documents: Arc<DocumentVectors>,
    ) -> Self {
        Self { model, similarity: encoder.similarity(), documents }
    }

    /// The documents without a text, in order.
    pub(super) fn empty(&self) -> &[Doc] {
        &self.documents.empty
    }

    /// The vectors of some documents, a row each. They are copied unless the documents are
    /// consecutive.
    pub(super) fn rows(&self, docs: &[Doc]) -> CowArray<'_, f32, Ix2> {
        let all = matrix(&self.documents.vectors);
        let first = docs.first().map_or(0, |doc| doc.index());
        if docs.iter().zip(first..).all(|(doc, index)| doc.index() == index) {
            return all.slice_move(s![first..first + docs.len(), ..]).into();
        }
        let rows: Vec<usize> = docs.iter().map(|doc| doc.index()).collect();
        all.select(Axis(0), &rows).into()
    }

    /// Adds weighted similarities of some vectors in the encoder's space (rows) to documents
    /// (columns) to a matrix. How the documents are split does not change the order of a sum.
    pub(super) fn add_similarities(
        &self,
        vectors: &Embeddings,
        some: Range<usize>,
        docs: &[Doc],
        weight: f32,
        sum: &mut Array2<f32>,
    ) {
        let vectors = matrix(vectors);
        let vectors = vectors.slice(s![some, ..]);
        let pieces: Vec<_> =
            docs.chunks(PIECE).zip(sum.axis_chunks_iter_mut(Axis(1), PIECE)).collect();
        pieces.into_par_iter().for_each(|(docs, mut sum)| {
            sum.scaled_add(weight, &vectors.dot(&self.rows(docs).t()));
        });
    }
}

fn matrix(vectors: &Embeddings) -> ArrayView2<'_, f32> {
    ArrayView2::from_shape((vectors.len(), vectors.dim), &vectors.values)
        .unwrap_or_else(|_| unreachable!("vectors have one length"))
}
