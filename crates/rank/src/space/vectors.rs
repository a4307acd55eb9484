//! Embeddings as matrices.

use clariq_core::{Doc, Embeddings};
use ndarray::{Array2, ArrayView2, CowArray, Ix2, s};

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

/// The rows of some documents; without a copy where they follow each other, as all documents do.
pub(super) fn rows<'e>(embeddings: &'e Embeddings, docs: &[Doc]) -> CowArray<'e, f32, Ix2> {
    let all = matrix(embeddings);
    if let [first, .., last] = docs
        && docs.windows(2).all(|pair| pair[0].0 + 1 == pair[1].0)
    {
        return all.slice_move(s![first.index()..=last.index(), ..]).into();
    }
    let mut rows = Array2::zeros((docs.len(), embeddings.dim));
    for (mut row, &doc) in rows.rows_mut().into_iter().zip(docs) {
        row.assign(&all.row(doc.index()));
    }
    rows.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn neighbours_are_the_rows_that_a_copy_has() {
        let values = (0_u8..15).map(f32::from).collect();
        let embeddings = Embeddings { dim: 3, values };
        for numbers in [&[1_u32, 2, 3][..], &[0, 2, 3], &[4], &[3, 1], &[]] {
            let docs: Vec<Doc> = numbers.iter().copied().map(Doc).collect();
            let found = rows(&embeddings, &docs);
            assert_eq!(found.is_view(), numbers.len() == 3 && numbers[0] == 1);
            let expected = docs.iter().flat_map(|doc| embeddings.row(doc.index()).to_vec());
            assert_eq!(found.iter().copied().collect::<Vec<_>>(), expected.collect::<Vec<_>>());
        }
    }
}
