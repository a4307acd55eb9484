//! The worth of an encoder of documents: a pipeline with it on the topics that its training held out, beside
//! the same pipeline with its base, and BM25.

use super::{examples, mine, store, usual_first_stage};
use crate::installed;
use crate::run::as_run;
use crate::session::Session;
use clariq_core::{ModelKind, Ranking, Recipe, Request, Result};
use clariq_eval::{RankedRun, evaluate, exact_mean, parse_measures};
use std::path::Path;

/// The system that an encoder of documents is for: BM25 makes up for what a model has not learned.
pub const PIPELINE: &str = "hybrid";

const MEASURE: &str = "nDCG@10";

/// The depth of the rankings; the measure needs no more.
const DEPTH: usize = 10;

/// nDCG@10 on held-out topics.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PipelineScores {
    /// The score of the pipeline with the trained encoder.
    pub trained: f64,
    /// The score of the pipeline with the encoder that the training began with.
    pub untrained: f64,
    /// The score of BM25 alone.
    pub bm25: f64,
}

/// The scores of a trained encoder, in `folder`. `None` for other models, where no topic was held out, and for
/// clarifying questions, which are no documents.
pub fn pipeline_scores(
    session: &Session,
    recipe: &Recipe,
    folder: &Path,
) -> Result<Option<PipelineScores>> {
    if recipe.held_out == 0.0
        || recipe.objective.kind() != ModelKind::Encoder
        || session.collection.question_bank().is_some()
    {
        return Ok(None);
    }
    let held_out = store::held_out_topics(folder);
    let (_, mut requests) = examples::collect(session, recipe)?;
    requests.retain(|request| held_out.iter().any(|topic| *topic == request.id.as_str()));
    if requests.is_empty() {
        return Ok(None);
    }
    let base = installed::locate(&session.models_folder(), &recipe.base, ModelKind::Encoder)?;
    let score = |system: &str, encoder: Option<&Path>| {
        let rankings = mine(session, recipe, system, DEPTH, requests.clone(), encoder)?;
        mean_of(session, recipe, &requests, &rankings)
    };
    Ok(Some(PipelineScores {
        trained: score(PIPELINE, Some(folder))?,
        untrained: score(PIPELINE, Some(&base))?,
        bm25: score(usual_first_stage(session.collection), None)?,
    }))
}

/// The mean over some requests of the splits that a recipe learns from.
fn mean_of(
    session: &Session,
    recipe: &Recipe,
    requests: &[Request],
    rankings: &[Ranking],
) -> Result<f64> {
    let run = as_run(session.documents, requests, rankings);
    let ranked = RankedRun::new(&run);
    let measures = parse_measures(MEASURE)?;
    let mut values = Vec::with_capacity(requests.len());
    for split in examples::splits(session, recipe)? {
        let Some(qrels) = session.collection.qrels(split, session.task)? else { continue };
        for (topic, value) in &evaluate(&measures, &ranked, &qrels)?[0].values {
            if requests.iter().any(|request| request.id == *topic) {
                values.push(*value);
            }
        }
    }
    Ok(exact_mean(values))
}
