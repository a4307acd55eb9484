//! Stages `rerank`, which reorders the first documents of every ranking by a cross-encoder, and
//! `cross_encode`, which ranks all documents so. A cross-encoder reads request and document together
//! (Nogueira and Cho, "Passage re-ranking with BERT", 2019).

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use crate::table::positive;
use clariq_core::{
    Doc, Explanation, History, Hit, ModelKind, ModelName, Progress, Ranking, Reading, Request,
    Result, bail, rank_by_score,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::collections::BTreeMap;
use std::collections::btree_map::Entry;
use std::num::NonZeroUsize;
use std::sync::{Mutex, PoisonError};

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CrossEncoder {
    /// `rerank`, or `cross_encode`, which ranks all documents with a text.
    #[serde(skip)]
    stage: &'static str,
    model: String,
    /// Where longer pairs are cut, in tokens, the longer text first; where the model's folder says,
    /// if absent.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    /// How many documents are reordered, by default as many as by the published baseline, or kept.
    #[serde(default = "positive::<30>")]
    depth: NonZeroUsize,
    /// What of a conversation the pairs have.
    #[serde(default, skip_serializing_if = "Query::is_all")]
    query: Query,
}

/// What of a conversation is read together with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Query {
    /// Everything said, as one text.
    #[default]
    All,
    /// The user's last utterance.
    Last,
    /// That behind what led to it, as [`History::in_context`] has it.
    Context,
}

impl Query {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    fn is_all(&self) -> bool {
        *self == Self::All
    }

    fn of(self, request: &Request) -> Cow<'_, str> {
        match self {
            Self::All => request.flatten(),
            Self::Last => request.last_said().into(),
            Self::Context => History::of(&request.said).in_context().into(),
        }
    }
}

const RERANK: &str = "rerank";

pub(super) fn build_rerank(build: Build) -> Result<Box<dyn Stage>> {
    Ok(Box::new(CrossEncoder { stage: RERANK, ..build.table.read()? }))
}

pub(super) fn build_cross_encode(build: Build) -> Result<Box<dyn Stage>> {
    if !build.table.has("depth") {
        let (at, hint) = (build.table.at("depth"), "it says how many documents are kept");
        bail!(at, "a key `depth`", "a table without it", hint)
    }
    Ok(Box::new(CrossEncoder { stage: "cross_encode", ..build.table.read()? }))
}

impl CrossEncoder {
    fn model_name(&self) -> ModelName {
        let reading = Reading { max_tokens: self.max_tokens, ..Reading::default() };
        ModelName { reading, ..ModelName::new(&*self.model, ModelKind::CrossEncoder) }
    }

    /// Scores some documents for each request; pairs of one length are computed together.
    fn score(
        &self,
        context: &Context,
        requests: &[Request],
        docs: &[Cow<[Doc]>],
        progress: Progress,
    ) -> Result<Vec<Vec<f32>>> {
        let scorer = context.models.pair_scorer(&self.model_name())?;
        let mut texts: BTreeMap<Doc, Cow<str>> = BTreeMap::new();
        for &doc in docs.iter().flat_map(|docs| docs.iter()) {
            if let Entry::Vacant(text) = texts.entry(doc) {
                text.insert(context.documents.text(doc)?);
            }
        }
        let said: Vec<Cow<str>> = requests.iter().map(|request| self.query.of(request)).collect();
        let mut pairs: Vec<(&str, &str)> = Vec::new();
        for (said, docs) in said.iter().zip(docs) {
            pairs.extend(docs.iter().map(|doc| (said.as_ref(), texts[doc].as_ref())));
        }
        // Progress counts requests: each is finished when its share of the pairs is.
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
}

impl Stage for CrossEncoder {
    fn about(&self) -> About {
        About { models: vec![self.model_name()], ..About::new(self.stage, self) }
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let reranks = self.stage == RERANK;
        let all = if reranks { &[] } else { batch.context.documents_with_text()? };
        let depth = |request: &Request| request.depth(self.depth.get());
        let mut docs: Vec<Cow<[Doc]>> = Vec::with_capacity(rankings.len());
        for (request, ranking) in batch.requests.iter().zip(&rankings) {
            docs.push(if reranks {
                ranking.iter().take(depth(request)).map(|hit| hit.doc).collect()
            } else {
                Cow::Borrowed(request.candidates.as_deref().unwrap_or(all))
            });
        }
        let scores = self.score(batch.context, batch.requests, &docs, batch.progress)?;
        let mut answers = Vec::with_capacity(rankings.len());
        for (((request, docs), scores), ranking) in
            batch.requests.iter().zip(&docs).zip(scores).zip(rankings)
        {
            let mut answer = rank_by_score(docs, scores.into_iter(), depth(request));
            if reranks {
                let least = answer.last().map_or(0.0, |hit| hit.score);
                // The rest keeps its order, below the lowest logit.
                let rest = ranking.into_iter().skip(answer.len());
                let below = |(rank, hit): (u32, Hit)| Hit { score: least - f64::from(rank), ..hit };
                answer.extend((1..).zip(rest).map(below));
            }
            answers.push(answer);
        }
        Ok(answers)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let scores = self.score(one.context, one.requests, &[Cow::Owned(vec![doc])], &|_| {})?;
        let what = format!("logit of `{}` for request and question", self.model);
        Ok(scores.concat().first().map(|&score| Explanation::value(f64::from(score), what)))
    }
}
