//! Queries, and the contribution of a token to the score of a document.
//!
//! Scores are `f64` sums over the tokens of the request in order, with the operations in the order
//! of `rank_bm25`, so that documents that tie in the published baseline tie here.

use crate::bm25::Bm25;
use crate::document_index::DocumentIndex;
use crate::model::WeightingModel;
use crate::query_likelihood::QueryLikelihood;
use clariq_core::{Doc, Error, IoAction, Result};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;

/// Impacts are kept for indexes of at most this many tokens. They take 16 bytes for each posting, so
/// at most 16 MB.
const KEPT_TOKENS: u64 = 1 << 20;

/// The length of a ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// Maximum number of documents.
    pub limit: usize,
    /// Fill the ranking with documents that share no token with the request: score 0, by descending
    /// id, as in `rank_bm25`.
    pub pad: bool,
}

impl Depth {
    /// At most `limit` documents that share a token with the request.
    pub fn matching(limit: usize) -> Self {
        Self { limit, pad: false }
    }
}

#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    /// The tokens of the request.
    pub tokens: &'q [String],
    /// A factor for each token, which may be negative; 1 for all if absent.
    pub weights: Option<&'q [f64]>,
    /// The documents that may be ranked, in ascending order; all if absent.
    pub among: Option<&'q [Doc]>,
    /// The length of the ranking.
    pub depth: Depth,
}

impl<'q> Query<'q> {
    /// A query without weights over all documents.
    pub fn new(tokens: &'q [String], depth: Depth) -> Self {
        Self { tokens, weights: None, among: None, depth }
    }

    /// True if a document may be ranked.
    pub(crate) fn admits(&self, doc: Doc) -> bool {
        self.among.is_none_or(|among| among.binary_search(&doc).is_ok())
    }
}

/// The weights of tokens in the documents of an index, by one model.
pub(crate) struct Weighting {
    pub(crate) index: Arc<DocumentIndex>,
    pub(crate) model: WeightingModel,
    /// The number of documents that the formula counts.
    pub(crate) documents: usize,
    /// Their mean length.
    pub(crate) mean_length: f64,
    /// The length normalisation of each document.
    pub(crate) norms: Vec<f64>,
    /// Replaces a negative idf.
    floor: Option<f64>,
    /// The vocabulary of a small index, with the impacts of its tokens. They do not depend on the
    /// request, so that postings are decoded once.
    kept: Option<Vocabulary>,
    /// The number of occurrences of tokens in all documents, for query likelihood.
    counts: Mutex<HashMap<Box<str>, u64>>,
}

/// The tokens of an index.
type Vocabulary = HashMap<Box<str>, (TermInfo, Impacts)>;

/// The contributions of a token to the scores of tantivy's documents. They are computed for the
/// first request with the token.
pub(crate) type Impacts = OnceLock<Box<[(u32, f64)]>>;

/// A token of a request that some document has.
pub(crate) struct MatchedToken<'s> {
    /// The position of its postings.
    pub(crate) info: TermInfo,
    /// The idf, or the inverse probability of query likelihood.
    pub(crate) idf: f64,
    /// The factor of the query.
    pub(crate) weight: f64,
    pub(crate) impacts: Option<&'s Impacts>,
}

impl Weighting {
    /// Computes the statistics and norms, which do not depend on a request.
    pub(crate) fn new(index: &Arc<DocumentIndex>, model: WeightingModel) -> Result<Self> {
        model.check()?;
        let empty = index.lengths.iter().filter(|&&length| length == 0).count();
        let documents = index.documents() - if model.counts_empty() { 0 } else { empty };
        let mean_length = index.tokens() as f64 / documents.max(1) as f64;
        let norm = |&tokens: &u32| model.norm(f64::from(model.length(tokens)), mean_length);
        let mut new = Self {
            index: Arc::clone(index),
            model,
            documents,
            mean_length,
            norms: index.lengths.iter().map(norm).collect(),
            floor: None,
            kept: None,
            counts: Mutex::default(),
        };
        new.read_vocabulary()?;
        Ok(new)
    }

    /// True if impacts are kept: the index is small.
    pub(crate) fn keeps_impacts(&self) -> bool {
        self.kept.is_some()
    }

    /// Computes the floor from the mean idf, and keeps the vocabulary of a small index.
    fn read_vocabulary(&mut self) -> Result<()> {
        let keep = self.index.tokens() <= KEPT_TOKENS;
        let floored = match self.model {
            WeightingModel::Bm25(model) if model.floor(0.0).is_some() => Some(model),
            _ => None,
        };
        if !keep && floored.is_none() {
            return Ok(());
        }
        let mut vocabulary = self.index.vocabulary()?;
        let mut kept = Vocabulary::new();
        let mut sum = 0.0;
        let mut count = 0_u64;
        while vocabulary.advance() {
            let info = vocabulary.value();
            sum += floored.map_or(0.0, |model| self.idf(model, info.doc_freq));
            count += 1;
            if keep {
                let token = String::from_utf8_lossy(vocabulary.key()).into();
                kept.insert(token, (info.clone(), Impacts::new()));
            }
        }
        self.floor = floored.and_then(|model| model.floor(sum / count.max(1) as f64));
        self.kept = keep.then_some(kept);
        Ok(())
    }

    /// The tokens that occur in documents. A token without a weight counts 1.
    pub(crate) fn matched(
        &self,
        tokens: &[String],
        weights: Option<&[f64]>,
    ) -> Result<Vec<MatchedToken<'_>>> {
        let mut matched = Vec::with_capacity(tokens.len());
        for (position, token) in tokens.iter().enumerate() {
            let Some((info, impacts)) = self.find(token)? else { continue };
            let idf = match self.model {
                WeightingModel::Bm25(model) => self.idf(model, info.doc_freq),
                WeightingModel::QueryLikelihood(model) => {
                    self.inverse_probability(model, token, &info)?
                }
            };
            let weight = weights.and_then(|weights| weights.get(position)).copied().unwrap_or(1.0);
            matched.push(MatchedToken { info, idf, weight, impacts });
        }
        Ok(matched)
    }

    fn inverse_probability(
        &self,
        model: QueryLikelihood,
        token: &str,
        info: &TermInfo,
    ) -> Result<f64> {
        let known = self.counts.lock().get(token).copied();
        let count = if let Some(count) = known {
            count
        } else {
            let count = occurrences(&self.index, info)?;
            self.counts.lock().insert(token.into(), count);
            count
        };
        Ok(model.inverse_probability(count as f64, self.index.tokens() as f64))
    }

    fn find(&self, token: &str) -> Result<Option<(TermInfo, Option<&Impacts>)>> {
        if let Some(kept) = &self.kept {
            let found = kept.get(token);
            return Ok(found.map(|(info, impacts)| (info.clone(), Some(impacts))));
        }
        Ok(self.index.find(token)?.map(|info| (info, None)))
    }

    fn idf(&self, model: Bm25, doc_freq: u32) -> f64 {
        let idf = model.idf(self.documents as f64, f64::from(doc_freq));
        self.floor.filter(|_| idf < 0.0).unwrap_or(idf)
    }

    pub(crate) fn contribution(&self, idf: f64, tf: u32, norm: f64) -> f64 {
        self.model.contribution(idf, f64::from(tf), norm)
    }

    /// The postings of a token.
    pub(crate) fn blocks(&self, token: &MatchedToken) -> Result<BlockSegmentPostings> {
        blocks(&self.index, &token.info)
    }

    /// Calls `each` with every document that has the token, and its contribution to the score.
    pub(crate) fn decode(
        &self,
        token: &MatchedToken,
        mut each: impl FnMut(u32, f64),
    ) -> Result<()> {
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
}

fn blocks(index: &DocumentIndex, info: &TermInfo) -> Result<BlockSegmentPostings> {
    let blocks =
        index.postings.read_block_postings_from_terminfo(info, IndexRecordOption::WithFreqs);
    blocks.map_err(Error::io(IoAction::Use, &index.folder))
}

/// The number of occurrences of a token in all documents.
fn occurrences(index: &DocumentIndex, info: &TermInfo) -> Result<u64> {
    let mut blocks = blocks(index, info)?;
    let mut count = 0;
    while !blocks.docs().is_empty() {
        count += blocks.freqs().iter().map(|&tf| u64::from(tf)).sum::<u64>();
        blocks.advance();
    }
    Ok(count)
}
