//! Stage `rerank`: reorders the documents found so far by a cross-encoder. And `cross_encode`,
//! which ranks all documents so. A cross-encoder reads request and document together (Nogueira and
//! Cho, "Passage re-ranking with BERT", 2019).

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use clariq_core::Error;
use clariq_core::{
    Doc, Explanation, Hit, ModelKind, ModelName, Progress, Ranking, Request, rank_by_score,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

/// Reorders the first documents of every ranking; what comes after them stays behind them.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Rerank {
    /// The cross-encoder.
    model: String,
    /// How many documents are reordered.
    #[serde(default = "usual_depth")]
    depth: NonZeroUsize,
}

/// The reranking depth of the published baseline.
fn usual_depth() -> NonZeroUsize {
    const { NonZeroUsize::new(30).unwrap() }
}

/// Retrieves: whatever ranking comes in is replaced. Documents without a text are left out.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CrossEncode {
    /// The cross-encoder.
    model: String,
    /// How many documents are kept.
    depth: NonZeroUsize,
}

pub(super) fn build_rerank(build: Build) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(build.table.read::<Rerank>()?))
}

pub(super) fn build_cross_encode(build: Build) -> Result<Box<dyn Stage>, Error> {
    Ok(Box::new(build.table.read::<CrossEncode>()?))
}

fn cross_encoder(name: &str) -> Vec<ModelName> {
    vec![ModelName { name: name.to_owned(), kind: ModelKind::CrossEncoder }]
}

/// Scores some documents for each request; all pairs together, so that those of one length meet.
fn score(
    context: &Context,
    model: &str,
    requests: &[Request],
    docs: &[&[Doc]],
    progress: Progress,
) -> Result<Vec<Vec<f32>>, Error> {
    let scorer = context.models.pair_scorer(model)?;
    let mut texts: BTreeMap<Doc, Cow<str>> = BTreeMap::new();
    for &doc in docs.iter().copied().flatten() {
        if let Entry::Vacant(text) = texts.entry(doc) {
            text.insert(context.documents.text(doc)?);
        }
    }
    let said: Vec<Cow<str>> = requests.iter().map(Request::flatten).collect();
    let mut pairs: Vec<(&str, &str)> = Vec::new();
    for (said, docs) in said.iter().zip(docs) {
        pairs.extend(docs.iter().map(|doc| (said.as_ref(), texts[doc].as_ref())));
    }
    // Requests are what is counted: each is finished when its share of the pairs is.
    let total = pairs.len().max(1) as u64;
    let done = Mutex::new((0_u64, 0_u64));
    let count = |pairs: u64| {
        let mut done = done.lock().unwrap_or_else(PoisonError::into_inner);
        done.0 += pairs;
        let finished = done.0 * requests.len() as u64 / total;
        progress(finished - done.1);
        done.1 = finished;
    };
    let mut scores = scorer.score(&pairs, &count)?.into_iter();
    Ok(docs.iter().map(|docs| scores.by_ref().take(docs.len()).collect()).collect())
}

fn explain(one: &Batch, model: &str, doc: Doc) -> Result<Option<Explanation>, Error> {
    let scores = score(one.context, model, one.requests, &[&[doc]], &|_| {})?;
    let what = format!("logit of `{model}` for request and question");
    Ok(scores.concat().first().map(|&score| Explanation::value(f64::from(score), what)))
}

impl Stage for Rerank {
    fn about(&self) -> About {
        About { models: cross_encoder(&self.model), ..About::new("rerank", self) }
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>, Error> {
        let first = |(request, ranking): (&Request, &Ranking)| -> Vec<Doc> {
            ranking.iter().take(request.depth(self.depth.get())).map(|hit| hit.doc).collect()
        };
        let heads: Vec<Vec<Doc>> = batch.requests.iter().zip(&rankings).map(first).collect();
        let docs: Vec<&[Doc]> = heads.iter().map(Vec::as_slice).collect();
        let scores = score(batch.context, &self.model, batch.requests, &docs, batch.progress)?;
        let mut answers = Vec::with_capacity(rankings.len());
        for ((head, scores), ranking) in docs.iter().zip(scores).zip(rankings) {
            let mut answer = rank_by_score(head, scores.into_iter(), usize::MAX);
            let least = answer.last().map_or(0.0, |hit| hit.score);
            // The rest keeps its order, below the lowest logit.
            let rest = ranking.into_iter().skip(answer.len());
            let below = |(rank, hit): (u32, Hit)| Hit { score: least - f64::from(rank), ..hit };
            answer.extend((1..).zip(rest).map(below));
            answers.push(answer);
        }
        Ok(answers)
    }

    fn explain(
        &self,
        one: &Batch,
        doc: Doc,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        explain(one, &self.model, doc)
    }
}

impl Stage for CrossEncode {
    fn about(&self) -> About {
        About { models: cross_encoder(&self.model), ..About::new("cross_encode", self) }
    }

    fn apply(&self, batch: &Batch, _rankings: Vec<Ranking>) -> Result<Vec<Ranking>, Error> {
        let all = batch.context.documents_with_text()?;
        let docs = batch.requests.iter();
        let docs: Vec<&[Doc]> =
            docs.map(|request| request.candidates.as_deref().unwrap_or(all)).collect();
        let scores = score(batch.context, &self.model, batch.requests, &docs, batch.progress)?;
        let rank = |((request, docs), scores): ((&Request, &&[Doc]), Vec<f32>)| {
            rank_by_score(docs, scores.into_iter(), request.depth(self.depth.get()))
        };
        Ok(batch.requests.iter().zip(&docs).zip(scores).map(rank).collect())
    }

    fn explain(
        &self,
        one: &Batch,
        doc: Doc,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        explain(one, &self.model, doc)
    }
}
