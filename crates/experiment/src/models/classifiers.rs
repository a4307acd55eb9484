//! Classifiers: trained on the texts that are given, and kept in the cache only where that is wanted.

use super::training::{Again, prepare};
use super::wrong_kind;
use crate::error::Error;
use crate::recipes;
use crate::session::Session;
use clariq_collections::clariq::Labelled;
use clariq_core::{Examples, Location, ModelKind, Need, Problem, ProblemKind, Recipe};
use clariq_rank::{ClassifiedTexts, TextClassifier};
use std::env;
use std::path::Path;
use std::sync::Arc;

/// Trains on some texts, or finds what was trained on them before.
pub(super) fn train(
    session: &Session,
    name: &str,
    data: &ClassifiedTexts,
    seed: u64,
    keep: bool,
) -> Result<Arc<dyn TextClassifier>, Error> {
    let engine = session.engine_for(name)?;
    let recipe = Recipe { seed, ..classification(session, name)? };
    let options = session.model_options(Some(recipe.max_tokens));
    let examples = Examples::of_classes(data.texts, data.classes, data.names);
    let mut prepared = prepare(session, recipe, examples, None)?;
    if keep {
        let (folder, _) = prepared.obtain(session, Again::Resume)?;
        return Ok(engine.open_classifier(&folder, data.names.len(), &options)?);
    }
    let file = prepared.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    prepared.folder = env::temp_dir().join(format!("{file}-{}", std::process::id()));
    let trained = prepared.train(session, false)?;
    let opened = engine.open_classifier(&trained.folder, data.names.len(), &options);
    let _ = std::fs::remove_dir_all(&trained.folder);
    Ok(opened?)
}

/// The classifier whose weights were kept under a name.
pub(super) fn open(
    session: &Session,
    recipe: &str,
    name: &str,
) -> Result<Arc<dyn TextClassifier>, Error> {
    let engine = session.engine_for(name)?;
    let recipe = classification(session, recipe)?;
    let models = session.models_folder();
    let kept = models.join(name);
    // A name and not a path: a saved model says nothing of folders.
    if Path::new(name).components().count() != 1 || !kept.join("config.json").is_file() {
        let at = Location::file(format!("model `{name}`"));
        let (expected, found) = (
            "the weights that a need model names",
            format!("no such weights in {}", models.display()),
        );
        return Err(Problem::new(at, ProblemKind::Model, expected, found)
            .hint(
                "train it again: `clariq need train`; or copy the folder from where it was trained",
            )
            .into());
    }
    Ok(engine.open_classifier(
        &kept,
        Need::ALL.len(),
        &session.model_options(Some(recipe.max_tokens)),
    )?)
}

/// The needs of all topics of train that have one.
pub(super) fn examples(train: &Labelled) -> Examples {
    let labelled =
        || train.topics.iter().filter_map(|topic| Some((topic.request.as_str(), topic.need?)));
    let texts: Vec<&str> = labelled().map(|(request, _)| request).collect();
    let classes: Vec<usize> = labelled().map(|(_, need)| usize::from(need.get()) - 1).collect();
    let names = Need::ALL.map(|need| need.to_string());
    Examples::of_classes(&texts, &classes, &names.each_ref().map(String::as_str))
}

fn classification(session: &Session, name: &str) -> Result<Recipe, Error> {
    let unknown = || recipes::unknown(&session.models_folder(), name);
    let recipe = recipes::find(name)?.ok_or_else(unknown)?;
    match recipe.objective.kind() {
        ModelKind::Classifier => Ok(recipe),
        found => Err(wrong_kind(name, ModelKind::Classifier, found).into()),
    }
}
