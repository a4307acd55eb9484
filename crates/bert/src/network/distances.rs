//! Distances between tokens in attention: weights in MPNet, vectors in DeBERTa.

use super::{Layer, Network, rows};
use crate::batch::TokenBatch;
use crate::products::Linear;
use crate::weights::torch;
use clariq_core::{Error, Result};
use tch::{Kind, Tensor};

/// The distances between the tokens of a batch, as attention uses them.
pub(super) enum Distances {
    /// Added to it, 1 × heads × tokens × tokens.
    Weights(Tensor),
    /// Attended to: the vectors of the distances that occur, and the row of each pair of tokens.
    Vectors(Tensor, Tensor),
}

impl Network {
    /// The distances between so many tokens.
    pub(super) fn distances(&self, tokens: i64) -> Result<Option<Distances>> {
        let Some(table) = &self.distances else { return Ok(None) };
        let number = Tensor::arange(tokens, (Kind::Int64, table.device()));
        let to = number.unsqueeze(1) - number.unsqueeze(0);
        let Some(distances) = &self.shape.disentangled else {
            return Ok(Some(Distances::Weights(added_by_distance(table, &to)?)));
        };
        let span = distances.span;
        let row = |distance: i64| {
            let row = distances.row(distance.abs());
            (span + row * distance.signum()).clamp(0, 2 * span - 1)
        };
        let first = row(1 - tokens);
        let last = row(tokens - 1);
        let occurring: Vec<i64> = (1 - tokens..tokens).map(|to| row(to) - first).collect();
        let occurring = Tensor::from_slice(&occurring).to_device(table.device());
        let at = occurring.index_select(0, &(to + tokens - 1).view([-1])).view([tokens, tokens]);
        let mut vectors = table.narrow(0, first, last + 1 - first);
        if let Some(norm) = &self.distance_norm {
            vectors = norm.norm(&vectors, self.shape.epsilon)?;
        }
        Ok(Some(Distances::Vectors(vectors, at)))
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
        let dropped = (batch.train && dropout > 0.0).then(|| vectors.f_dropout(dropout, true));
        let dropped = dropped.transpose().map_err(torch("dropout"))?;
        let vectors = dropped.as_ref().unwrap_or(vectors);
        let project = |linear: &Linear| {
            let projected = self.products.linear(linear, vectors)?;
            Ok::<_, Error>(projected.view([1, -1, heads, hidden / heads]).permute([0, 2, 3, 1]))
        };
        if let Some([to_key, to_query]) = &own.of_distances {
            return Ok([project(to_key)?, project(to_query)?]);
        }
        let part = |number: i64| {
            let Linear { weight, bias } = &own.query_key_value;
            let narrow = |tensor: &Tensor| tensor.narrow(0, number * hidden, hidden);
            project(&Linear::new(narrow(weight), narrow(bias)))
        };
        Ok([part(1)?, part(0)?])
    }
}

/// The weights that distances add to attention, 1 × heads × tokens × tokens: in buckets that grow
/// with the distance, as in Raffel et al., JMLR 2020, with 32 buckets up to 128 tokens.
fn added_by_distance(table: &Tensor, to: &Tensor) -> Result<Tensor> {
    let exact = 8;
    let most = 16;
    let far = (to.abs().to_kind(Kind::Float) / f64::from(exact)).log() / 16_f64.ln() * 8.0;
    let far = (far.clamp_min(0.0).to_kind(Kind::Int64) + i64::from(exact)).clamp_max(most - 1);
    let near = to.abs().lt(i64::from(exact));
    let bucket = to.abs().where_self(&near, &far) + to.lt(0).to_kind(Kind::Int64) * most;
    let tokens = to.size()[0];
    let added = rows(table, &bucket.view([-1]))?.view([tokens, tokens, -1]);
    Ok(added.permute([2, 0, 1]).unsqueeze(0))
}
