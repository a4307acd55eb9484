//! Trainings: a recipe's model is found in the cache, or trained on the labels of a collection.
//!
//! A recipe may mine negatives with a system, and a system may need the model of another recipe.
//! Models are trained before a system is opened; an open system trains nothing.

mod examples;
mod lengths;
mod pipeline;
mod store;

use crate::endpoints;
use crate::models::{self, ModelLocation};
use crate::needs::NeedScope;
use crate::ranker::{Ranker, UserRequest};
use crate::session::{Contexts, Session, SessionOptions};
use clariq_collections::{Collection, Split};
use clariq_core::{
    JudgedQuestions, ModelKind, ModelName, Precision, Ranking, ReadingOverrides, Recipe, Request,
    Result, TrainingSummary, bail,
};
use clariq_rank::Override;
use clariq_systems::{SystemConfig, recipes};
use std::path::{Path, PathBuf};
use std::sync::Arc;

pub use pipeline::{PIPELINE, PipelineScores, pipeline_scores};
pub use store::TrainMode;

/// Trains the missing models of a system, and opens it. `predict` are the requests whose needs it
/// predicts, usually [`NeedScope::ForStages`].
pub fn open_system<'a>(
    contexts: &'a Contexts<'a>,
    config: &'a SystemConfig,
    predict: NeedScope,
) -> Result<Ranker<'a>> {
    config.check_tasks(contexts.session.collection)?;
    endpoints::register(contexts.session, config)?;
    for model in config.models() {
        train_if_missing(contexts.session, &model)?;
    }
    Ranker::open(contexts, config, predict)
}

/// Trains the model of a recipe, unless it is open already or `model` is no recipe.
fn train_if_missing(session: &Session, model: &ModelName) -> Result<()> {
    if models::is_located(session, model) || endpoints::is_endpoint(session, model) {
        return Ok(());
    }
    let Some(recipe) = recipes::find_kind(&model.name, model.kind)? else { return Ok(()) };
    session.engine_for(&model.name)?;
    let TrainingOutcome { folder, recipe, .. } = train(session, recipe, TrainMode::Resume, None)?;
    let max_tokens = model.reading.max_tokens.or(Some(recipe.max_tokens));
    let reading = ReadingOverrides { max_tokens, ..model.reading.clone() };
    models::set_location(session, model, ModelLocation { folder, reading });
    Ok(())
}

/// The first stages of held-out topics: of questions, that of the published pipeline `bert-reranker`.
const FIRST_STAGE_OF_QUESTIONS: &str = "bm25";
const FIRST_STAGE_OF_DOCUMENTS: &str = "bm25-english";

/// The number of first documents that a cross-encoder reorders for held-out topics.
const REORDERED: usize = 30;

/// The share of the requests that is held out of a folder's only split, unless the recipe holds out some.
const HELD_OUT_OF_ONE: f64 = 0.2;

/// The system whose first documents a cross-encoder reorders for held-out topics, if its recipe names
/// none.
pub fn usual_first_stage(collection: &dyn Collection) -> &'static str {
    match collection.question_bank() {
        Some(_) => FIRST_STAGE_OF_QUESTIONS,
        None => FIRST_STAGE_OF_DOCUMENTS,
    }
}

/// A recipe's model.
pub struct TrainingOutcome {
    /// Its folder, with the weights and the card.
    pub folder: PathBuf,
    /// The recipe with the length of the texts that the model reads.
    pub recipe: Recipe,
    /// The figures of a training that was needed.
    pub summary: Option<TrainingSummary>,
}

/// Trains a recipe, unless its model of this data is found, and copies the model to `output`.
pub fn train(
    session: &Session,
    mut recipe: Recipe,
    mode: TrainMode,
    output: Option<&Path>,
) -> Result<TrainingOutcome> {
    recipe.train_on = recipe.train_on.to_answer(session.split.map(Split::role));
    if examples::only_split(session).is_some() && recipe.held_out == 0.0 {
        recipe.held_out = HELD_OUT_OF_ONE;
    }
    session.engine_for(&recipe.name)?;
    let (mut examples, requests) = examples::collect(session, &recipe)?;
    if recipe.held_out == 0.0 {
        examples.evaluation.clear();
    } else if recipe.objective.kind() == ModelKind::CrossEncoder {
        let usual = usual_first_stage(session.collection);
        // Models of questions keep the keys that they had before there was a choice.
        if usual != FIRST_STAGE_OF_QUESTIONS && recipe.first_stage.is_none() {
            recipe.first_stage = Some(usual.to_owned());
        }
        let system = recipe.first_stage.as_deref().unwrap_or(usual);
        let rankings = mine(session, &recipe, system, REORDERED, requests.clone(), None)?;
        for (topic, ranking) in examples.evaluation.iter_mut().zip(rankings) {
            topic.pool = ranking.iter().map(|hit| hit.doc.0).collect();
        }
    }
    if let Some((system, depth)) = recipe.negatives() {
        let rankings = mine(session, &recipe, system, depth, requests, None)?;
        set_negatives(&mut examples, &rankings);
    }
    lengths::lengthen(session, &mut recipe, &examples)?;
    let (folder, summary) = store::obtain(session, &recipe, &examples, mode, output)?;
    Ok(TrainingOutcome { folder, recipe, summary })
}

/// Checks the output folder of trainings: it is for one recipe, and does not exist or is a trained
/// model's.
pub fn check_output(output: &Path, count: usize) -> Result<()> {
    let (expected, found, hint) = if count > 1 {
        let hint = "without --output every model gets a folder of its own in the cache";
        ("one model", format!("{count} models"), hint)
    } else if output.exists() && !output.join("training.json").is_file() {
        let found = format!("{} exists already", output.display());
        ("a folder that does not exist", found, "name another folder, or remove that one")
    } else {
        return Ok(());
    };
    bail!("--output", expected, found, hint)
}

/// Ranks training requests by a system, whose models are read from `folder` if it is given.
fn mine(
    session: &Session,
    recipe: &Recipe,
    system: &str,
    depth: usize,
    requests: Vec<Request>,
    folder: Option<&Path>,
) -> Result<Vec<Ranking>> {
    // The examples of a model must not depend on the precision or the need model of the run.
    let options =
        SessionOptions { precision: Precision::F32, need_model: None, ..session.options.clone() };
    let session = Session { options, models: Arc::default(), ..session.clone() };
    let contexts = Contexts::new(&session);
    let config = mining_system(recipe, system, depth)?;
    if let Some(folder) = folder {
        for model in config.models() {
            let reading = model.reading.clone();
            let location = ModelLocation { folder: folder.to_owned(), reading };
            models::set_location(&session, &model, location);
        }
    }
    let queries: Vec<UserRequest> = requests.into_iter().map(UserRequest::from).collect();
    let outcomes = open_system(&contexts, &config, NeedScope::ForStages)?.rank(&queries)?;
    Ok(outcomes.into_iter().map(|outcome| outcome.ranking).collect())
}

/// The system that negatives are mined with, with the depth of the recipe.
fn mining_system(recipe: &Recipe, name: &str, depth: usize) -> Result<SystemConfig> {
    let declared = SystemConfig::open(name, &[])?;
    let first = declared.plan.stages().next().map_or("bm25", |stage| stage.name);
    let depth =
        Override { stage: first.to_owned(), key: "depth".to_owned(), value: depth.to_string() };
    let config = SystemConfig::open(name, &[depth])?;
    if config.models().iter().any(|model| *model.name == *recipe.name) {
        let found = format!("`{name}`, which needs `{}` itself", recipe.name);
        let hint = "take the negatives of `bm25-english` or of a system with an untrained model";
        let expected = "negatives of a system that needs no such model";
        bail!(format!("recipe `{}`", recipe.name), expected, found, hint);
    }
    Ok(config)
}

/// Takes the ranked questions that are not relevant and not empty as negatives.
fn set_negatives(examples: &mut JudgedQuestions, rankings: &[Ranking]) {
    for (topic, ranking) in rankings.iter().enumerate() {
        let relevant = &examples.relevant[topic];
        let mut negatives = Vec::new();
        for hit in ranking {
            let question = hit.doc.0;
            let is_empty = examples.questions[question as usize].is_empty();
            if !is_empty && !relevant.contains(&question) {
                negatives.push(question);
            }
        }
        examples.candidates[topic] = negatives;
    }
}
