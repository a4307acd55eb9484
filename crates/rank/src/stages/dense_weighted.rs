//! Similarities of documents to a conversation: the weighted mean of those to the opening, the
//! system's questions and the user's answers, where older turns count less, and where a question
//! that was answered "no" may count against documents like it.
//!
//! A mean of similarities is the similarity to the mean of the vectors, but for its length. The
//! sums are made of one row of similarities per text, because few texts make many conversations: a
//! file of 1.7 million has some 12,000 of them.

use crate::context::Context;
use crate::space::Space;
use crate::stages::weights::{Part, Said, Weights};
use clariq_core::Error;
use clariq_core::{Doc, Explanation, Hit, Progress, Ranking, Request, rank_by_score};
use ndarray::Array2;
use rayon::prelude::*;
use serde::Serialize;
use std::collections::HashMap;

/// So many similarities of texts to documents are kept at a time: 32 MB.
const ROOM: usize = 1 << 23;

/// What the parts of a conversation count.
#[derive(Serialize)]
pub(super) struct Weighted {
    pub(super) weights: Weights,
    /// Where nothing that the user said is as near as this to any document, nothing is ranked.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) min_likeness: Option<f32>,
    /// A document as near as this to what the system said is the same in other words, and left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(super) repeat: Option<f32>,
}

/// The texts of some requests, each once, and for each request their rows and weights.
#[derive(Default)]
struct Texts<'a> {
    distinct: Vec<&'a str>,
    rows: HashMap<&'a str, usize>,
    requests: Vec<Vec<Weighed>>,
}

/// A text of a request: its row, its share of the weights, and whether it is a question that was
/// asked; else the user said it.
struct Weighed {
    row: usize,
    share: f32,
    asked: bool,
}

impl<'a> Texts<'a> {
    /// Adds a request, unless there would be more than `most` texts.
    fn add(&mut self, said: &[Said<'a>], most: usize) -> bool {
        let new = said.iter().filter(|said| !self.rows.contains_key(said.text)).count();
        if !self.requests.is_empty() && self.distinct.len() + new > most {
            return false;
        }
        let whole: f64 = said.iter().map(|said| said.weight.max(0.0)).sum();
        let mut weighed = Vec::with_capacity(said.len());
        for said in said {
            let row = *self.rows.entry(said.text).or_insert_with(|| {
                self.distinct.push(said.text);
                self.distinct.len() - 1
            });
            let share = (said.weight / whole) as f32;
            weighed.push(Weighed { row, share, asked: said.part == Part::Question });
        }
        self.requests.push(weighed);
        true
    }
}

/// How near each text (row) is to its nearest document (column).
fn highest(likeness: &Array2<f32>) -> Vec<f32> {
    let rows = likeness.rows().into_iter();
    rows.map(|row| row.iter().copied().fold(f32::NEG_INFINITY, f32::max)).collect()
}

impl Weighted {
    /// The parts of a conversation that count. Where nothing was asked, or answered, nothing was
    /// said.
    fn said<'a>(&self, request: &'a Request) -> Vec<Said<'a>> {
        let mut said = self.weights.said(request);
        let counts = |said: &Said| {
            said.weight != 0.0 || (self.repeat.is_some() && said.part == Part::Question)
        };
        said.retain(|said| counts(said) && !said.text.trim().is_empty());
        said
    }

    /// Ranks `docs`, in ascending order, for each request.
    pub(super) fn rank(
        &self,
        context: &Context,
        space: &Space,
        requests: &[Request],
        docs: &[Doc],
        depth: usize,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let most = ROOM / docs.len().max(1);
        let mut rankings = Vec::with_capacity(requests.len());
        while rankings.len() < requests.len() {
            let mut texts = Texts::default();
            let left = requests[rankings.len()..].iter();
            let _ = left.take_while(|request| texts.add(&self.said(request), most)).count();
            let likeness = space.to_documents_each(
                context.documents,
                context.models,
                &texts.distinct,
                docs,
            )?;
            let nearest = highest(&likeness);
            let rank = |scores: &mut Vec<f32>, parts: &Vec<Weighed>| {
                progress(1);
                self.rank_one(parts, &likeness, &nearest, docs, depth, scores)
            };
            rankings.par_extend(texts.requests.par_iter().map_init(Vec::new, rank));
        }
        Ok(rankings)
    }

    fn rank_one(
        &self,
        parts: &[Weighed],
        likeness: &Array2<f32>,
        nearest: &[f32],
        docs: &[Doc],
        depth: usize,
        scores: &mut Vec<f32>,
    ) -> Ranking {
        let near =
            |part: &Weighed| self.min_likeness.is_none_or(|least| nearest[part.row] >= least);
        if !parts.iter().any(|part| !part.asked && near(part)) {
            return Ranking::new();
        }
        scores.clear();
        scores.resize(docs.len(), 0.0);
        for part in parts {
            let row = likeness.row(part.row);
            scores.iter_mut().zip(row).for_each(|(score, &like)| *score += part.share * like);
        }
        let mut ranking = rank_by_score(docs, scores.iter().copied(), depth);
        if let Some(same) = self.repeat {
            let asked = parts.iter().filter(|part| part.asked);
            let asked: Vec<_> = asked.map(|part| likeness.row(part.row)).collect();
            // The columns are in the order of the documents' numbers.
            let column = |hit: &Hit| docs.binary_search(&hit.doc).unwrap_or_default();
            ranking.retain(|hit| asked.iter().all(|row| row[column(hit)] < same));
        }
        ranking
    }

    /// Explains what each part of a conversation adds: its share of the weights times its
    /// similarity to the document.
    pub(super) fn explain(
        &self,
        context: &Context,
        space: &Space,
        request: &Request,
        docs: &[Doc],
        doc: Doc,
    ) -> Result<Explanation, Error> {
        let said = self.said(request);
        let whole: f64 = said.iter().map(|said| said.weight.max(0.0)).sum();
        let mut parts = Vec::new();
        for said in &said {
            parts.push(self.explain_part(context, space, said, said.weight / whole, doc)?);
        }
        let score = parts.iter().map(|part| part.value).sum();
        if let Some(least) = self.min_likeness {
            let of_user = said.iter().filter(|said| said.part != Part::Question);
            let texts: Vec<&str> = of_user.map(|said| said.text).collect();
            let likeness =
                space.to_documents_each(context.documents, context.models, &texts, docs)?;
            let nearest = highest(&likeness).into_iter().fold(f32::NEG_INFINITY, f32::max);
            let what = format!(
                "similarity of what the user said to the nearest document, asks from {least}"
            );
            parts.push(Explanation::value(nearest.into(), what));
        }
        let what = "sum over what was said, share of the weights × similarity";
        Ok(Explanation::of(score, what, parts))
    }

    fn explain_part(
        &self,
        context: &Context,
        space: &Space,
        said: &Said,
        share: f64,
        doc: Doc,
    ) -> Result<Explanation, Error> {
        let channels = space.parts(context.models, said.text, doc)?;
        let likeness: f64 = channels.iter().map(|(_, weight, cosine)| weight * cosine).sum();
        let channel = |(name, weight, cosine): (String, f64, f64)| {
            Explanation::value(weight * cosine, format!("{name}: {weight:.3} × {cosine:.6}"))
        };
        let mut below: Vec<Explanation> = channels.into_iter().map(channel).collect();
        if let Some(same) = self.repeat
            && said.part == Part::Question
            && likeness >= f64::from(same)
        {
            let what = format!("taken out: from {same}, it is the same");
            below.push(Explanation::value(likeness, what));
        }
        let what = format!("{said}: {share:.3} × {likeness:.6} {:?}", said.text);
        Ok(Explanation::of(share * likeness, what, below))
    }
}
