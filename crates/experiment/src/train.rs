//! The recipes that systems need, and the models that they make.

use crate::recipes;
use crate::systems::Loaded;
use clariq_core::{Error, Recipe, bail, read_regular};
use clariq_files::MOST_OF_A_CONFIGURATION;
use std::path::Path;

pub use crate::models::Again;

/// The recipes that are named, each once: by themselves, or by systems whose
/// stages use them. `set` replaces parameters of theirs, as [`Recipe::with`] takes them.
pub fn recipes(names: &[String], set: &[String]) -> Result<Vec<Recipe>, Error> {
    let mut recipes: Vec<Recipe> = Vec::new();
    for name in names {
        for recipe in named(name)? {
            if recipes.iter().all(|known| known.name != recipe.name) {
                recipes.push(if set.is_empty() { recipe } else { recipe.with(set)? });
            }
        }
    }
    Ok(recipes)
}

fn named(name: &str) -> Result<Vec<Recipe>, Error> {
    // A file is a recipe if it says what is trained.
    let says_objective = || {
        read_regular(name.as_ref(), MOST_OF_A_CONFIGURATION)
            .is_ok_and(|text| String::from_utf8_lossy(&text).contains("[objective]"))
    };
    match recipes::find(name) {
        Ok(Some(recipe)) => Ok(vec![recipe]),
        Err(error) if says_objective() => Err(error),
        _ => of_system(name),
    }
}

fn of_system(name: &str) -> Result<Vec<Recipe>, Error> {
    let mut trained = Vec::new();
    for model in Loaded::open(name, &[])?.plan.models() {
        trained.extend(recipes::find(&model.name)?);
    }
    if trained.is_empty() {
        let expected = "a system with a trained model, or a recipe";
        let found = format!("`{name}`, which needs no model that is trained");
        bail!("CONFIG", expected, found, "configs/README.md lists the recipes");
    }
    Ok(trained)
}

/// Checks a folder named for the models of `count` recipes: it takes one, and must not exist.
pub fn check_output(output: &Path, count: usize) -> Result<(), Error> {
    let (expected, found, hint) = if count > 1 {
        let hint = "without --output every model gets a folder of its own in the cache";
        ("one model", format!("{count} models"), hint)
    } else if output.exists() {
        let found = format!("{} is there already", output.display());
        ("a folder that does not exist", found, "name another folder, or remove that one")
    } else {
        return Ok(());
    };
    bail!("--output", expected, found, hint)
}
