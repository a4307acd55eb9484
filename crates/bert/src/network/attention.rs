//! Attention, the only computation that needs the tokens of a text side by side.

use super::distances::Distances;
use super::rotary::{Turns, blocks};
use super::{Layer, Network, Places, WantedVectors, rows};
use crate::batch::TokenBatch;
use crate::weights::torch;
use clariq_core::Result;
use clariq_folder::ModelShape;
use tch::Tensor;

impl Network {
    /// Attention over the queries, keys and values of all tokens; returns the wanted rows.
    pub(super) fn attend(
        &self,
        own: &Layer,
        projected: &Tensor,
        batch: &TokenBatch,
        wanted: WantedVectors,
        places: &Places,
    ) -> Result<Tensor> {
        let (texts, tokens) = batch.size();
        let &ModelShape { heads, key_heads, width, .. } = &self.shape;
        let projected = match &batch.padding {
            Some(padding) => rows(projected, &padding.numbers)?,
            None => projected.shallow_clone(),
        };
        let all = [texts, tokens, heads + 2 * key_heads, width];
        let split = projected.view(all).transpose(1, 2);
        let mut query = split.narrow(1, 0, heads);
        let mut key = split.narrow(1, heads, key_heads);
        let mut value = split.narrow(1, heads + key_heads, key_heads);
        if let Some([query_norm, key_norm]) = &own.head_norms {
            query = self.norm(query_norm, &query)?;
            key = self.norm(key_norm, &key)?;
        }
        if let Some(turns) = places.turns {
            query = turns.turn(&query)?;
            key = turns.turn(&key)?;
        }
        if key_heads < heads {
            let shared = heads / key_heads;
            key = key.repeat_interleave_self_int(shared, 1, None);
            value = value.repeat_interleave_self_int(shared, 1, None);
        }
        if wanted == WantedVectors::First {
            query = query.narrow(2, 0, 1);
        }
        let mixed = if let Some(turns) = places.turns {
            self.attend_in_blocks([&query, &key, &value], batch, turns)?
        } else {
            let weights = self.attention_weights(own, &query, &key, batch, places.distances)?;
            self.products.matmul(&weights, &value)?
        };
        let mixed = mixed.transpose(1, 2).reshape([-1, heads * width]);
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
        let scale = 1.0 / (self.shape.divisor * terms).sqrt();
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
        self.weights_of(&scores, batch)
    }

    /// Attention with rotary positions: some queries at a time, and only the keys in their reach.
    fn attend_in_blocks(
        &self,
        [query, key, value]: [&Tensor; 3],
        batch: &TokenBatch,
        turns: &Turns,
    ) -> Result<Tensor> {
        let (_, tokens) = batch.size();
        let query = query * (1.0 / self.shape.divisor.sqrt());
        let mut mixed = Vec::new();
        for queries in blocks(query.size()[2]) {
            let keys = turns.keys(&queries, tokens);
            let length = keys.end - keys.start;
            let some = query.narrow(2, queries.start, queries.end - queries.start);
            let key = key.narrow(2, keys.start, length).transpose(-2, -1);
            let mut scores = self.products.matmul(&some, &key)?;
            let own = turns.mask(&queries, &keys, query.device());
            let padding = batch.padding.as_ref();
            let padding = padding.map(|padding| padding.mask.narrow(3, keys.start, length));
            for mask in own.iter().chain(&padding) {
                scores += mask;
            }
            let mut weights = self.weights_of(&scores, batch)?;
            if let (Some(own), Some(padding), true) = (own, padding, batch.unattended > 0) {
                // A token that sees none, as PyTorch 2.5 and later have it.
                weights *= (own + padding).eq(0.0).any_dim(-1, true);
            }
            mixed.push(self.products.matmul(&weights, &value.narrow(2, keys.start, length))?);
        }
        Tensor::f_cat(&mixed, 2).map_err(torch("attention"))
    }

    /// Weights that sum to 1.
    fn weights_of(&self, scores: &Tensor, batch: &TokenBatch) -> Result<Tensor> {
        let weights = scores.softmax(-1, scores.kind());
        if batch.train && self.shape.attention_dropout > 0.0 {
            let dropped = weights.f_dropout(self.shape.attention_dropout, true);
            return dropped.map_err(torch("dropout"));
        }
        Ok(weights)
    }
}
