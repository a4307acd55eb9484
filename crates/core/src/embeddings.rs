//! Vectors of texts, and of conversations by an encoder of texts.

use crate::history::{History, HistoryWeights, Said};

/// Vectors of one length, one row per text.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Embeddings {
    /// The length of a vector.
    pub dim: usize,
    /// All rows, one after the other.
    pub values: Vec<f32>,
}

impl Embeddings {
    /// How many rows there are.
    pub fn len(&self) -> usize {
        self.values.len().checked_div(self.dim).unwrap_or(0)
    }

    /// Whether there are no rows.
    pub fn is_empty(&self) -> bool {
        self.values.is_empty()
    }

    /// One row.
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
}

/// The sum of vectors by their weights, of length 1; zeros where nothing is summed.
pub fn weighted_sum<'v>(
    dim: usize,
    vectors: impl IntoIterator<Item = (&'v [f32], f64)>,
) -> Vec<f32> {
    let mut sum = vec![0.0_f32; dim];
    for (vector, weight) in vectors {
        let weight = weight as f32;
        for (sum, value) in sum.iter_mut().zip(vector) {
            *sum += weight * value;
        }
    }
    let length = sum.iter().map(|value| value * value).sum::<f32>().sqrt();
    if length > 0.0 {
        for value in &mut sum {
            *value /= length;
        }
    }
    sum
}

/// The vector of each conversation by an encoder that knows nothing of conversations: the weighted
/// sum of the vectors of its texts. `encode` is called once, with all texts.
pub fn untrained_vectors<E>(
    conversations: &[History],
    weights: &HistoryWeights,
    encode: impl FnOnce(&[&str]) -> Result<Embeddings, E>,
) -> Result<Embeddings, E> {
    let said: Vec<Vec<Said>> = conversations.iter().map(|history| history.said(weights)).collect();
    let texts: Vec<&str> = said.iter().flatten().map(|said| said.text.as_ref()).collect();
    let encoded = encode(&texts)?;
    let mut rows = encoded.rows();
    let mut values = Vec::with_capacity(conversations.len() * encoded.dim);
    for said in &said {
        let weights = said.iter().map(|said| said.weight);
        // The weights come first, so that no row is taken after the last of them.
        let weighted = weights.zip(rows.by_ref()).map(|(weight, row)| (row, weight));
        values.extend(weighted_sum(encoded.dim, weighted));
    }
    Ok(Embeddings { dim: encoded.dim, values })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Utterance;

    #[test]
    fn a_vector_is_the_sum_of_its_texts_by_weight() {
        let said =
            [Utterance::user("first"), Utterance::system("A. B? C"), Utterance::user("third")];
        let histories = [History::of(&said[..1]), History::of(&said)];
        let weights = HistoryWeights { context: 0.0, system: 0.5, decay: 0.0 };
        let encode = |texts: &[&str]| {
            assert_eq!(texts, ["first", "third", "A. B? C"]);
            Ok::<_, ()>(Embeddings { dim: 2, values: vec![1.0, 0.0, 0.0, 2.0, 2.0, 0.0] })
        };
        let vectors = untrained_vectors(&histories, &weights, encode).unwrap();
        assert_eq!(vectors.row(0), [1.0, 0.0]);
        let length = 5.0_f32.sqrt();
        assert_eq!(vectors.row(1), [1.0 / length, 2.0 / length]);
    }
}
