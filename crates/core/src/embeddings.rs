//! Vectors of texts.

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
