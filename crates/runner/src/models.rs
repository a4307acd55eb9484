//! Where do learned models come from? By name: a folder, a recipe whose model is trained when it is first asked for, or
//! weights that the set-up installed. Without the feature `bert` there are none, and asking for one says so.

#[cfg(feature = "bert")]
mod learned;

use crate::settings::{Settings, cache_folder};
use clariq_collections::clariq::Collection;
#[cfg(feature = "bert")]
use clariq_core::{Location, Problem, ProblemKind};
use clariq_rank::Models;
use std::path::{Path, PathBuf};

/// The recipes of `configs/models/`.
pub(crate) const RECIPES: &[(&str, &str)] = &[
    ("encoder", include_str!("../../../configs/models/encoder.toml")),
    ("cross-encoder", include_str!("../../../configs/models/cross-encoder.toml")),
    (
        "published-cross-encoder",
        include_str!("../../../configs/models/published-cross-encoder.toml"),
    ),
];

/// Everything that learned stages of a collection may ask for.
#[cfg(feature = "bert")]
pub(crate) fn of<'a>(settings: &'a Settings, collection: &'a Collection) -> Box<dyn Models + 'a> {
    Box::new(learned::Registry::new(settings, collection))
}

/// Everything that learned stages of a collection may ask for.
#[cfg(not(feature = "bert"))]
pub(crate) fn of<'a>(_settings: &'a Settings, _collection: &'a Collection) -> Box<dyn Models + 'a> {
    Box::new(clariq_rank::NoModels)
}

#[cfg(feature = "bert")]
pub(crate) use learned::{Registry, recipe_of};

/// Whether the model of that name is trained on the labels of train.
pub(crate) fn is_recipe(name: &str) -> bool {
    RECIPES.iter().any(|(known, _)| *known == name)
        || Path::new(name).extension().is_some_and(|end| end == "toml")
}

/// Where installed and trained models are kept.
pub(crate) fn folder() -> PathBuf {
    cache_folder().join("models")
}

/// The folder of an installed model, or of one that is named by its path.
pub(crate) fn installed(name: &str) -> Option<PathBuf> {
    let named = Path::new(name);
    let places = [named.to_owned(), folder().join(name)];
    places.into_iter().find(|place| place.join("config.json").is_file())
}

/// Says what a name could have been.
#[cfg(feature = "bert")]
pub(crate) fn unknown(name: &str) -> Problem {
    let recipes: Vec<_> = RECIPES.iter().map(|(name, _)| format!("`{name}`")).collect();
    let expected = format!("a folder, a recipe ({}), or an installed model", recipes.join(", "));
    let found = format!("nothing of that name in {} either", folder().display());
    Problem::new(Location::file(format!("model `{name}`")), ProblemKind::Model, expected, found)
        .hint("`scripts/setup` installs all-MiniLM-L6-v2; `clariq doctor` shows what is there")
}
