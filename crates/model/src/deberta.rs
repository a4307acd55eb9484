//! What DeBERTa says of distances between tokens.

use crate::config::{COPY_AGAIN, Family, Shape};
use clariq_core::{Result, bail, problem};
use serde::Deserialize;
use serde_json::{Map, Value};
use std::path::Path;

/// Disentangled attention (He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention",
/// ICLR 2021): beside the product of query and key, those of the query with the vector of the key's
/// distance, and of the key with that of the query's.
#[derive(Debug, Clone, PartialEq)]
pub struct Disentangled {
    /// Rows of the table of distances in either direction.
    pub span: i64,
    /// The distance at which the last bucket ends, where distances are put into buckets.
    pub most: Option<i64>,
    /// Whether distances are projected as words are; otherwise they have projections of their own.
    pub is_shared: bool,
    /// Whether the table is brought to the norm of a layer first.
    pub is_normed: bool,
}

/// The keys of `config.json`.
#[derive(Deserialize)]
struct Keys {
    #[serde(default)]
    relative_attention: bool,
    #[serde(default)]
    pos_att_type: Value,
    #[serde(default)]
    max_relative_positions: i64,
    #[serde(default)]
    position_buckets: i64,
    #[serde(default)]
    share_att_key: bool,
    norm_rel_ebd: Option<String>,
    embedding_size: Option<i64>,
    attention_head_size: Option<i64>,
}

impl Disentangled {
    pub(crate) fn read(at: &Path, shape: &Shape, config: &Map<String, Value>) -> Result<Self> {
        let family = shape.family;
        let keys = Keys::deserialize(Value::Object(config.clone())).map_err(|error| {
            problem!(at, "the configuration of a {family}", "{error}", COPY_AGAIN)
        })?;
        let hint = "published models have this one";
        let mut parts: Vec<String> = match &keys.pos_att_type {
            Value::String(parts) => {
                parts.split('|').map(|part| part.trim().to_lowercase()).collect()
            }
            other => Vec::deserialize(other).unwrap_or_default(),
        };
        parts.sort_unstable();
        if parts != ["c2p", "p2c"] || !keys.relative_attention {
            let found = format!(
                "{} with relative_attention {}",
                keys.pos_att_type, keys.relative_attention
            );
            bail!(at, "pos_att_type \"c2p|p2c\" with relative_attention true", found, hint);
        }
        let sizes = [
            ("embedding_size", keys.embedding_size, shape.hidden),
            ("attention_head_size", keys.attention_head_size, shape.hidden / shape.heads),
        ];
        for (key, found, usual) in sizes {
            if let Some(found) = found.filter(|found| *found != usual) {
                bail!(at, "{key} {usual}, by hidden_size", "{found}", hint);
            }
        }
        let most = Some(keys.max_relative_positions).filter(|most| *most > 0);
        let most = most.unwrap_or(shape.positions);
        // The first version knows neither buckets nor shared projections.
        if family == Family::Deberta {
            return Ok(Self { span: most, most: None, is_shared: false, is_normed: false });
        }
        let is_normed = match keys.norm_rel_ebd.as_deref() {
            None | Some("none") => false,
            Some("layer_norm") => true,
            Some(other) => bail!(at, "norm_rel_ebd `layer_norm` or `none`", "`{other}`", hint),
        };
        let is_shared = keys.share_att_key;
        let buckets = keys.position_buckets;
        if buckets < 1 {
            return Ok(Self { span: most, most: None, is_shared, is_normed });
        }
        // Half of the buckets are one distance each; the others reach to `most` in growing steps.
        if buckets < 2 || buckets / 2 >= most - 1 {
            let expected = format!("position_buckets from 2 to below {}", 2 * most.min(1 << 32));
            bail!(at, expected, "{buckets}", COPY_AGAIN);
        }
        Ok(Self { span: buckets, most: Some(most), is_shared, is_normed })
    }

    /// The row of a distance of 0 or more, counted from the middle of the table: the distance itself,
    /// or its bucket. In 32-bit floats, as Hugging Face's library computes it.
    pub fn row(&self, distance: i64) -> i64 {
        let middle = self.span / 2;
        match self.most {
            Some(most) if distance > middle => {
                let log = |number: i64| (number as f32 / middle as f32).ln();
                let steps = log(distance) / log(most - 1) * (middle - 1) as f32;
                steps.ceil() as i64 + middle
            }
            _ => distance,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn buckets_are_those_of_transformers() {
        let of = |span, most| Disentangled { span, most, is_shared: true, is_normed: true };
        let row = |distance| of(256, Some(512)).row(distance);
        assert_eq!(
            [0, 1, 128, 129, 130, 131, 200, 511].map(row),
            [0, 1, 128, 129, 130, 131, 169, 255]
        );
        assert_eq!(of(512, None).row(500), 500);
    }
}
