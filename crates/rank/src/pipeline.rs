//! Stages in the order in which they are applied.

mod queries;

use crate::chat::{Chat, describe_questions, in_questions, write_questions};
use crate::rewrite::{Rewriter, Rewritten};
use crate::stage::{About, Batch, Stage, check_finite};
use clariq_core::{Doc, Explanation, Ranking, Request, Result};
use serde::Serialize;
use serde_json::{Value, json};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// Stages in the order in which they are applied.
pub struct Pipeline {
    /// A model's work on the requests before the first stage.
    pub(crate) preparation: Option<Preparation>,
    pub stages: Vec<Box<dyn Stage>>,
}

/// A model's work on the requests of a pipeline.
#[derive(Clone)]
pub(crate) enum Preparation {
    /// It rewrites their last utterances.
    Rewrite(Arc<dyn Rewriter>),
    /// It writes clarifying questions, which take the place of the conversations.
    Ask(Arc<Chat>),
}

impl Preparation {
    fn about(&self) -> About {
        match self {
            Self::Rewrite(rewriter) => rewriter.about(),
            Self::Ask(chat) => describe_questions(chat),
        }
    }

    fn apply(&self, batch: &Batch) -> Result<Rewritten> {
        match self {
            Self::Rewrite(rewriter) => rewriter.apply(batch),
            Self::Ask(chat) => {
                Ok(Rewritten { requests: in_questions(chat, batch)?, queries: None })
            }
        }
    }
}

/// The effect of one stage on one document.
#[derive(Serialize)]
pub struct StageTrace {
    /// The stage's name.
    pub stage: &'static str,
    /// The document's rank after the stage, from 1; `None` if it is not in the ranking.
    pub rank: Option<usize>,
    /// Its score after the stage.
    pub score: Option<f64>,
    /// The number of documents in the ranking after the stage.
    pub length: usize,
    /// The derivation of the score.
    pub explanation: Option<Explanation>,
}

impl Pipeline {
    /// Ranks documents for every request of a batch, in their order, beginning with `rankings`:
    /// usually [`Batch::unranked`]. `batch.progress` counts (request, stage) pairs. Without any
    /// document, nothing is ranked.
    pub fn run(&self, batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
        if batch.context.documents.is_empty() {
            return Ok(rankings);
        }
        let Some(preparation) = &self.preparation else {
            return run(&self.stages, batch, rankings);
        };
        let Rewritten { requests, queries } = preparation.apply(batch)?;
        let batch = &Batch { requests: &requests, ..*batch };
        match (queries, self.stages.split_first()) {
            (Some(queries), Some((first, rest))) => {
                let fused = queries::retrieve(&**first, batch, &queries, &rankings)?;
                (batch.progress)(requests.len() as u64);
                run(rest, batch, fused)
            }
            _ => run(&self.stages, batch, rankings),
        }
    }

    /// Follows one document through all stages, for a batch of one request whose ranking so far is
    /// `before`.
    pub fn explain(&self, one: &Batch, doc: Doc, before: &Ranking) -> Result<Vec<StageTrace>> {
        let mut ranking = before.clone();
        let mut traces = Vec::with_capacity(self.stages.len() + 1);
        let rewritten =
            self.preparation.as_ref().map(|preparation| preparation.apply(one)).transpose()?;
        let utterance = one.requests.first().map(Request::last_said).unwrap_or_default();
        let requests = rewritten.as_ref().map_or(one.requests, |rewritten| &rewritten.requests);
        let one = &Batch { requests, ..*one };
        let mut queries = rewritten.as_ref().and_then(|rewritten| rewritten.queries.as_ref());
        let trace = |stage, ranking: &Ranking, explanation| {
            let index = ranking.iter().position(|hit| hit.doc == doc);
            let rank = index.map(|index| index + 1);
            let score = index.map(|index| ranking[index].score);
            StageTrace { stage, rank, score, length: ranking.len(), explanation }
        };
        if let Some(preparation) = &self.preparation {
            let about = preparation.about();
            let text = requests.first().map(Request::last_said).unwrap_or_default();
            let others = queries.and_then(|queries| queries.first()?.get(1..)).unwrap_or_default();
            let others = others.iter().map(|query| {
                Explanation::value(0.0, format!("another query: \"{}\"", query.last_said()))
            });
            let models: Vec<String> =
                about.models.iter().map(|model| format!("`{}`", model.name)).collect();
            let what = if text == utterance {
                "the utterance as it is".to_owned()
            } else {
                format!("the utterance as \"{text}\", written by {}", models.join(", "))
            };
            let why = Explanation::of(0.0, what, others.collect());
            traces.push(trace(about.name, &ranking, Some(why)));
        }
        for stage in &self.stages {
            let before = ranking.clone();
            if let Some(queries) = queries.take() {
                let (ranked, why) = queries::explain(&**stage, one, queries, doc, &before)?;
                ranking = ranked;
                traces.push(trace(stage.about().name, &ranking, Some(why)));
                continue;
            }
            let ranked = stage.apply(one, vec![ranking])?;
            check_finite(&**stage, one, &ranked)?;
            ranking = ranked.into_iter().next().unwrap_or_default();
            traces.push(trace(stage.about().name, &ranking, stage.explain(one, doc, &before)?));
        }
        Ok(traces)
    }

    /// The pipeline with requests in the form of clarifying questions that a chat model writes; `None`
    /// if a model rewrites them already.
    pub fn with_questions(self, chat: Chat) -> Option<Self> {
        let ask = Preparation::Ask(Arc::new(chat));
        self.preparation.is_none().then_some(Self { preparation: Some(ask), ..self })
    }

    /// The clarifying question for a batch of one request, if a chat model writes one.
    pub fn question(&self, one: &Batch) -> Result<Option<String>> {
        let Some(Preparation::Ask(chat)) = &self.preparation else { return Ok(None) };
        let question = write_questions(chat, one.context, one.requests)?.pop();
        Ok(question.filter(|question| !question.is_empty()))
    }

    /// The stages' descriptions of themselves.
    pub fn about(&self) -> impl Iterator<Item = About> {
        let preparation = self.preparation.iter().map(Preparation::about);
        preparation.chain(self.stages.iter().map(|stage| stage.about()))
    }

    /// All stages with their parameters, as they are written beside a run.
    pub fn parameters(&self) -> Value {
        parameters(&self.about().collect::<Vec<_>>())
    }
}

/// Applies stages in order.
fn run(stages: &[Box<dyn Stage>], batch: &Batch, rankings: Vec<Ranking>) -> Result<Vec<Ranking>> {
    stages.iter().try_fold(rankings, |rankings, stage| {
        let counted = AtomicU64::new(0);
        let progress = |finished| {
            counted.fetch_add(finished, Ordering::Relaxed);
            (batch.progress)(finished);
        };
        let ranked = stage.apply(&Batch { progress: &progress, ..*batch }, rankings)?;
        let counted = counted.into_inner();
        (batch.progress)((batch.requests.len() as u64).saturating_sub(counted));
        check_finite(&**stage, batch, &ranked)?;
        Ok(ranked)
    })
}

pub(crate) fn parameters(stages: &[About]) -> Value {
    let mut described = Vec::with_capacity(stages.len());
    for about in stages {
        let mut stage_first = json!({ "stage": about.name });
        if let (Value::Object(all), Value::Object(parameters)) =
            (&mut stage_first, &about.parameters)
        {
            all.extend(parameters.clone());
        }
        described.push(stage_first);
    }
    Value::Array(described)
}
