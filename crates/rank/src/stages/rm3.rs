//! Stage `rm3`: expands the query by terms of the best documents so far, and retrieves again.
//!
//! The relevance model RM3 (Abdul-Jaleel et al., TREC 2004) as Anserini computes it, in single
//! precision: each of the best documents is a distribution over its most frequent terms, weighted by its
//! score; the terms with the largest weights, as a distribution, are mixed with that of the query's
//! terms. Terms of equal weight are in alphabetical order.

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use crate::stages::bm25::{self, Ready, Retrieve};
use crate::stages::ties::TieSetting;
use clariq_core::{Doc, Explanation, Ranking, Request, Result, positive};
use clariq_index::Scorer;
use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::num::NonZeroUsize;

/// Terms in a larger share of the documents are ignored, because they say nothing about the request.
const LARGEST_SHARE: f32 = 0.1;

#[derive(Serialize)]
struct Rm3 {
    #[serde(flatten)]
    retrieve: Retrieve,
    #[serde(flatten)]
    feedback: Rm3Feedback,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rm3Feedback {
    /// The number of best documents that are used.
    #[serde(default = "positive::<10>")]
    documents: NonZeroUsize,
    /// The number of terms, of each document and in all.
    #[serde(default = "positive::<10>")]
    terms: NonZeroUsize,
    /// The weight of the query's own terms; that of the others is 1 minus this.
    #[serde(default = "half")]
    weight: f32,
}

fn half() -> f32 {
    0.5
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>> {
    let hint = "0 leaves out the query's own terms, 1 those of the documents";
    build.table.check_number("weight", 0.0..=1.0, "a weight from 0 to 1", hint)?;
    let feedback = build.table.take_keys(&["documents", "terms", "weight"]).read()?;
    Ok(Box::new(Rm3 { retrieve: bm25::retrieve(build)?, feedback }))
}

type Terms = BTreeMap<String, f32>;

/// Scales weights so that their absolute values sum to 1.
fn scale(terms: &mut Terms) {
    let sum: f64 = terms.values().map(|weight| f64::from(weight.abs())).sum();
    if sum > 0.0 {
        for weight in terms.values_mut() {
            *weight = (f64::from(*weight) / sum) as f32;
        }
    }
}

fn prune(terms: Terms, most: NonZeroUsize) -> Terms {
    let mut terms: Vec<_> = terms.into_iter().collect();
    // A stable sort: equal weights stay in the order of the terms.
    terms.sort_by(|a, b| b.1.total_cmp(&a.1));
    terms.truncate(most.get());
    terms.into_iter().collect()
}

/// True if a term may expand a query.
fn is_word(term: &str) -> bool {
    (2..=20).contains(&term.len())
        && term.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit())
}

impl Rm3 {
    /// The most frequent terms of a document, with their counts.
    fn terms(&self, context: &Context, scorer: &Scorer, doc: Doc) -> Result<Terms> {
        let mut counts = Terms::new();
        for token in self.retrieve.analyzer.tokens(&context.documents.text(doc)?) {
            if is_word(&token) {
                *counts.entry(token).or_default() += 1.0;
            }
        }
        let mut terms = Terms::new();
        for (term, count) in counts {
            let share =
                scorer.index().documents_with(&term)? as f32 / context.documents.len() as f32;
            if share <= LARGEST_SHARE {
                terms.insert(term, count);
            }
        }
        Ok(prune(terms, self.feedback.terms))
    }

    fn relevance(&self, context: &Context, scorer: &Scorer, mut first: Ranking) -> Result<Terms> {
        if self.retrieve.ties == TieSetting::Anserini {
            // Anserini's scores have single precision; of equal ones, the lowest id comes first.
            first.sort_by(|a, b| {
                (b.score as f32).total_cmp(&(a.score as f32)).then(a.doc.cmp(&b.doc))
            });
        }
        first.truncate(self.feedback.documents.get());
        let mut relevance = Terms::new();
        for hit in first {
            let terms = self.terms(context, scorer, hit.doc)?;
            let whole: f32 = terms.values().sum();
            for (term, count) in terms {
                *relevance.entry(term).or_default() += count / whole * hit.score as f32;
            }
        }
        let mut relevance = prune(relevance, self.feedback.terms);
        scale(&mut relevance);
        Ok(relevance)
    }

    /// The expanded query: its own terms, and those of the best documents so far.
    fn query(
        &self,
        context: &Context,
        scorer: &Scorer,
        request: &Request,
        before: Ranking,
    ) -> Result<(Vec<String>, Option<Vec<f64>>)> {
        let (tokens, weights) = self.retrieve.query(request);
        let weights = weights.unwrap_or_else(|| vec![1.0; tokens.len()]);
        let mut own = Terms::new();
        for (token, weight) in tokens.into_iter().zip(weights) {
            *own.entry(token).or_default() += weight as f32;
        }
        scale(&mut own);
        let weight = self.feedback.weight;
        for own in own.values_mut() {
            *own *= weight;
        }
        for (term, found) in self.relevance(context, scorer, before)? {
            let own = own.entry(term).or_default();
            *own = (f64::from(*own) + (1.0 - f64::from(weight)) * f64::from(found)) as f32;
        }
        let weights = own.values().map(|weight| f64::from(*weight)).collect();
        Ok((own.into_keys().collect(), Some(weights)))
    }
}

impl Stage for Rm3 {
    fn about(&self) -> About {
        About::new("rm3", self)
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let context = batch.context;
        let ready: &Ready = &*self.retrieve.ready(context)?;
        let rank = |(request, before): (&Request, Ranking)| {
            let query = self.query(context, &ready.scorer, request, before)?;
            let ranking = self.retrieve.rank(ready, request, &query)?;
            (batch.progress)(1);
            Ok(ranking)
        };
        batch.requests.par_iter().zip(rankings).map(rank).collect()
    }

    fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Option<Explanation>> {
        let Some(request) = one.requests.first() else { return Ok(None) };
        let ready = self.retrieve.ready(one.context)?;
        let (terms, weights) = self.query(one.context, &ready.scorer, request, before.clone())?;
        let words = ready.scorer.explain(&terms, doc)?.parts;
        let mut parts = Vec::with_capacity(terms.len());
        for ((term, weight), word) in terms.iter().zip(weights.into_iter().flatten()).zip(words) {
            let what = format!("{weight:.6} × `{term}`");
            parts.push(Explanation::of(weight * word.value, what, vec![word]));
        }
        Ok(Some(Explanation::sum("sum over the terms of the expanded query", parts)))
    }
}
