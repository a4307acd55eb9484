//! tantivy's block-max WAND, which skips most documents, made to return exactly what the
//! exhaustive path returns.
//!
//! tantivy computes in `f32` and breaks ties by its own document order, so its list is only used to
//! rule documents out: every document within a margin of the `limit`-th best is kept, scored again
//! in `f64`, and ordered by the project's rule. The margin is far above what `f32` can be wrong by,
//! so no document of the exact list is ruled out.

use crate::error::tantivy;
use crate::scorer::{Matched, Scorer};
use crate::top::Top;
use clariq_core::Error;
use clariq_core::Hit;
use std::cmp::Reverse;
use std::collections::BinaryHeap;
use tantivy::postings::Postings;
use tantivy::query::{BooleanQuery, EnableScoring, Occur, Query, TermQuery};
use tantivy::schema::IndexRecordOption;
use tantivy::{DocSet, Score, Term};

/// A bound on the error of a sum of `tokens` parts near `score`: each part takes about ten `f32`
/// operations, each wrong by at most 2⁻²⁴ of its value or, inside the logarithm, of 1; 10⁻⁵ is more
/// than ten times that.
fn margin(score: Score, tokens: usize) -> Score {
    1e-5 * (score.abs() + tokens as Score)
}

/// The best `limit` documents with at least one of the tokens.
pub(crate) fn top(scorer: &Scorer, matched: &[Matched], limit: usize) -> Result<Vec<Hit>, Error> {
    if limit == 0 || matched.is_empty() {
        return Ok(Vec::new());
    }
    let mut candidates =
        candidates(scorer, matched, limit).map_err(tantivy(scorer.index.folder()))?;
    candidates.sort_unstable();
    rescore(scorer, matched, &candidates, limit)
}

/// The documents whose `f32` score is within the margin of the `limit`-th best or above.
fn candidates(scorer: &Scorer, matched: &[Matched], limit: usize) -> tantivy::Result<Vec<u32>> {
    let clauses = matched.iter().map(|token| {
        let term = Term::from_field_text(scorer.index.text, token.token);
        let query: Box<dyn Query> = Box::new(TermQuery::new(term, IndexRecordOption::WithFreqs));
        (Occur::Should, query)
    });
    let searcher = &scorer.index.searcher;
    let weight = BooleanQuery::new(clauses.collect())
        .weight(EnableScoring::enabled_from_searcher(searcher))?;
    let mut kept: Vec<(u32, Score)> = Vec::new();
    let mut best: BinaryHeap<Reverse<Ordered>> = BinaryHeap::with_capacity(limit + 1);
    let mut threshold = Score::MIN;
    weight.for_each_pruning(threshold, searcher.segment_reader(0), &mut |document, score| {
        kept.push((document, score));
        best.push(Reverse(Ordered(score)));
        if best.len() > limit {
            best.pop();
        }
        if best.len() == limit
            && let Some(Reverse(Ordered(worst))) = best.peek()
        {
            threshold = worst - margin(*worst, matched.len());
        }
        threshold
    })?;
    kept.retain(|&(_, score)| score > threshold);
    Ok(kept.into_iter().map(|(document, _)| document).collect())
}

#[derive(PartialEq)]
struct Ordered(Score);

impl Eq for Ordered {}

impl PartialOrd for Ordered {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Ordered {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.0.total_cmp(&other.0)
    }
}

/// Exact scores of documents in ascending order: token by token, in the order of the request, like
/// the exhaustive path.
fn rescore(
    scorer: &Scorer,
    matched: &[Matched],
    documents: &[u32],
    limit: usize,
) -> Result<Vec<Hit>, Error> {
    let mut scores = vec![0.0; documents.len()];
    for token in matched {
        let mut postings = scorer
            .index
            .postings
            .read_postings_from_terminfo(&token.info, IndexRecordOption::WithFreqs)
            .map_err(Error::io("use", scorer.index.folder()))?;
        for (&document, score) in documents.iter().zip(&mut scores) {
            if postings.doc() < document {
                postings.seek(document);
            }
            if postings.doc() == document {
                *score += scorer.contribution(token.idf, postings.term_freq(), document);
            }
        }
    }
    let mut hits = Vec::new();
    let mut top = Top::new(&mut hits, limit);
    for (&document, score) in documents.iter().zip(scores) {
        top.offer(Hit { doc: scorer.index.docs[document as usize], score });
    }
    Ok(top.finish())
}
