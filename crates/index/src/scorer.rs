//! Exact BM25 over tantivy's postings.
//!
//! Scores are `f64` sums over the request's tokens in order, with the operations in the order of
//! `rank_bm25`: what ties in the published baseline ties here.

use crate::bm25::Bm25;
use crate::document_index::DocumentIndex;
use crate::impacts::{self, Impact, Impacts, Slot};
use crate::top::Top;
use clariq_core::Error;
use clariq_core::{Doc, Hit, Ranking, best_first};
use serde::{Deserialize, Serialize};
use std::sync::Arc;
use tantivy::postings::TermInfo;
use tantivy::schema::IndexRecordOption;

/// tantivy keeps lengths exactly up to this many tokens and rounds longer ones.
const EXACT_LENGTHS: u32 = 40;

/// How many documents are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// At most so many.
    pub limit: usize,
    /// Whether documents that share no token with the request fill the list up, with score 0 and by
    /// descending id, as `rank_bm25`'s users get them.
    pub pad: bool,
}

impl Depth {
    /// At most `limit` documents that share a token with the request.
    pub fn matching(limit: usize) -> Self {
        Self { limit, pad: false }
    }
}

/// Which way the best documents are found. Both give the same hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Block-max where it applies and there are enough documents to gain from it.
    #[default]
    Auto,
    /// Every posting of every token.
    Exhaustive,
    /// tantivy's block-max WAND, which skips documents that cannot be among the best. Applies to
    /// `lucene` with k1 = 1.2 and b = 0.75 (tantivy's constants) over documents of at most 40
    /// tokens; elsewhere the exhaustive path is taken.
    BlockMax,
}

/// What is looked for.
#[derive(Debug, Clone, Copy)]
pub struct Query<'q> {
    /// The tokens of the request.
    pub tokens: &'q [String],
    /// How much each token counts, where some count more than others or against a document. Every
    /// posting is looked at then.
    pub weights: Option<&'q [f64]>,
    /// The only documents that are ranked, in ascending order; all if there is no such list. Every
    /// posting is looked at then, too.
    pub among: Option<&'q [Doc]>,
    /// How many documents are wanted.
    pub depth: Depth,
    /// Which way they are found; only speed can differ.
    pub path: Path,
}

impl<'q> Query<'q> {
    /// All tokens count the same, and all documents are ranked.
    pub fn new(tokens: &'q [String], depth: Depth) -> Self {
        Self { tokens, weights: None, among: None, depth, path: Path::Auto }
    }

    /// Whether a document may be ranked.
    fn admits(&self, doc: Doc) -> bool {
        self.among.is_none_or(|among| among.binary_search(&doc).is_ok())
    }
}

/// Buffers of a query, to be reused by the next one on the same thread.
#[derive(Debug, Default)]
pub struct Scratch {
    scores: Vec<f64>,
    touched: Vec<u32>,
    hits: Vec<Hit>,
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
    /// Whether tantivy's own order is this scorer's order.
    block_max_applies: bool,
    /// Over few documents only.
    impacts: Option<Impacts>,
}

/// A token of a request that some document has.
pub(crate) struct Matched<'s> {
    pub(crate) token: &'s str,
    pub(crate) info: TermInfo,
    pub(crate) idf: f64,
    /// How much it counts.
    weight: f64,
    impacts: Option<&'s Slot>,
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
        let norms = index.lengths.iter().map(norm).collect();
        let block_max_applies =
            model.is_tantivys() && index.lengths.iter().all(|&length| length <= EXACT_LENGTHS);
        let mut scorer = Self {
            index: Arc::clone(index),
            model,
            documents,
            mean_length,
            norms,
            floor: None,
            block_max_applies,
            impacts: impacts::none_yet(index)?,
        };
        if model.has_floor() {
            scorer.floor = model.floor(scorer.mean_idf()?);
        }
        Ok(scorer)
    }

    fn mean_idf(&self) -> Result<f64, Error> {
        let folder = self.index.folder();
        let mut terms = self.index.postings.terms().stream().map_err(Error::io("use", folder))?;
        let (mut sum, mut count) = (0.0, 0_u32);
        while let Some((_, info)) = terms.next() {
            sum += self.model.idf(self.documents as f64, f64::from(info.doc_freq));
            count += 1;
        }
        Ok(if count == 0 { 0.0 } else { sum / f64::from(count) })
    }

    /// The index that is scored.
    pub fn index(&self) -> &Arc<DocumentIndex> {
        &self.index
    }

    /// Whether tantivy's own order is this scorer's order.
    pub fn block_max_applies(&self) -> bool {
        self.block_max_applies
    }

    /// The tokens that some document has. A token without a weight counts 1.
    pub(crate) fn matched<'s>(
        &'s self,
        tokens: &'s [String],
        weights: Option<&[f64]>,
    ) -> Result<Vec<Matched<'s>>, Error> {
        let mut matched = Vec::with_capacity(tokens.len());
        for (index, token) in tokens.iter().enumerate() {
            let found = match &self.impacts {
                Some(impacts) => {
                    impacts.get(token.as_str()).map(|(info, slot)| (info.clone(), Some(slot)))
                }
                None => self.look_up(token)?.map(|info| (info, None)),
            };
            if let Some((info, impacts)) = found {
                let idf = self.idf(info.doc_freq);
                let weight = weights.and_then(|weights| weights.get(index)).copied().unwrap_or(1.0);
                matched.push(Matched { token, info, idf, weight, impacts });
            }
        }
        Ok(matched)
    }

    fn look_up(&self, token: &str) -> Result<Option<TermInfo>, Error> {
        self.index.postings.terms().get(token).map_err(Error::io("use", self.index.folder()))
    }

    fn idf(&self, doc_freq: u32) -> f64 {
        let idf = self.model.idf(self.documents as f64, f64::from(doc_freq));
        match self.floor {
            Some(floor) if idf < 0.0 => floor,
            _ => idf,
        }
    }

    pub(crate) fn contribution(&self, idf: f64, tf: u32, document: u32) -> f64 {
        idf * self.model.saturation(f64::from(tf), self.norms[document as usize])
    }

    pub(crate) fn exhaustive(
        &self,
        matched: &[Matched],
        query: &Query,
        limit: usize,
        scratch: &mut Scratch,
    ) -> Result<Ranking, Error> {
        scratch.scores.resize(self.norms.len(), 0.0);
        let Scratch { scores, touched, hits } = scratch;
        touched.clear();
        // A document is noted when its first token is added. Where a token counts nothing or less,
        // the sum may be 0 again later, so that this sign is not enough.
        let signed = matched.iter().any(|token| token.idf * token.weight <= 0.0);
        let mut seen = if signed { vec![false; scores.len()] } else { Vec::new() };
        for token in matched {
            self.add(token, |document, score| {
                let sum = &mut scores[document as usize];
                let new = if signed {
                    !std::mem::replace(&mut seen[document as usize], true)
                } else {
                    *sum == 0.0
                };
                if new {
                    touched.push(document);
                }
                *sum += score;
            })?;
        }
        let mut top = Top::new(hits, limit);
        for &document in touched.iter() {
            let score = std::mem::take(&mut scores[document as usize]);
            let doc = self.index.docs[document as usize];
            if query.admits(doc) {
                top.offer(Hit { doc, score });
            }
        }
        Ok(top.finish())
    }

    /// Shows every document with the token and what the token adds to its score.
    fn add(&self, token: &Matched, mut each: impl FnMut(u32, f64)) -> Result<(), Error> {
        let Some(slot) = token.impacts else {
            return self.decode(token, |document, score| each(document, score * token.weight));
        };
        if slot.get().is_none() {
            let mut impacts = Vec::with_capacity(token.info.doc_freq as usize);
            self.decode(token, |document, score| impacts.push(Impact { document, score }))?;
            // Where another thread was first, its impacts are the same.
            drop(slot.set(impacts.into()));
        }
        for impact in slot.get().into_iter().flatten() {
            each(impact.document, impact.score * token.weight);
        }
        Ok(())
    }

    fn decode(&self, token: &Matched, mut each: impl FnMut(u32, f64)) -> Result<(), Error> {
        let mut blocks = self
            .index
            .postings
            .read_block_postings_from_terminfo(&token.info, IndexRecordOption::WithFreqs)
            .map_err(Error::io("use", self.index.folder()))?;
        loop {
            let documents = blocks.docs();
            if documents.is_empty() {
                return Ok(());
            }
            for (&document, &tf) in documents.iter().zip(blocks.freqs()) {
                each(document, self.contribution(token.idf, tf, document));
            }
            blocks.advance();
        }
    }

    /// Fills up with documents that share nothing with the request. They score 0, above any that a
    /// negative idf has put below it.
    pub(crate) fn pad(
        &self,
        hits: &mut Ranking,
        matched: &[Matched],
        query: &Query,
        limit: usize,
    ) -> Result<(), Error> {
        if hits.len() >= limit && hits.last().is_none_or(|last| last.score > 0.0) {
            return Ok(());
        }
        let mut shares = vec![false; self.index.documents()];
        for token in matched {
            self.add(token, |document, _| {
                shares[self.index.docs[document as usize].index()] = true;
            })?;
        }
        let rest = Doc::all(self.index.documents()).rev();
        let rest = rest.filter(|&doc| !shares[doc.index()] && query.admits(doc));
        hits.extend(rest.take(limit).map(|doc| Hit { doc, score: 0.0 }));
        hits.sort_unstable_by(best_first);
        hits.truncate(limit);
        Ok(())
    }
}
