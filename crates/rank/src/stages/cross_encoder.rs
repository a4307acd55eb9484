//! Stages `rerank`, which reorders the first documents of every ranking by a cross-encoder, and
//! `cross_encode`, which ranks all documents so. A cross-encoder reads request and document together
//! (Nogueira and Cho, "Passage re-ranking with BERT", 2019).

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use crate::table::positive;
use clariq_core::{
    Doc, Explanation, History, Hit, ModelKind, ModelName, Ranking, ReadingOverrides, Request,
    Result, bail, rank_by_score,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroUsize;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct CrossEncoderStage {
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
    /// The part of a conversation that the pairs contain.
    #[serde(default, skip_serializing_if = "QueryText::is_all")]
    query: QueryText,
}

/// The part of a conversation that is read together with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
enum QueryText {
    /// Everything said, as one text.
    #[default]
    All,
    /// The user's last utterance.
    Last,
    /// That behind what led to it, as [`History::in_context`] has it.
    Context,
}

impl QueryText {
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
    Ok(Box::new(CrossEncoderStage { stage: RERANK, ..build.table.read()? }))
}

pub(super) fn build_cross_encode(build: Build) -> Result<Box<dyn Stage>> {
    if !build.table.has("depth") {
        let at = build.table.at("depth");
        let hint = "it says how many documents are kept";
        bail!(at, "a key `depth`", "a table without it", hint)
    }
    Ok(Box::new(CrossEncoderStage { stage: "cross_encode", ..build.table.read()? }))
}

impl CrossEncoderStage {
    fn model_name(&self) -> ModelName {
        let reading =
            ReadingOverrides { max_tokens: self.max_tokens, ..ReadingOverrides::default() };
        ModelName { reading, ..ModelName::new(&*self.model, ModelKind::CrossEncoder) }
    }

    /// Scores documents for a request. Pairs are computed together with those of the same request
    /// only, so that no score depends on other requests.
    fn score(&self, context: &Context, request: &Request, docs: &[Doc]) -> Result<Vec<f32>> {
        let scorer = context.models.pair_scorer(&self.model_name())?;
        let query = self.query.of(request);
        let mut texts: Vec<Cow<str>> = Vec::with_capacity(docs.len());
        for &doc in docs {
            texts.push(context.documents.text(doc)?);
        }
        let pairs: Vec<(&str, &str)> = texts.iter().map(|text| (&*query, &**text)).collect();
        scorer.score(&pairs, &|_| {})
    }

    /// Puts the best documents by their scores before the others, which keep their order.
    fn rerank(&self, context: &Context, request: &Request, ranking: Ranking) -> Result<Ranking> {
        let depth = request.depth(self.depth.get());
        let docs: Vec<Doc> = ranking.iter().take(depth).map(|hit| hit.doc).collect();
        let scores = self.score(context, request, &docs)?;
        let mut reranked = rank_by_score(&docs, scores.into_iter(), depth);
        let least = reranked.last().map_or(0.0, |hit| hit.score);
        let rest = ranking.into_iter().skip(reranked.len());
        for (rank, hit) in (1_u32..).zip(rest) {
            reranked.push(Hit { score: least - f64::from(rank), ..hit });
        }
        Ok(reranked)
    }

    /// Ranks all documents with a text, or the candidates of a request.
    fn rank(&self, context: &Context, request: &Request) -> Result<Ranking> {
        let docs = match &request.candidates {
            Some(candidates) => candidates,
            None => context.documents_with_text()?,
        };
        let scores = self.score(context, request, docs)?;
        Ok(rank_by_score(docs, scores.into_iter(), request.depth(self.depth.get())))
    }
}

impl Stage for CrossEncoderStage {
    fn about(&self) -> About {
        About { models: vec![self.model_name()], ..About::new(self.stage, self) }
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let mut answers = Vec::with_capacity(rankings.len());
        for (request, ranking) in batch.requests.iter().zip(rankings) {
            answers.push(if self.stage == RERANK {
                self.rerank(batch.context, request, ranking)?
            } else {
                self.rank(batch.context, request)?
            });
            (batch.progress)(1);
        }
        Ok(answers)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let Some(request) = one.requests.first() else { return Ok(None) };
        let scores = self.score(one.context, request, &[doc])?;
        let what = format!("logit of `{}` for request and question", self.model);
        Ok(scores.first().map(|&score| Explanation::value(f64::from(score), what)))
    }
}
