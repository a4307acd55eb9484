//! Stage `dense`: ranks documents by their similarity to what was said.
//!
//! Without `weights` and `history`, everything said is one text. With `weights`, a document's score
//! is the weighted mean of its similarities to what was said; with `history`, the sum of those to
//! the last utterance and to what led to it.

use crate::build::Build;
use crate::space::SpaceConfig;
use crate::stage::{About, Batch, Stage};
use crate::stages::dense_history::DenseHistory;
use crate::stages::dense_weighted::Weighted;
use crate::stages::weights::Weights;
use clariq_core::Error;
use clariq_core::{
    Doc, Explanation, Location, Problem, ProblemKind, Ranking, Request, rank_by_score,
};
use serde::{Deserialize, Serialize};
use std::borrow::Cow;
use std::num::NonZeroUsize;

/// Retrieves: whatever ranking comes in is replaced. Documents without a text are left out.
#[derive(Serialize)]
struct Dense {
    /// How many documents are kept; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<NonZeroUsize>,
    #[serde(flatten)]
    weighted: Option<Weighted>,
    #[serde(skip_serializing_if = "Option::is_none")]
    history: Option<DenseHistory>,
    space: SpaceConfig,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Given {
    depth: Option<NonZeroUsize>,
    min_likeness: Option<f32>,
    repeat: Option<f32>,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>, Error> {
    let space = build.space()?;
    let history_at = build.table.at("history");
    let history = DenseHistory::take(&mut build.table)?;
    let weights = Weights::take(&mut build.table)?;
    if history.is_some() && weights.is_some() {
        return Err(both_given(history_at).into());
    }
    let places = ["min_likeness", "repeat"].map(|key| build.table.at(key));
    let Given { depth, min_likeness, repeat } = build.table.read()?;
    let keys = [min_likeness, repeat].into_iter().zip(places).zip(["min_likeness", "repeat"]);
    let needs_weights =
        keys.filter(|((value, _), _)| value.is_some()).map(|((_, at), key)| (at, key));
    let weighted = match (weights, { needs_weights }.next()) {
        (Some(weights), _) => Some(Weighted { weights, min_likeness, repeat }),
        (None, Some((at, key))) => return Err(without_weights(at, key).into()),
        (None, None) => None,
    };
    Ok(Box::new(Dense { depth, weighted, history, space }))
}

/// Both say what a part of a conversation counts.
pub(super) fn both_given(at: Location) -> Problem {
    let (expected, found) = ("either `weights` or `history`", "both");
    Problem::new(at, ProblemKind::Configuration, expected, found).hint(
        "`weights` begins with what was said first, `history` with what was said last: choose one",
    )
}

fn without_weights(at: Location, key: &str) -> Problem {
    let expected = format!("a table `weights`, whose parts of a conversation `{key}` looks at");
    Problem::new(at, ProblemKind::Configuration, expected, "a stage without it")
        .hint("configs/dense-conversation.toml is an example")
}

impl Dense {
    /// Ranks the same documents for several requests.
    fn rank(
        &self,
        batch: &Batch,
        requests: &[Request],
        docs: &[Doc],
    ) -> Result<Vec<Ranking>, Error> {
        let context = batch.context;
        let space = context.space(&self.space)?;
        let depth = self.depth.map_or(usize::MAX, NonZeroUsize::get);
        // All have the same candidates, or none has any.
        let depth = requests.first().map_or(depth, |request| request.depth(depth));
        if let Some(weighted) = &self.weighted {
            return weighted.rank(context, &space, requests, docs, depth, batch.progress);
        }
        if let Some(history) = &self.history {
            return history.rank(context, &space, requests, docs, depth, batch.progress);
        }
        let texts: Vec<Cow<str>> = requests.iter().map(Request::flatten).collect();
        let texts: Vec<&str> = texts.iter().map(AsRef::as_ref).collect();
        let scores = space.to_documents(context.models, &texts, docs)?;
        (batch.progress)(requests.len() as u64);
        let rank = |row: ndarray::ArrayView1<f32>| rank_by_score(docs, row.iter().copied(), depth);
        Ok(scores.rows().into_iter().map(rank).collect())
    }
}

impl Stage for Dense {
    fn about(&self) -> About {
        let mut models = self.space.models();
        models.extend(self.history.as_ref().and_then(DenseHistory::models));
        About { models, ..About::new("dense", self) }
    }

    fn apply(&self, batch: &Batch, _rankings: Vec<Ranking>) -> Result<Vec<Ranking>, Error> {
        // Opened before the first request, so that a run knows its weights before it ranks.
        batch.context.space(&self.space)?;
        let all = batch.context.documents_with_text()?;
        let mut rankings = Vec::with_capacity(batch.requests.len());
        for requests in batch.requests.chunk_by(|one, next| one.candidates == next.candidates) {
            let own = requests.first().and_then(|request| request.candidates.as_deref());
            rankings.extend(self.rank(batch, requests, own.unwrap_or(all))?);
        }
        Ok(rankings)
    }

    fn explain(
        &self,
        one: &Batch,
        doc: Doc,
        _before: &Ranking,
    ) -> Result<Option<Explanation>, Error> {
        let space = one.context.space(&self.space)?;
        let Some(request) = one.requests.first() else { return Ok(None) };
        if let Some(weighted) = &self.weighted {
            let all = one.context.documents_with_text()?;
            let docs = request.candidates.as_deref().unwrap_or(all);
            return weighted.explain(one.context, &space, request, docs, doc).map(Some);
        }
        if let Some(history) = &self.history {
            return history.explain(one.context, &space, request, doc).map(Some);
        }
        let parts = space.parts(one.context.models, &request.flatten(), doc)?;
        let part = |(name, weight, cosine): (String, f64, f64)| {
            Explanation::value(weight * cosine, format!("{name}: {weight:.3} × {cosine:.6}"))
        };
        let parts: Vec<_> = parts.into_iter().map(part).collect();
        let sum = parts.iter().map(|part| part.value).sum();
        Ok(Some(Explanation::of(sum, "similarity of request and document", parts)))
    }
}
