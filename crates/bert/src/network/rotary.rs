//! Rotary positions and windows: what each layer attends to, in families that have no table of
//! positions.
//!
//! Su et al., "`RoFormer`: Enhanced Transformer with Rotary Position Embedding", arXiv 2104.09864: the two
//! halves of a query or key are turned by angles that grow with its position.

use super::Network;
use crate::weights::torch;
use clariq_core::Result;
use clariq_folder::Reach;
use std::ops::Range;
use tch::{Device, Kind, Tensor};

/// The most queries whose scores are in memory at a time: at 12 heads and 8,192 tokens, 200 MB.
const QUERIES: i64 = 512;

/// The positions that layers of one kind attend to, in texts of a length.
#[derive(Debug)]
pub(super) struct Turns {
    reach: Reach,
    is_causal: bool,
    /// Tokens × width.
    cos: Tensor,
    sin: Tensor,
}

impl Network {
    /// The turns of each layer, in texts of that many tokens; empty without rotary positions.
    pub(super) fn turns(&self, tokens: i64) -> Vec<Turns> {
        let reaches = self.shape.reaches.iter();
        reaches.map(|reach| self.turns_of(*reach, tokens)).collect()
    }

    fn turns_of(&self, reach: Reach, tokens: i64) -> Turns {
        let device = self.device();
        let width = self.shape.width;
        let exponents =
            Tensor::arange_start_step(0, width, 2, (Kind::Float, device)) / width as f64;
        let base = Tensor::from(reach.theta).to_kind(Kind::Float).to_device(device);
        let frequencies = base.pow(&exponents).reciprocal() / reach.factor;
        let positions = Tensor::arange(tokens, (Kind::Float, device)).unsqueeze(1);
        let angles = positions * frequencies.unsqueeze(0);
        let angles = Tensor::cat(&[&angles, &angles], 1);
        let kind = self.words.kind();
        Turns {
            reach,
            is_causal: self.shape.layer.is_causal,
            cos: angles.cos().to_kind(kind),
            sin: angles.sin().to_kind(kind),
        }
    }
}

impl Turns {
    /// Queries or keys, texts × heads × tokens × width, turned by their positions.
    pub(super) fn turn(&self, vectors: &Tensor) -> Result<Tensor> {
        let halves = vectors.chunk(2, -1);
        let turned = Tensor::f_cat(&[&halves[1].neg(), &halves[0]], -1);
        Ok(vectors * &self.cos + turned.map_err(torch("rotary positions"))? * &self.sin)
    }

    /// The keys that some queries attend to, of as many as there are tokens.
    pub(super) fn keys(&self, queries: &Range<i64>, tokens: i64) -> Range<i64> {
        let window = self.reach.window.unwrap_or(tokens);
        let last = if self.is_causal { queries.end } else { queries.end.saturating_add(window) };
        (queries.start.saturating_sub(window)).max(0)..last.min(tokens)
    }

    /// The lowest number where a query does not attend to a key, queries × keys; `None` if all do.
    pub(super) fn mask(
        &self,
        queries: &Range<i64>,
        keys: &Range<i64>,
        device: Device,
    ) -> Option<Tensor> {
        let furthest = (queries.end - 1 - keys.start).max(keys.end - 1 - queries.start);
        let window = self.reach.window.filter(|window| furthest > *window);
        if window.is_none() && !self.is_causal {
            return None;
        }
        let numbers = |range: &Range<i64>| {
            Tensor::arange_start(range.start, range.end, (Kind::Int64, device))
        };
        let distance = numbers(queries).unsqueeze(1) - numbers(keys).unsqueeze(0);
        let mut is_hidden = distance.abs().gt(window.unwrap_or(i64::MAX));
        if self.is_causal {
            is_hidden = is_hidden.logical_or(&distance.lt(0));
        }
        Some(is_hidden.to_kind(Kind::Float) * f64::from(f32::MIN))
    }
}

/// Ranges of queries that are computed together.
pub(super) fn blocks(queries: i64) -> impl Iterator<Item = Range<i64>> {
    let starts = (0..queries.max(1)).step_by(QUERIES as usize);
    starts.map(move |start| start..(start + QUERIES).min(queries))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        /// Each query sees the keys that its definition says: those within the window, and not later ones.
        #[test]
        fn blocks_see_what_all_tokens_at_once_see(
            tokens in 1_i64..40,
            start in 0_i64..40,
            length in 1_i64..20,
            window in prop::option::of(0_i64..12),
            is_causal: bool,
        ) {
            let queries = start.min(tokens - 1)..(start.min(tokens - 1) + length).min(tokens);
            let reach = Reach { window, theta: 10.0, factor: 1.0 };
            let none = Tensor::zeros([0], (Kind::Float, Device::Cpu));
            let turns = Turns { reach, is_causal, cos: none.shallow_clone(), sin: none };
            let keys = turns.keys(&queries, tokens);
            let mask = turns.mask(&queries, &keys, Device::Cpu);
            for query in queries.clone() {
                for key in 0..tokens {
                    let is_seen = window.is_none_or(|window| (query - key).abs() <= window)
                        && (!is_causal || key <= query);
                    let at = [query - queries.start, key - keys.start];
                    let is_hidden = !keys.contains(&key)
                        || mask.as_ref().is_some_and(|mask| mask.double_value(&at) < 0.0);
                    prop_assert_eq!(is_seen, !is_hidden, "{} {}", query, key);
                }
            }
        }
    }

    #[test]
    fn blocks_are_all_queries_once() {
        for queries in [0, 1, QUERIES, QUERIES + 1, 3 * QUERIES - 1] {
            let all: Vec<i64> = blocks(queries).flatten().collect();
            assert_eq!(all, (0..queries).collect::<Vec<_>>());
        }
    }
}
