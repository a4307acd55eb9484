//! Searches: the path that a query takes, block-max or exhaustive.

use crate::block_max;
use crate::scorer::{Depth, Path, Query, Scorer, Scratch};
use clariq_core::Error;
use clariq_core::Ranking;

/// From so many documents on, block-max is worth its overhead (measured by `scripts/bench-bm25`).
const WORTH_BLOCK_MAX: usize = 250_000;

impl Scorer {
    /// Ranks documents by the tokens of a request.
    pub fn top(
        &self,
        tokens: &[String],
        depth: Depth,
        scratch: &mut Scratch,
    ) -> Result<Ranking, Error> {
        self.rank(&Query::new(tokens, depth), scratch)
    }

    /// Ranks documents by a query.
    pub fn rank(&self, query: &Query, scratch: &mut Scratch) -> Result<Ranking, Error> {
        // More than there are would only cost memory.
        let limit = query.depth.limit.min(self.index.documents());
        let matched = self.matched(query.tokens, query.weights)?;
        let wanted = match query.path {
            Path::Auto => self.index.documents() >= WORTH_BLOCK_MAX,
            Path::Exhaustive => false,
            Path::BlockMax => true,
        };
        let plain = query.weights.is_none() && query.among.is_none();
        let mut hits = if wanted && plain && self.block_max_applies() {
            block_max::top(self, &matched, limit)?
        } else {
            self.exhaustive(&matched, query, limit, scratch)?
        };
        if query.depth.pad {
            self.pad(&mut hits, &matched, query, limit)?;
        }
        Ok(hits)
    }
}
