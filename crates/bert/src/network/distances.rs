//! Distances between tokens in attention: biases in MPNet, vectors in DeBERTa.

use super::{Layer, Network, rows};
use crate::batch::TokenBatch;
use crate::products::Linear;
use crate::weights::torch;
use clariq_core::{Error, Result};
use tch::{Kind, Tensor};

/// The distances between the tokens of a batch, as attention uses them.
pub(super) enum Distances {
    /// Added to the scores, 1 × heads × tokens × tokens.
    Biases(Tensor),
    /// Attended to, as DeBERTa does.
    Vectors {
        /// The vectors of the distances that occur.
        vectors: Tensor,
        /// The row in `vectors` of each pair of tokens, tokens × tokens.
        rows: Tensor,
    },
}

impl Network {
    /// The distances in texts of that many tokens.
    pub(super) fn distances(&self, tokens: i64) -> Result<Option<Distances>> {
        // A tokenizer without special tokens has none for an empty text.
        let Some(table) = self.distances.as_ref().filter(|_| tokens > 0) else { return Ok(None) };
        let position = Tensor::arange(tokens, (Kind::Int64, table.device()));
        let distance = position.unsqueeze(1) - position.unsqueeze(0);
        let Some(settings) = &self.shape.disentangled else {
            return Ok(Some(Distances::Biases(distance_biases(table, &distance)?)));
        };
        let row = |distance: i64| {
            let row = settings.row(distance.abs());
            (settings.span + row * distance.signum()).clamp(0, 2 * settings.span - 1)
        };
        let first = row(1 - tokens);
        let last = row(tokens - 1);
        let occurring: Vec<i64> = (1 - tokens..tokens).map(|to| row(to) - first).collect();
        let occurring = Tensor::from_slice(&occurring).to_device(table.device());
        let rows = occurring.index_select(0, &(distance + tokens - 1).view([-1]));
        let rows = rows.view([tokens, tokens]);
        let mut vectors = table.narrow(0, first, last + 1 - first);
        if let Some(norm) = &self.distance_norm {
            vectors = norm.norm(&vectors, self.shape.epsilon)?;
        }
        Ok(Some(Distances::Vectors { vectors, rows }))
    }

    /// The vectors of distances as keys and as queries, 1 × heads × width × rows.
    pub(super) fn project_distances(
        &self,
        own: &Layer,
        vectors: &Tensor,
        batch: &TokenBatch,
    ) -> Result<[Tensor; 2]> {
        let hidden = self.shape.hidden;
        let heads = self.shape.heads;
        let dropout = self.shape.dropout;
        let mut vectors = vectors.shallow_clone();
        if batch.train && dropout > 0.0 {
            vectors = vectors.f_dropout(dropout, true).map_err(torch("dropout"))?;
        }
        let project = |linear: &Linear| {
            let projected = self.products.linear(linear, &vectors)?;
            Ok::<_, Error>(projected.view([1, -1, heads, hidden / heads]).permute([0, 2, 3, 1]))
        };
        if let Some([to_key, to_query]) = &own.distance_projections {
            return Ok([project(to_key)?, project(to_query)?]);
        }
        let Linear { weight, bias } = &own.query_key_value;
        let part = |number: i64| {
            let weight = weight.narrow(0, number * hidden, hidden);
            let bias = bias.as_ref().map(|bias| bias.narrow(0, number * hidden, hidden));
            project(&Linear::new(weight, bias))
        };
        Ok([part(1)?, part(0)?])
    }
}

/// The biases of distances, 1 × heads × tokens × tokens: one per bucket, and buckets grow with the
/// distance, as in Raffel et al., JMLR 2020, with 32 buckets up to 128 tokens.
fn distance_biases(table: &Tensor, distance: &Tensor) -> Result<Tensor> {
    let exact = 8;
    let most = 16;
    let length = distance.abs();
    let far = (length.to_kind(Kind::Float) / f64::from(exact)).log() / 16_f64.ln() * 8.0;
    let far = (far.clamp_min(0.0).to_kind(Kind::Int64) + i64::from(exact)).clamp_max(most - 1);
    let is_near = length.lt(i64::from(exact));
    let bucket = length.where_self(&is_near, &far) + distance.lt(0).to_kind(Kind::Int64) * most;
    let tokens = distance.size()[0];
    let biases = rows(table, &bucket.view([-1]))?.view([tokens, tokens, -1]);
    Ok(biases.permute([2, 0, 1]).unsqueeze(0))
}
