//! Stage `dense`: which questions are nearest to the request?

use crate::context::Context;
use crate::error::Error;
use crate::space::SpaceConfig;
use crate::stage::{Progress, Ranking, Stage};
use crate::stages::{Build, ranked};
use clariq_collections::clariq::Topic;
use clariq_index::Explanation;
use serde::{Deserialize, Serialize};
use std::num::NonZeroUsize;

/// Ranks the whole bank, the empty question left out, by similarity in a space.
#[derive(Serialize)]
struct Dense {
    #[serde(flatten)]
    parameters: Parameters,
    space: SpaceConfig,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Parameters {
    /// How many questions are kept; all if left out.
    #[serde(skip_serializing_if = "Option::is_none")]
    depth: Option<NonZeroUsize>,
}

pub(super) fn build(mut build: Build) -> Result<Box<dyn Stage>, Error> {
    let space = build.space()?;
    Ok(Box::new(Dense { parameters: build.table.read()?, space }))
}

/// All questions that can be asked: the empty one is none.
pub(super) fn askable(context: &Context) -> Vec<u32> {
    (0..)
        .zip(context.bank.rows())
        .filter(|(_, row)| !row.text.is_empty())
        .map(|(question, _)| question)
        .collect()
}

impl Stage for Dense {
    fn name(&self) -> &'static str {
        "dense"
    }

    fn parameters(&self) -> serde_json::Value {
        serde_json::to_value(self).unwrap_or_default()
    }

    fn models(&self) -> Vec<String> {
        self.space.models.keys().cloned().collect()
    }

    fn apply(
        &self,
        context: &Context,
        topics: &[Topic],
        _rankings: Vec<Ranking>,
        progress: Progress,
    ) -> Result<Vec<Ranking>, Error> {
        let questions = askable(context);
        let requests: Vec<&str> = topics.iter().map(|topic| topic.request.as_str()).collect();
        let scores =
            context.space(&self.space)?.to_questions(context, &requests, &questions, &|_| {})?;
        let depth = self.parameters.depth.map_or(usize::MAX, NonZeroUsize::get);
        let rankings = scores
            .rows()
            .into_iter()
            .map(|row| ranked(&questions, row.iter().copied(), depth))
            .collect();
        progress(topics.len() as u64);
        Ok(rankings)
    }

    fn explain(
        &self,
        context: &Context,
        topic: &Topic,
        question: u32,
    ) -> Result<Option<Explanation>, Error> {
        let parts = context.space(&self.space)?.parts(context, &topic.request, question)?;
        let parts: Vec<_> = parts
            .into_iter()
            .map(|(name, weight, cosine)| {
                Explanation::value(weight * cosine, format!("{name}: {weight:.3} × {cosine:.6}"))
            })
            .collect();
        let sum = parts.iter().map(|part| part.value).sum();
        Ok(Some(Explanation::of(sum, "similarity of request and question", parts)))
    }
}
