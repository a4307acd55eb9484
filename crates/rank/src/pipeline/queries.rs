//! Several queries for a request: each is retrieved, and the rankings are fused by their reciprocal
//! ranks.

use crate::fusion::{reciprocal_rank, reciprocal_ranks};
use crate::stage::{Batch, Stage, check_finite};
use clariq_core::{Doc, Explanation, Ranking, Request, Result};
use std::slice;

/// Applies a stage to each query of each request, and fuses the rankings of a request. A fused
/// ranking is as long as the longest of them.
pub(super) fn retrieve(
    stage: &dyn Stage,
    batch: &Batch,
    queries: &[Vec<Request>],
    before: &[Ranking],
) -> Result<Vec<Ranking>> {
    let mut rankings = rank_each(stage, batch, queries, before)?.into_iter();
    let mut fused = Vec::with_capacity(queries.len());
    for queries in queries {
        let of_request: Vec<Ranking> = rankings.by_ref().take(queries.len()).collect();
        fused.push(fuse(&of_request));
    }
    Ok(fused)
}

/// The ranking of each query, in order.
fn rank_each(
    stage: &dyn Stage,
    batch: &Batch,
    queries: &[Vec<Request>],
    before: &[Ranking],
) -> Result<Vec<Ranking>> {
    let mut rankings = Vec::new();
    for (queries, before) in queries.iter().zip(before) {
        rankings.extend(vec![before.clone(); queries.len()]);
    }
    let requests = queries.concat();
    let batch = Batch { requests: &requests, progress: &|_| {}, ..*batch };
    let ranked = stage.apply(&batch, rankings)?;
    check_finite(stage, &batch, &ranked)?;
    Ok(ranked)
}

fn fuse(rankings: &[Ranking]) -> Ranking {
    let depth = rankings.iter().map(Vec::len).max().unwrap_or_default();
    reciprocal_ranks(&rankings.iter().collect::<Vec<_>>(), depth)
}

/// The fused ranking of one request, and the share of each query in the score of a document.
pub(super) fn explain(
    stage: &dyn Stage,
    one: &Batch,
    queries: &[Vec<Request>],
    doc: Doc,
    before: &Ranking,
) -> Result<(Ranking, Explanation)> {
    let rankings = rank_each(stage, one, queries, slice::from_ref(before))?;
    let mut parts = Vec::new();
    for (query, ranking) in queries.iter().flatten().zip(&rankings) {
        let text = query.last_said();
        let Some(index) = ranking.iter().position(|hit| hit.doc == doc) else {
            parts.push(Explanation::value(0.0, format!("not found by \"{text}\"")));
            continue;
        };
        let rank = index + 1;
        let one = Batch { requests: slice::from_ref(query), ..*one };
        let inner = stage.explain(&one, doc, before)?.into_iter().collect();
        let what = format!("1 / (60 + rank {rank}) by \"{text}\"");
        parts.push(Explanation::of(reciprocal_rank(rank), what, inner));
    }
    Ok((fuse(&rankings), Explanation::sum("sum over the queries", parts)))
}
