//! Stages `rerank`, which reorders the first documents of every ranking by a cross-encoder, and
//! `cross_encode`, which ranks all documents by one. A cross-encoder reads request and document
//! together (Nogueira and Cho, "Passage re-ranking with BERT", 2019).

use crate::build::Build;
use crate::context::Context;
use crate::stage::{About, Batch, Stage};
use clariq_core::{
    Doc, Explanation, History, Hit, ModelKind, ModelName, Ranking, ReadingOverrides, Request,
    Result, bail, positive, rank_by_score,
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
    /// The cross-encoder, or the folder of a monoT5.
    model: String,
    /// The longest pair in tokens, by default that of the model's folder; the longer text is cut first, of a monoT5's
    /// pair the document.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    /// The number of documents that are reordered; the default is that of the published baseline.
    #[serde(default = "positive::<30>")]
    depth: NonZeroUsize,
    /// The part of a conversation that the pairs contain: everything said (`all`), the user's last utterance (`last`), or
    /// the last utterance with its context (`context`).
    #[serde(default, skip_serializing_if = "QueryText::is_all")]
    query: QueryText,
}

/// The part of a conversation that is paired with a document.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub(super) enum QueryText {
    /// The whole conversation as one text.
    #[default]
    All,
    /// The user's last utterance.
    Last,
    /// The user's last utterance with its context ([`History::in_context`]).
    Context,
}

impl QueryText {
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(super) fn is_all(&self) -> bool {
        *self == Self::All
    }

    pub(super) fn of(self, request: &Request) -> Cow<'_, str> {
        match self {
            Self::All => request.flatten(),
            Self::Last => request.last_said().into(),
            Self::Context => History::of(&request.said).in_context().into(),
        }
    }
}

const RERANK: &str = "rerank";
/// Requests whose pairs are in memory at a time; a model behind a server scores them concurrently.
const REQUESTS_AT_ONCE: usize = 16;

pub(super) fn build_rerank(build: Build) -> Result<Box<dyn Stage>> {
    Ok(Box::new(CrossEncoderStage { stage: RERANK, ..build.table.read()? }))
}

pub(super) fn build_cross_encode(build: Build) -> Result<Box<dyn Stage>> {
    if !build.table.has("depth") {
        let at = build.table.at("depth");
        let hint = "it is the number of documents that are kept";
        bail!(at, "a key `depth`", "a table without it", hint)
    }
    Ok(Box::new(CrossEncoderStage { stage: "cross_encode", ..build.table.read()? }))
}

impl CrossEncoderStage {
    fn model_name(&self) -> ModelName {
        let reading = ReadingOverrides::cut_at(self.max_tokens);
        ModelName { reading, ..ModelName::new(&*self.model, ModelKind::CrossEncoder) }
    }

    /// The documents to score for a request.
    fn documents(
        &self,
        context: &Context,
        request: &Request,
        ranking: &Ranking,
    ) -> Result<Vec<Doc>> {
        if self.stage == RERANK {
            let depth = request.depth(self.depth.get());
            return Ok(ranking.iter().take(depth).map(|hit| hit.doc).collect());
        }
        match &request.candidates {
            Some(candidates) => Ok(candidates.clone()),
            None => Ok(context.documents_with_text()?.to_vec()),
        }
    }

    /// Scores documents for each request. Pairs are computed together with those of the same request
    /// only, so that no score depends on other requests.
    fn score(
        &self,
        batch: &Batch,
        requests: &[Request],
        docs: &[Vec<Doc>],
    ) -> Result<Vec<Vec<f32>>> {
        let context = batch.context;
        let scorer = context.models.pair_scorer(&self.model_name())?;
        let queries: Vec<Cow<str>> =
            requests.iter().map(|request| self.query.of(request)).collect();
        let mut texts: Vec<Vec<Cow<str>>> = Vec::with_capacity(docs.len());
        for docs in docs {
            let of_request = docs.iter().map(|&doc| context.documents.text(doc));
            texts.push(of_request.collect::<Result<_>>()?);
        }
        let mut pairs: Vec<Vec<(&str, &str)>> = Vec::with_capacity(docs.len());
        for (query, texts) in queries.iter().zip(&texts) {
            pairs.push(texts.iter().map(|text| (&**query, &**text)).collect());
        }
        scorer.score_each(&pairs, batch.progress)
    }

    /// Counts a request whose documents all have one score: then their ids order them.
    fn count_equal(&self, context: &Context, request: &Request, scores: &[f32]) {
        let [first, others @ ..] = scores else { return };
        let is_equal = !others.is_empty() && others.iter().all(|score| score == first);
        let note = format!(
            "{}: `{}` gives all documents one score for {{count}} of {{all}} requests, which does not order them",
            self.stage, self.model
        );
        context.tallies.add(&note, &request.id, usize::from(is_equal), 1);
    }

    /// Ranks documents by their scores. `rerank` puts them before the others of the ranking, which
    /// keep their order.
    fn rank(&self, request: &Request, ranking: Ranking, docs: &[Doc], scores: Vec<f32>) -> Ranking {
        let depth = request.depth(self.depth.get());
        let mut ranked = rank_by_score(docs, scores.into_iter(), depth);
        if self.stage == RERANK {
            let least = ranked.last().map_or(0.0, |hit| hit.score);
            let rest = ranking.into_iter().skip(ranked.len());
            for (rank, hit) in (1_u32..).zip(rest) {
                ranked.push(Hit { score: least - f64::from(rank), ..hit });
            }
        }
        ranked
    }
}

impl Stage for CrossEncoderStage {
    fn about(&self) -> About {
        About { models: vec![self.model_name()], ..About::new(self.stage, self) }
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let mut all = Vec::with_capacity(rankings.len());
        let mut rankings = rankings.into_iter();
        for requests in batch.requests.chunks(REQUESTS_AT_ONCE) {
            let rankings: Vec<Ranking> = rankings.by_ref().take(requests.len()).collect();
            let mut docs = Vec::with_capacity(requests.len());
            for (request, ranking) in requests.iter().zip(&rankings) {
                docs.push(self.documents(batch.context, request, ranking)?);
            }
            let scores = self.score(batch, requests, &docs)?;
            for (((request, ranking), docs), scores) in
                requests.iter().zip(rankings).zip(&docs).zip(scores)
            {
                self.count_equal(batch.context, request, &scores);
                all.push(self.rank(request, ranking, docs, scores));
            }
        }
        Ok(all)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let scores = self.score(one, one.requests, &[vec![doc]])?.concat();
        let what = format!("logit of `{}` for request and question", self.model);
        Ok(scores.first().map(|&score| Explanation::value(f64::from(score), what)))
    }
}
