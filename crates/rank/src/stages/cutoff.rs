//! Stage `cutoff`: how long may a ranking be?

use crate::context::Context;
use crate::error::Error;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::Build;
use clariq_corpus::Topic;
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
}
