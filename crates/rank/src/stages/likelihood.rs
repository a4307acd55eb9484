//! Stage `likelihood`: reorders the first documents of every ranking by how likely a text generator finds
//! them after the conversation: the mean log-probability of the document's tokens, its end included (the
//! query likelihood of Sachan et al., "Improving Passage Retrieval with Zero-Shot Question Generation",
//! EMNLP 2022, with the question in the document's place).

use super::cross_encoder::QueryText;
use crate::build::Build;
use crate::stage::{About, Batch, Stage};
use clariq_core::{
    Doc, Explanation, Hit, ModelKind, ModelName, Ranking, ReadingOverrides, Request, Result,
    positive, rank_by_score,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroUsize;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Likelihood {
    /// The folder of a T5.
    model: String,
    /// The longest conversation in tokens, cut at its beginning; by default that of the generator. Longer documents are cut at their end.
    #[serde(skip_serializing_if = "Option::is_none")]
    max_tokens: Option<usize>,
    /// The number of documents that are reordered.
    #[serde(default = "positive::<30>")]
    depth: NonZeroUsize,
    /// The part of a conversation that the documents are likely after, as for `rerank`.
    #[serde(default, skip_serializing_if = "QueryText::is_all")]
    query: QueryText,
    /// Text before it, such as the task that the T5 was trained with.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    prefix: String,
}

pub(super) fn build(build: Build) -> Result<Box<dyn Stage>> {
    Ok(Box::new(build.table.read::<Likelihood>()?))
}

impl Likelihood {
    fn model_name(&self) -> ModelName {
        let reading = ReadingOverrides::cut_at(self.max_tokens);
        ModelName { reading, ..ModelName::new(&*self.model, ModelKind::TextGenerator) }
    }

    /// The mean log-probabilities of documents for a request, which depend on no other request.
    fn score(&self, batch: &Batch, request: &Request, docs: &[Doc]) -> Result<Vec<f32>> {
        let context = batch.context;
        let generator = context.models.text_generator(&self.model_name())?;
        let texts = docs.iter().map(|&doc| context.documents.text(doc));
        let texts: Vec<Cow<str>> = texts.collect::<Result<_>>()?;
        let texts: Vec<&str> = texts.iter().map(|text| &**text).collect();
        generator.likelihood(&format!("{}{}", self.prefix, self.query.of(request)), &texts)
    }
}

impl Stage for Likelihood {
    fn about(&self) -> About {
        About { models: vec![self.model_name()], ..About::new("likelihood", self) }
    }

    fn apply(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        let mut all = Vec::with_capacity(rankings.len());
        for (request, ranking) in batch.requests.iter().zip(rankings) {
            let depth = request.depth(self.depth.get());
            let docs: Vec<Doc> = ranking.iter().take(depth).map(|hit| hit.doc).collect();
            let scores = self.score(batch, request, &docs)?;
            let mut ranked = rank_by_score(&docs, scores.into_iter(), depth);
            let least = ranked.last().map_or(0.0, |hit| hit.score);
            for (rank, hit) in (1_u32..).zip(ranking.into_iter().skip(docs.len())) {
                ranked.push(Hit { score: least - f64::from(rank), ..hit });
            }
            (batch.progress)(1);
            all.push(ranked);
        }
        Ok(all)
    }

    fn explain(&self, one: &Batch, doc: Doc, _: &Ranking) -> Result<Option<Explanation>> {
        let Some(request) = one.requests.first() else { return Ok(None) };
        let scores = self.score(one, request, &[doc])?;
        let what = format!("mean log-probability of its tokens by `{}`", self.model);
        Ok(scores.first().map(|&score| Explanation::value(f64::from(score), what)))
    }
}
