//! BM25 of one token and document, over tantivy's postings.
//!
//! Scores are `f64` sums over the request's tokens in order, with the operations in the order of
//! `rank_bm25`: what ties in the published baseline ties here.

use crate::bm25::Bm25;
use crate::document_index::DocumentIndex;
use clariq_core::{Doc, Error};
use std::collections::HashMap;
use std::sync::{Arc, OnceLock};
use tantivy::postings::{BlockSegmentPostings, TermInfo};
use tantivy::schema::IndexRecordOption;

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

/// The weights of tokens in documents, by BM25 with its parameters over one index.
pub(crate) struct Weighting {
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
}

/// What one token adds to the scores of tantivy's documents, from the first request on that has it.
pub(crate) type Impacts = OnceLock<Box<[(u32, f64)]>>;

/// A token of a request that some document has.
pub(crate) struct Matched<'s> {
    pub(crate) info: TermInfo,
    pub(crate) idf: f64,
    /// The factor that the query gives it.
    pub(crate) weight: f64,
    pub(crate) impacts: Option<&'s Impacts>,
}

impl Weighting {
    /// Prepares the figures that do not depend on a request.
    pub(crate) fn new(index: &Arc<DocumentIndex>, model: Bm25) -> Result<Self, Error> {
        model.check()?;
        let empty = index.lengths.iter().filter(|&&length| length == 0).count();
        let documents = index.documents() - if model.counts_empty() { 0 } else { empty };
        let tokens: u64 = index.lengths.iter().map(|&length| u64::from(length)).sum();
        let mean_length = tokens as f64 / documents.max(1) as f64;
        let norm = |&tokens: &u32| model.norm(f64::from(model.length(tokens)), mean_length);
        let mut weighting = Self {
            index: Arc::clone(index),
            model,
            documents,
            mean_length,
            norms: index.lengths.iter().map(norm).collect(),
            floor: None,
            vocabulary: None,
        };
        weighting.read_vocabulary(tokens <= KEPT_TOKENS)?;
        Ok(weighting)
    }

    /// Whether what a token adds to each document's score is kept, for a small index.
    pub(crate) fn keeps_impacts(&self) -> bool {
        self.vocabulary.is_some()
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

    fn idf(&self, doc_freq: u32) -> f64 {
        let idf = self.model.idf(self.documents as f64, f64::from(doc_freq));
        self.floor.filter(|_| idf < 0.0).unwrap_or(idf)
    }

    pub(crate) fn contribution(&self, idf: f64, tf: u32, norm: f64) -> f64 {
        idf * self.model.saturation(f64::from(tf), norm)
    }

    /// The postings of a token.
    pub(crate) fn blocks(&self, token: &Matched) -> Result<BlockSegmentPostings, Error> {
        let postings = &self.index.postings;
        let blocks =
            postings.read_block_postings_from_terminfo(&token.info, IndexRecordOption::WithFreqs);
        blocks.map_err(Error::io("use", self.index.folder()))
    }

    /// Calls `each` with every document that has the token and what it adds to the score.
    pub(crate) fn decode(
        &self,
        token: &Matched,
        mut each: impl FnMut(u32, f64),
    ) -> Result<(), Error> {
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
