//! Stage `cutoff`: keeps the first documents of every ranking.

use crate::stage::{About, Batch, Stage};
use clariq_core::{Doc, Explanation, Hit, Ranking, Result};
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Cutoff {
    /// The maximum number of documents.
    depth: NonZeroUsize,
    /// Keep only those of them with at least this score.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_score: Option<f64>,
}

impl Cutoff {
    fn keeps(&self, index: usize, hit: &Hit) -> bool {
        index < self.depth.get() && self.min_score.is_none_or(|least| hit.score >= least)
    }
}

impl Stage for Cutoff {
    fn about(&self) -> About {
        About::new("cutoff", self)
    }

    fn apply(&self, _: &Batch, mut rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        for ranking in &mut rankings {
            let mut index = 0..;
            ranking.retain(|hit| self.keeps(index.next().unwrap_or_default(), hit));
        }
        Ok(rankings)
    }

    fn explain(&self, _: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let Some(index) = before.iter().position(|hit| hit.doc == doc) else { return Ok(None) };
        let hit = &before[index];
        let rank = format!("rank, kept up to {}", self.depth);
        let mut parts = vec![Explanation::value((index + 1) as f64, rank)];
        if let Some(least) = self.min_score {
            parts.push(Explanation::value(hit.score, format!("score, kept from {least}")));
        }
        let kept = self.keeps(index, hit);
        let what = if kept { "kept" } else { "cut off" };
        Ok(Some(Explanation::of(f64::from(u8::from(kept)), what, parts)))
    }
}
