//! How well does each question answer a request's words? Exact BM25 over tantivy's postings.
//!
//! Scores are `f64` sums over the request's tokens in order, with the operations in the order of `rank_bm25`: what ties in
//! the published baseline ties here.

use crate::bank_index::BankIndex;
use crate::block_max;
use crate::bm25::Bm25;
use crate::error::Error;
use crate::explanation::Explanation;
use crate::impacts::{self, Impact, Impacts, Slot};
use crate::top::Top;
use serde::{Deserialize, Serialize};
use tantivy::DocSet;
use tantivy::postings::{Postings, TermInfo};
use tantivy::schema::IndexRecordOption;

/// tantivy keeps lengths exactly up to this many tokens and rounds longer ones.
const EXACT_LENGTHS: u32 = 40;

/// A question and its score.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Hit {
    /// The question's number in the bank.
    pub question: u32,
    /// Its score; higher is better.
    pub score: f64,
}

/// How many questions are wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Depth {
    /// At most so many.
    pub limit: usize,
    /// Whether questions that share no token with the request fill the list up, with score 0 and by descending id, as
    /// `rank_bm25`'s users get them.
    pub pad: bool,
}

impl Depth {
    /// At most `limit` questions that share a token with the request.
    pub fn matching(limit: usize) -> Self {
        Self { limit, pad: false }
    }
}

/// Which way the best questions are found. Both give the same hits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Path {
    /// Block-max where it applies and the bank is large enough to gain from it.
    #[default]
    Auto,
    /// Every posting of every token.
    Exhaustive,
    /// tantivy's block-max WAND, which skips questions that cannot be among the best. Applies to `lucene` with k1 = 1.2
    /// and b = 0.75 (tantivy's constants) over questions of at most 40 tokens; elsewhere the exhaustive path is taken.
    BlockMax,
}

/// From so many questions on, block-max is worth its overhead (measured by `scripts/bench-bm25`).
const WORTH_BLOCK_MAX: usize = 250_000;

/// Buffers of a query, to be reused by the next one on the same thread.
#[derive(Debug, Default)]
pub struct Scratch {
    scores: Vec<f64>,
    touched: Vec<u32>,
    hits: Vec<Hit>,
}

/// BM25 with its parameters over one index.
pub struct Scorer<'a> {
    pub(crate) index: &'a BankIndex,
    model: Bm25,
    /// The length normalisation of each document.
    pub(crate) norms: Vec<f64>,
    /// Replaces a negative idf.
    floor: Option<f64>,
    /// Whether tantivy's own order is this scorer's order.
    block_max_applies: bool,
    /// Over a small bank only.
    impacts: Option<Impacts>,
}

/// A token of a request that some question has.
pub(crate) struct Matched<'s> {
    pub(crate) token: &'s str,
    pub(crate) info: TermInfo,
    pub(crate) idf: f64,
    /// How much it counts.
    weight: f64,
    impacts: Option<&'s Slot>,
}

impl<'a> Scorer<'a> {
    /// Prepares the figures that do not depend on a request.
    pub fn new(index: &'a BankIndex, model: Bm25) -> Result<Self, Error> {
        model.check()?;
        let mean = index.mean_length();
        let norms =
            index.lengths.iter().map(|&length| model.norm(f64::from(length), mean)).collect();
        let block_max_applies =
            model.is_tantivys() && index.lengths.iter().all(|&length| length <= EXACT_LENGTHS);
        let mut scorer = Self {
            index,
            model,
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
        let mut terms = self.index.postings.terms().stream().map_err(Error::io(folder))?;
        let (mut sum, mut count) = (0.0, 0_u32);
        while let Some((_, info)) = terms.next() {
            sum += self.model.idf(self.index.questions() as f64, f64::from(info.doc_freq));
            count += 1;
        }
        Ok(if count == 0 { 0.0 } else { sum / f64::from(count) })
    }

    /// The best questions for the tokens of a request, best first.
    pub fn top(
        &self,
        tokens: &[String],
        depth: Depth,
        scratch: &mut Scratch,
    ) -> Result<Vec<Hit>, Error> {
        self.top_by(Path::Auto, tokens, depth, scratch)
    }

    /// The same by a certain path; only speed can differ.
    pub fn top_by(
        &self,
        path: Path,
        tokens: &[String],
        depth: Depth,
        scratch: &mut Scratch,
    ) -> Result<Vec<Hit>, Error> {
        // More than there are would only cost memory.
        let depth = Depth { limit: depth.limit.min(self.index.questions()), ..depth };
        let matched = self.matched(tokens)?;
        let wanted = match path {
            Path::Auto => self.index.questions() >= WORTH_BLOCK_MAX,
            Path::Exhaustive => false,
            Path::BlockMax => true,
        };
        let mut hits = if wanted && self.block_max_applies() {
            block_max::top(self, &matched, depth.limit)?
        } else {
            self.exhaustive(&matched, depth.limit, scratch)?
        };
        if depth.pad {
            self.pad(&mut hits, &matched, depth.limit)?;
        }
        Ok(hits)
    }

    /// The same for tokens that count more or less than others, or against a question. Every posting is looked at.
    pub fn top_weighted(
        &self,
        tokens: &[String],
        weights: &[f64],
        depth: Depth,
        scratch: &mut Scratch,
    ) -> Result<Vec<Hit>, Error> {
        let depth = Depth { limit: depth.limit.min(self.index.questions()), ..depth };
        let matched =
            self.matched_by(tokens, |place| weights.get(place).copied().unwrap_or(1.0))?;
        let mut hits = self.exhaustive(&matched, depth.limit, scratch)?;
        if depth.pad {
            self.pad(&mut hits, &matched, depth.limit)?;
        }
        Ok(hits)
    }

    /// Whether tantivy's own order is this scorer's order.
    pub fn block_max_applies(&self) -> bool {
        self.block_max_applies
    }

    pub(crate) fn matched<'s>(&'s self, tokens: &'s [String]) -> Result<Vec<Matched<'s>>, Error> {
        self.matched_by(tokens, |_| 1.0)
    }

    fn matched_by<'s>(
        &'s self,
        tokens: &'s [String],
        weight: impl Fn(usize) -> f64,
    ) -> Result<Vec<Matched<'s>>, Error> {
        let mut matched = Vec::with_capacity(tokens.len());
        for (place, token) in tokens.iter().enumerate() {
            let found = match &self.impacts {
                Some(impacts) => {
                    impacts.get(token.as_str()).map(|(info, slot)| (info.clone(), Some(slot)))
                }
                None => self.look_up(token)?.map(|info| (info, None)),
            };
            if let Some((info, impacts)) = found {
                let idf = self.idf(info.doc_freq);
                matched.push(Matched { token, info, idf, weight: weight(place), impacts });
            }
        }
        Ok(matched)
    }

    fn look_up(&self, token: &str) -> Result<Option<TermInfo>, Error> {
        self.index.postings.terms().get(token).map_err(Error::io(self.index.folder()))
    }

    fn idf(&self, doc_freq: u32) -> f64 {
        let idf = self.model.idf(self.index.questions() as f64, f64::from(doc_freq));
        match self.floor {
            Some(floor) if idf < 0.0 => floor,
            _ => idf,
        }
    }

    pub(crate) fn contribution(&self, idf: f64, tf: u32, document: u32) -> f64 {
        idf * self.model.saturation(f64::from(tf), self.norms[document as usize])
    }

    fn exhaustive(
        &self,
        matched: &[Matched],
        limit: usize,
        scratch: &mut Scratch,
    ) -> Result<Vec<Hit>, Error> {
        scratch.scores.resize(self.norms.len(), 0.0);
        let Scratch { scores, touched, hits } = scratch;
        touched.clear();
        // A document is noted when its first token is added. Where a token counts nothing or less, the sum may be 0
        // again later, so that this sign is not enough.
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
            top.offer(Hit { question: self.index.numbers[document as usize], score });
        }
        Ok(top.finish())
    }

    /// Shows every question with the token and what the token adds to its score.
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
            .map_err(Error::io(self.index.folder()))?;
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

    /// Fills up with questions that share nothing with the request. They score 0, above any that a negative idf has put
    /// below it.
    fn pad(&self, hits: &mut Vec<Hit>, matched: &[Matched], limit: usize) -> Result<(), Error> {
        if hits.len() >= limit && hits.last().is_none_or(|last| last.score > 0.0) {
            return Ok(());
        }
        let mut shares = vec![false; self.index.questions()];
        for token in matched {
            self.add(token, |document, _| {
                shares[self.index.numbers[document as usize] as usize] = true
            })?;
        }
        let rest =
            (0..self.index.questions() as u32).rev().filter(|&question| !shares[question as usize]);
        hits.extend(rest.take(limit).map(|question| Hit { question, score: 0.0 }));
        hits.sort_unstable_by(crate::top::best_first);
        hits.truncate(limit);
        Ok(())
    }

    /// The score of one question, with idf, term frequency, length and product per token of the request.
    pub fn explain(&self, tokens: &[String], question: u32) -> Result<Explanation, Error> {
        let mut parts = Vec::new();
        let Some(document) = self.index.numbers.iter().position(|&number| number == question)
        else {
            return Ok(Explanation::value(0.0, "no such question"));
        };
        for token in tokens {
            parts.push(self.explain_token(token, document as u32)?);
        }
        let score = parts.iter().map(|part| part.value).sum();
        Ok(Explanation::of(score, "sum over the tokens of the request", parts))
    }

    fn explain_token(&self, token: &str, document: u32) -> Result<Explanation, Error> {
        let token = [token.to_owned()];
        let matched = self.matched(&token)?;
        let [token] = &token;
        let Some(matched) = matched.first() else {
            return Ok(Explanation::value(0.0, format!("`{token}` is in no question")));
        };
        let mut tf = 0;
        let mut postings = self
            .index
            .postings
            .read_postings_from_terminfo(&matched.info, IndexRecordOption::WithFreqs)
            .map_err(Error::io(self.index.folder()))?;
        // tantivy seeks forward only.
        if postings.doc() < document {
            postings.seek(document);
        }
        if postings.doc() == document {
            tf = postings.term_freq();
        }
        if tf == 0 {
            return Ok(Explanation::value(0.0, format!("`{token}` is not in this question")));
        }
        let (score, norm) =
            (self.contribution(matched.idf, tf, document), self.norms[document as usize]);
        let saturation = self.model.saturation(f64::from(tf), norm);
        let (n, df) = (self.index.questions(), matched.info.doc_freq);
        let dl = self.index.lengths[document as usize];
        let counts = vec![
            Explanation::value(f64::from(tf), "tf, occurrences in the question"),
            Explanation::value(f64::from(dl), "dl, tokens of the question"),
            Explanation::value(self.index.mean_length(), "avgdl, mean tokens of a question"),
            Explanation::value(self.model.k1, "k1"),
            Explanation::value(self.model.b, "b"),
        ];
        let idf = vec![
            Explanation::value(f64::from(df), "df, questions with the token"),
            Explanation::value(n as f64, "N, questions"),
        ];
        let parts = vec![
            Explanation::of(matched.idf, format!("idf = {}", self.model.idf_formula()), idf),
            Explanation::of(saturation, format!("tf part = {}", self.model.formula()), counts),
        ];
        Ok(Explanation::of(score, format!("`{token}` = idf × tf part"), parts))
    }
}
