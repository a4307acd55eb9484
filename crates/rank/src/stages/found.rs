//! Documents that something else has found, as a ranking.

use crate::stage::Batch;
use clariq_core::Error;
use clariq_core::{Hit, Problem, Ranking, Request, best_first};
use std::collections::HashSet;

/// Ranks what was found for a request, as ids with scores: the best `depth` of its candidates, each
/// once. `unknown` says that a document, by its position and id, is not of the collection.
pub(super) fn rank_found<'f>(
    batch: &Batch,
    request: &Request,
    found: impl IntoIterator<Item = (&'f str, f64)>,
    depth: usize,
    unknown: impl Fn(usize, &str) -> Problem,
) -> Result<Ranking, Error> {
    let mut ranking = Ranking::new();
    for (index, (id, score)) in found.into_iter().enumerate() {
        let doc = batch.context.documents.find(id).ok_or_else(|| unknown(index, id))?;
        let own = request.candidates.as_ref();
        if own.is_none_or(|own| own.binary_search(&doc).is_ok()) {
            ranking.push(Hit { doc, score });
        }
    }
    ranking.sort_by(best_first);
    let mut seen = HashSet::new();
    ranking.retain(|hit| seen.insert(hit.doc));
    ranking.truncate(request.depth(depth));
    Ok(ranking)
}
