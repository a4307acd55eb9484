//! Embeddings as matrices.

use clariq_core::{Doc, Embeddings};
use ndarray::{Array2, ArrayView1, ArrayView2};

/// All rows of some embeddings.
pub(super) fn matrix(embeddings: &Embeddings) -> ArrayView2<'_, f32> {
    // The values have that shape by construction; an empty matrix replaces any other.
    ArrayView2::from_shape((embeddings.len(), embeddings.dim), &embeddings.values).unwrap_or_else(
        |_| {
            ArrayView2::from_shape((0, 0), &[])
                .unwrap_or_else(|_| unreachable!("no numbers in no rows"))
        },
    )
}

/// The rows of some documents.
pub(super) fn rows(embeddings: &Embeddings, docs: &[Doc]) -> Array2<f32> {
    let mut rows = Array2::zeros((docs.len(), embeddings.dim));
    for (mut row, &doc) in rows.rows_mut().into_iter().zip(docs) {
        row.assign(&ArrayView1::from(embeddings.row(doc.index())));
    }
    rows
}
