//! Exact BM25 over tantivy's postings.
//!
//! Scores are `f64` sums over the request's tokens in order, with the operations in the order of
//! `rank_bm25`: what ties in the published baseline ties here.

use crate::bm25::Bm25;
use crate::document_index::DocumentIndex;
use crate::pruned::Pruner;
use clariq_core::{Doc, Error, Hit, Ranking, best_first};
use std::collections::HashMap;
use std::mem;
use std::sync::{Arc, OnceLock};
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;

/// Where at least one in so many documents is wanted, leaving some out saves no time.
const LEAST_PRUNED: usize = 16;

/// Up to so many tokens in all documents, impacts are kept: 16 bytes for each posting of the tokens
/// that requests have, so at most 16 MB.
const KEPT_TOKENS: u64 = 1 << 20;

/// How many documents are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// At most so many.
    pub limit: usize,
    /// Whether documents that share no token with the request fill the list up, with score 0 and by
    /// descending id, as users of `rank_bm25` get them.
    pub pad: bool,
}

impl Depth {
    /// At most `limit` documents that share a token with the request.
    pub fn matching(limit: usize) -> Self {
        Self { limit, pad: false }
    }
}

/// What is searched for.
#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    /// The tokens of the request.
    pub tokens: &'q [String],
    /// A factor for each token, which may be negative; 1 for all if there is no such list.
    pub weights: Option<&'q [f64]>,
    /// The only documents that are ranked, in ascending order; all if there is no such list.
    pub among: Option<&'q [Doc]>,
    /// How many documents are wanted.
    pub depth: Depth,
}

impl<'q> Query<'q> {
    /// All tokens count the same, and all documents are ranked.
    pub fn new(tokens: &'q [String], depth: Depth) -> Self {
        Self { tokens, weights: None, among: None, depth }
    }

    /// Whether a document may be ranked.
    pub(crate) fn admits(&self, doc: Doc) -> bool {
        self.among.is_none_or(|among| among.binary_search(&doc).is_ok())
    }
}

/// Buffers of a query, to be reused by the next one on the same thread.
#[derive(Debug, Default)]
pub struct Scratch {
    /// The sum for each of tantivy's documents; all 0 between queries.
    scores: Vec<f64>,
    /// The documents that have a token of the request.
    touched: Vec<u32>,
}

/// BM25 with its parameters over one index.
pub struct Scorer {
    pub(crate) index: Arc<DocumentIndex>,
    pub(crate) model: Bm25,
    /// How many documents the formula counts.
    pub(crate) documents: usize,
    /// Their mean length.
    pub(crate) mean_length: f64,
    /// The length normalisation of each document.
    pub(crate) norms: Vec<f64>,
    /// Replaces a negative idf.
    floor: Option<f64>,
    /// The vocabulary of a small index; what a token adds to each document's score does not depend
    /// on the request, so its postings need not be decoded for every one.
    vocabulary: Option<HashMap<Box<str>, (TermInfo, Impacts)>>,
    /// Where the vocabulary is not kept.
    pruner: Option<Pruner>,
}

/// What one token adds to the scores of tantivy's documents, from the first request on that has it.
type Impacts = OnceLock<Box<[(u32, f64)]>>;

/// A token of a request that some document has.
pub(crate) struct Matched<'s> {
    pub(crate) info: TermInfo,
    pub(crate) idf: f64,
    /// The factor that the query gives it.
    pub(crate) weight: f64,
    impacts: Option<&'s Impacts>,
}

impl Scorer {
    /// Prepares the figures that do not depend on a request.
    pub fn new(index: &Arc<DocumentIndex>, model: Bm25) -> Result<Self, Error> {
        model.check()?;
        let empty = index.lengths.iter().filter(|&&length| length == 0).count();
        let documents = index.documents() - if model.counts_empty() { 0 } else { empty };
        let tokens: u64 = index.lengths.iter().map(|&length| u64::from(length)).sum();
        let mean_length = tokens as f64 / documents.max(1) as f64;
        let norm = |&tokens: &u32| model.norm(f64::from(model.length(tokens)), mean_length);
        let mut scorer = Self {
            index: Arc::clone(index),
            model,
            documents,
            mean_length,
            norms: index.lengths.iter().map(norm).collect(),
            floor: None,
            vocabulary: None,
            pruner: None,
        };
        scorer.read_vocabulary(tokens <= KEPT_TOKENS)?;
        if scorer.vocabulary.is_none() {
            scorer.pruner = Pruner::new(&scorer);
        }
        Ok(scorer)
    }

    /// Computes the floor from the mean idf, and keeps the vocabulary of a small index.
    fn read_vocabulary(&mut self, keep: bool) -> Result<(), Error> {
        if !keep && self.model.floor(0.0).is_none() {
            return Ok(());
        }
        let terms = self.index.postings.terms();
        let mut stream = terms.stream().map_err(Error::io("use", self.index.folder()))?;
        let (mut sum, mut kept) = (0.0, HashMap::new());
        while let Some((token, info)) = stream.next() {
            sum += self.idf(info.doc_freq);
            if keep {
                let token = String::from_utf8_lossy(token).into();
                kept.insert(token, (info.clone(), Impacts::new()));
            }
        }
        self.floor = self.model.floor(sum / terms.num_terms().max(1) as f64);
        self.vocabulary = keep.then_some(kept);
        Ok(())
    }

    /// The index that is scored.
    pub fn index(&self) -> &Arc<DocumentIndex> {
        &self.index
    }

    /// Ranks documents by a query.
    pub fn rank(&self, query: &Query, scratch: &mut Scratch) -> Result<Ranking, Error> {
        // More than there are would only cost memory.
        let limit = query.depth.limit.min(self.index.documents());
        let matched = self.matched(query.tokens, query.weights)?;
        if let Some(pruner) = &self.pruner
            && limit <= self.index.documents() / LEAST_PRUNED
            && Pruner::takes(&matched)
        {
            return self.rank_pruned(pruner, &matched, query, limit);
        }
        self.sum(&matched, scratch)?;
        let Scratch { scores, touched } = scratch;
        let hits = touched.iter().map(|&document| Hit {
            doc: self.index.docs[document as usize],
            score: mem::take(&mut scores[document as usize]),
        });
        let mut hits = best(hits.filter(|hit| query.admits(hit.doc)), limit);
        if query.depth.pad {
            let shares = touched.iter().map(|&document| self.index.docs[document as usize]);
            self.pad(&mut hits, &shares.collect::<Vec<_>>(), query, limit);
        }
        Ok(hits)
    }

    /// Ranks documents by tokens that all add to the score.
    pub(crate) fn rank_pruned(
        &self,
        pruner: &Pruner,
        matched: &[Matched],
        query: &Query,
        limit: usize,
    ) -> Result<Ranking, Error> {
        let mut hits = pruner.rank(self, matched, query, limit)?;
        if query.depth.pad {
            // Where these are fewer than wanted, no others share anything with the request.
            let shares: Vec<Doc> = hits.iter().map(|hit| hit.doc).collect();
            self.pad(&mut hits, &shares, query, limit);
        }
        Ok(hits)
    }

    /// The tokens that some document has. A token without a weight counts 1.
    pub(crate) fn matched(
        &self,
        tokens: &[String],
        weights: Option<&[f64]>,
    ) -> Result<Vec<Matched<'_>>, Error> {
        let mut matched = Vec::with_capacity(tokens.len());
        for (position, token) in tokens.iter().enumerate() {
            let found = if let Some(known) = &self.vocabulary {
                known.get(&**token).map(|(info, impacts)| (info.clone(), Some(impacts)))
            } else {
                let found = self.index.postings.terms().get(token);
                found.map_err(Error::io("use", self.index.folder()))?.map(|info| (info, None))
            };
            if let Some((info, impacts)) = found {
                let idf = self.idf(info.doc_freq);
                let weight = weights.and_then(|weights| weights.get(position));
                let weight = weight.copied().unwrap_or(1.0);
                matched.push(Matched { info, idf, weight, impacts });
            }
        }
        Ok(matched)
    }

    /// The share of the documents that have a token, 0 to 1.
    pub fn document_share(&self, token: &str) -> Result<f32, Error> {
        let matched = self.matched(&[token.to_owned()], None)?;
        let frequency = matched.first().map_or(0, |matched| matched.info.doc_freq);
        Ok(frequency as f32 / self.documents.max(1) as f32)
    }

    fn idf(&self, doc_freq: u32) -> f64 {
        let idf = self.model.idf(self.documents as f64, f64::from(doc_freq));
        self.floor.filter(|_| idf < 0.0).unwrap_or(idf)
    }

    pub(crate) fn contribution(&self, idf: f64, tf: u32, norm: f64) -> f64 {
        idf * self.model.saturation(f64::from(tf), norm)
    }

    /// Adds up what the tokens contribute to each document, and notes which documents have one.
    fn sum(&self, matched: &[Matched], scratch: &mut Scratch) -> Result<(), Error> {
        let Scratch { scores, touched } = scratch;
        scores.resize(self.norms.len(), 0.0);
        touched.clear();
        // A document is noted when its first token is added. Where a token counts nothing or less,
        // the sum may be 0 again later, so that this sign is not enough.
        let signed = matched.iter().any(|token| token.idf * token.weight <= 0.0);
        let mut seen = if signed { vec![false; scores.len()] } else { Vec::new() };
        for token in matched {
            self.visit(token, |document, score| {
                let sum = &mut scores[document as usize];
                let new = if signed {
                    !mem::replace(&mut seen[document as usize], true)
                } else {
                    *sum == 0.0
                };
                if new {
                    touched.push(document);
                }
                *sum += score;
            })?;
        }
        Ok(())
    }

    /// Calls `each` with every document that has the token and what it adds to the score.
    fn visit(&self, token: &Matched, mut each: impl FnMut(u32, f64)) -> Result<(), Error> {
        let Some(impacts) = token.impacts else {
            return self.decode(token, |document, score| each(document, score * token.weight));
        };
        if impacts.get().is_none() {
            let mut decoded = Vec::with_capacity(token.info.doc_freq as usize);
            self.decode(token, |document, score| decoded.push((document, score)))?;
            // Where another thread was first, its impacts are the same.
            drop(impacts.set(decoded.into()));
        }
        for &(document, score) in impacts.get().into_iter().flatten() {
            each(document, score * token.weight);
        }
        Ok(())
    }

    /// The postings of a token.
    pub(crate) fn blocks(&self, token: &Matched) -> Result<BlockSegmentPostings, Error> {
        let postings = &self.index.postings;
        let blocks =
            postings.read_block_postings_from_terminfo(&token.info, IndexRecordOption::WithFreqs);
        blocks.map_err(Error::io("use", self.index.folder()))
    }

    fn decode(&self, token: &Matched, mut each: impl FnMut(u32, f64)) -> Result<(), Error> {
        let mut blocks = self.blocks(token)?;
        while !blocks.docs().is_empty() {
            for (&document, &tf) in blocks.docs().iter().zip(blocks.freqs()) {
                let norm = self.norms[document as usize];
                each(document, self.contribution(token.idf, tf, norm));
            }
            blocks.advance();
        }
        Ok(())
    }

    /// Fills up with documents that share nothing with the request. They score 0, above any with a
    /// negative sum.
    fn pad(&self, hits: &mut Ranking, sharing: &[Doc], query: &Query, limit: usize) {
        if hits.len() >= limit && hits.last().is_none_or(|last| last.score > 0.0) {
            return;
        }
        let mut shares = vec![false; self.index.documents()];
        for doc in sharing {
            shares[doc.index()] = true;
        }
        let rest = Doc::all(self.index.documents()).rev();
        let rest = rest.filter(|&doc| !shares[doc.index()] && query.admits(doc));
        hits.extend(rest.take(limit).map(|doc| Hit { doc, score: 0.0 }));
        hits.sort_unstable_by(best_first);
        hits.truncate(limit);
    }
}

/// The best hits, in order. They are gathered up to four times the limit and then cut back; after
/// the first cut most are refused by one comparison, which is cheaper than a heap for such lists.
fn best(hits: impl Iterator<Item = Hit>, limit: usize) -> Ranking {
    let (mut kept, mut threshold) = (Vec::new(), f64::NEG_INFINITY);
    for hit in hits.filter(|_| limit > 0) {
        if hit.score >= threshold {
            kept.push(hit);
            if kept.len() >= limit.max(16) * 4 {
                threshold = cut(&mut kept, limit);
            }
        }
    }
    if kept.len() > limit {
        cut(&mut kept, limit);
    }
    kept.sort_unstable_by(best_first);
    kept.shrink_to_fit();
    kept
}

/// Leaves the best `limit` hits of more, in any order; the score of the last of them.
fn cut(hits: &mut Vec<Hit>, limit: usize) -> f64 {
    let (_, last, _) = hits.select_nth_unstable_by(limit - 1, best_first);
    let threshold = last.score;
    hits.truncate(limit);
    threshold
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn the_best_are_those_of_sorting_everything(
            scores in prop::collection::vec(0..20_i32, 0..400),
            limit in 0..50_usize,
        ) {
            let hit = |(doc, &score): (u32, &i32)| Hit { doc: Doc(doc), score: score.into() };
            let mut sorted: Vec<Hit> = (0..).zip(&scores).map(hit).collect();
            let found = best(sorted.clone().into_iter(), limit);
            sorted.sort_by(best_first);
            sorted.truncate(limit);
            prop_assert_eq!(found, sorted);
        }
    }
}
