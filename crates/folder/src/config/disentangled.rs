//! DeBERTa's treatment of distances between tokens, from `config.json`.

use super::{Config, ModelShape};
use crate::family::Family;
use crate::files::COPY_AGAIN;
use clariq_core::{Result, bail};
use serde::Deserialize;
use serde_json::Value;
use std::path::Path;

/// Disentangled attention (He et al., "DeBERTa: Decoding-enhanced BERT with Disentangled Attention",
/// ICLR 2021): besides the product of query and key, the products of each with the vector of the
/// distance to the other.
#[derive(Debug, Clone, PartialEq)]
pub struct Disentangled {
    /// Rows of the table of distances in either direction.
    pub span: i64,
    /// The distance at which the last bucket ends, where distances are put into buckets.
    pub most: Option<i64>,
    /// True if distances share the projections of words.
    pub is_shared: bool,
    /// True if the table is normalised first.
    pub is_normed: bool,
}

impl Disentangled {
    pub(super) fn read(at: &Path, config: &Config, shape: &ModelShape) -> Result<Self> {
        let hint = "published models have this one";
        let parts = config.pos_att_type.clone().unwrap_or_default();
        let mut names: Vec<String> = match &parts {
            Value::String(parts) => {
                parts.split('|').map(|part| part.trim().to_lowercase()).collect()
            }
            other => Vec::deserialize(other).unwrap_or_default(),
        };
        names.sort_unstable();
        let is_relative = config.relative_attention.unwrap_or(false);
        if names != ["c2p", "p2c"] || !is_relative {
            let found = format!("{parts} with relative_attention {is_relative}");
            bail!(at, "pos_att_type \"c2p|p2c\" with relative_attention true", found, hint);
        }
        let embedding = config.embedding_size.map(|size| i64::from(size.get()));
        for (key, found, usual) in [
            ("embedding_size", embedding, shape.hidden),
            ("attention_head_size", config.attention_head_size, shape.hidden / shape.heads),
        ] {
            if let Some(found) = found.filter(|found| *found != usual) {
                bail!(at, "{key} {usual}", "{found}", hint);
            }
        }
        let most = config.max_relative_positions.filter(|most| *most > 0);
        let most = most.unwrap_or(shape.positions);
        // The first version has neither buckets nor shared projections.
        if shape.family == Family::Deberta {
            return Ok(Self { span: most, most: None, is_shared: false, is_normed: false });
        }
        let is_normed = match config.norm_rel_ebd.as_deref() {
            None | Some("none") => false,
            Some("layer_norm") => true,
            Some(other) => bail!(at, "norm_rel_ebd `layer_norm` or `none`", "`{other}`", hint),
        };
        let is_shared = config.share_att_key.unwrap_or(false);
        let buckets = config.position_buckets.unwrap_or(0);
        if buckets < 1 {
            return Ok(Self { span: most, most: None, is_shared, is_normed });
        }
        // Half of the buckets are one distance each; the others reach to `most` in growing steps.
        if buckets < 2 || buckets / 2 >= most - 1 {
            let expected = format!("position_buckets from 2 to below {}", 2 * most.min(1 << 32));
            bail!(at, expected, (buckets.to_string()), COPY_AGAIN);
        }
        Ok(Self { span: buckets, most: Some(most), is_shared, is_normed })
    }

    /// The row of a distance of 0 or more, counted from the middle of the table: the distance itself,
    /// or its bucket, computed in 32-bit floats as in Hugging Face's library.
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
