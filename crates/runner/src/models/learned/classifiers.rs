//! Where do classifiers come from? They are trained on the texts that are given, and stay in the cache only where that is
//! wanted: the folds of a cross-validation are looked at once.

use super::{Registry, recipe_of, wrong_kind};
use crate::failure::Failure;
use crate::models::{folder, unknown};
use clariq_bert::BertClassifier;
use clariq_bert::train::{Examples, Makes, Recipe};
use clariq_collections::clariq::Labelled;
use clariq_core::{Location, Need, Problem, ProblemKind};
use clariq_rank::ClassifiedTexts;
use std::env;
use std::path::Path;

/// Trains on some texts, or finds what was trained on them before.
pub(super) fn train(
    registry: &Registry,
    name: &str,
    data: &ClassifiedTexts,
    seed: u64,
    keep: bool,
) -> Result<BertClassifier, Failure> {
    let recipe = Recipe { seed, ..classification(name)? };
    let options = registry.options(Some(recipe.max_tokens));
    let examples = Examples::of_classes(data.texts, data.classes, data.names);
    let mut prepared = registry.prepare_with(recipe, examples, None)?;
    if keep {
        let (folder, _) = registry.obtain(&prepared, true, false)?;
        return Ok(BertClassifier::open(&folder, data.names.len(), &options)?);
    }
    let file = prepared.folder.file_name().unwrap_or_default().to_string_lossy().into_owned();
    prepared.folder = env::temp_dir().join(format!("{file}-{}", std::process::id()));
    let trained = registry.follow(&prepared, false)?;
    let opened = BertClassifier::open(&trained.folder, data.names.len(), &options);
    let _ = std::fs::remove_dir_all(&trained.folder);
    Ok(opened?)
}

/// The classifier whose weights were kept under a name.
pub(super) fn open(
    registry: &Registry,
    recipe: &str,
    name: &str,
) -> Result<BertClassifier, Failure> {
    let recipe = classification(recipe)?;
    let kept = folder().join(name);
    // A name and not a path: a saved model says nothing of folders.
    if Path::new(name).components().count() != 1 || !kept.join("config.json").is_file() {
        let at = Location::file(format!("model `{name}`"));
        let (expected, found) = (
            "the weights that a need model names",
            format!("no such weights in {}", folder().display()),
        );
        return Err(Problem::new(at, ProblemKind::Model, expected, found)
            .hint(
                "train it again: `clariq need train`; or copy the folder from where it was trained",
            )
            .into());
    }
    Ok(BertClassifier::open(&kept, Need::ALL.len(), &registry.options(Some(recipe.max_tokens)))?)
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

fn classification(name: &str) -> Result<Recipe, Failure> {
    let recipe = recipe_of(name)?.ok_or_else(|| unknown(name))?;
    match recipe.objective.makes() {
        Makes::Classifier => Ok(recipe),
        found => Err(wrong_kind(name, Makes::Classifier, found).into()),
    }
}
