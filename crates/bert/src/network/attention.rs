//! Attention, the only computation that needs the tokens of a text side by side.

use super::distances::Distances;
use super::{Layer, Network, WantedVectors, rows};
use crate::batch::TokenBatch;
use crate::weights::torch;
use clariq_core::Result;
use tch::Tensor;

impl Network {
    /// Attention over the queries, keys and values of all tokens (tokens × 3 hidden); returns the
    /// wanted rows.
    pub(super) fn attend(
        &self,
        own: &Layer,
        projected: &Tensor,
        batch: &TokenBatch,
        wanted: WantedVectors,
        distances: Option<&Distances>,
    ) -> Result<Tensor> {
        let (texts, tokens) = batch.size();
        let hidden = self.shape.hidden;
        let heads = self.shape.heads;
        let width = hidden / heads;
        let projected = match &batch.padding {
            Some(padding) => rows(projected, &padding.numbers)?,
            None => projected.shallow_clone(),
        };
        let split = projected.view([texts, tokens, 3, heads, width]).permute([2, 0, 3, 1, 4]);
        let mut query = split.get(0);
        let key = split.get(1);
        let value = split.get(2);
        if wanted == WantedVectors::First {
            query = query.narrow(2, 0, 1);
        }
        let weights = self.attention_weights(own, &query, &key, batch, distances)?;
        let mixed = self.products.matmul(&weights, &value)?;
        let mixed = mixed.transpose(1, 2).reshape([-1, hidden]);
        match &batch.padding {
            Some(padding) if wanted == WantedVectors::All => rows(&mixed, &padding.cells),
            _ => Ok(mixed),
        }
    }

    /// The attention weights, texts × heads × queries × keys.
    fn attention_weights(
        &self,
        own: &Layer,
        query: &Tensor,
        key: &Tensor,
        batch: &TokenBatch,
        distances: Option<&Distances>,
    ) -> Result<Tensor> {
        // The variance of three products is three times that of one.
        let has_vectors = matches!(distances, Some(Distances::Vectors { .. }));
        let terms = if has_vectors { 3.0 } else { 1.0 };
        let scale = 1.0 / (query.size()[3] as f64 * terms).sqrt();
        let query = query * scale;
        let mut scores = self.products.matmul(&query, &key.transpose(-2, -1))?;
        match distances {
            None => {}
            Some(Distances::Biases(biases)) => scores += biases.narrow(2, 0, query.size()[2]),
            Some(Distances::Vectors { vectors, rows }) => {
                let [as_key, as_query] = self.project_distances(own, vectors, batch)?;
                let size = scores.size();
                let rows = rows.narrow(0, 0, size[2]).expand(&size, false);
                let query_to_distance = self.products.matmul(&query, &as_key)?;
                scores += query_to_distance.gather(-1, &rows, false);
                let key_to_distance = self.products.matmul(key, &(as_query * scale))?;
                let key_to_distance = key_to_distance.gather(-1, &rows.transpose(-2, -1), false);
                scores += key_to_distance.transpose(-2, -1);
            }
        }
        if let Some(padding) = &batch.padding {
            scores += &padding.mask;
        }
        let weights = scores.softmax(-1, scores.kind());
        if batch.train && self.shape.attention_dropout > 0.0 {
            let dropped = weights.f_dropout(self.shape.attention_dropout, true);
            return dropped.map_err(torch("dropout"));
        }
        Ok(weights)
    }
}
