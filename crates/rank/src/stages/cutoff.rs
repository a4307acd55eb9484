//! Stage `cutoff`: how long may a ranking be?

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::Build;
use clariq_collections::clariq::Topic;
use clariq_index::Explanation;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Keeps the first questions of every ranking.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Cutoff {
    /// At most so many.
    depth: NonZeroUsize,
    /// And only those with at least this score.
    #[serde(skip_serializing_if = "Option::is_none")]
    min_score: Option<f64>,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(build.table.read::<Cutoff>()?))
}

impl Stage for Cutoff {
    fn name(&self) -> &'static str {
        "cutoff"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn apply(
        &self,
        _context: &Context,
        topics: &[Topic],
        mut rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        for ranking in &mut rankings {
            ranking.truncate(self.depth.get());
            if let Some(least) = self.min_score {
                ranking.retain(|hit| hit.score >= least);
            }
        }
        progress(topics.len() as u64);
        Ok(rankings)
    }

    fn explain_ranked(
        &self,
        _context: &Context,
        _topic: &Topic,
        question: u32,
        before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        let place = before.iter().position(|hit| hit.question == question);
        Ok(place.map(|place| {
            let mut parts = vec![Explanation::value(
                (place + 1) as f64,
                format!("rank, kept up to {}", self.depth),
            )];
            let least = self.min_score.map(|least| format!("score, kept from {least}"));
            parts.extend(least.map(|what| Explanation::value(before[place].score, what)));
            let kept = place < self.depth.get()
                && self.min_score.is_none_or(|least| before[place].score >= least);
            Explanation::of(f64::from(u8::from(kept)), if kept { "kept" } else { "cut off" }, parts)
        }))
    }
}
