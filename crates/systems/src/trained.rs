//! The recipes of the models that systems need.

use crate::config::SystemConfig;
use crate::{built_in, recipes};
use clariq_core::{Recipe, Result, bail, read_regular, similar};
use clariq_files::MOST_OF_A_CONFIGURATION;

/// Finds recipes by their names, or by the names of systems that use them, each once. `set` replaces
/// parameters as in [`Recipe::with`].
pub fn find_recipes(names: &[String], set: &[String]) -> Result<Vec<Recipe>> {
    let mut recipes: Vec<Recipe> = Vec::new();
    for name in names {
        for recipe in recipes_of(name)? {
            if recipes.iter().all(|known| known.name != recipe.name) {
                recipes.push(if set.is_empty() { recipe } else { recipe.with(set)? });
            }
        }
    }
    Ok(recipes)
}

fn recipes_of(name: &str) -> Result<Vec<Recipe>> {
    match recipes::find(name) {
        Ok(Some(recipe)) => return Ok(vec![recipe]),
        Err(error) if has_objective(name) => return Err(error),
        _ => {}
    }
    if built_in::source(name).is_err()
        && let Some(meant) = similar(name, recipes::names())
    {
        bail!(name, "a system or a recipe", "nothing of that name", "did you mean `{meant}`?");
    }
    let mut recipes = Vec::new();
    for model in SystemConfig::open(name, &[])?.plan.models() {
        recipes.extend(recipes::find(&model.name)?);
    }
    if recipes.is_empty() {
        let expected = "a system with a trained model, or a recipe";
        let found = format!("`{name}`, which needs no model that is trained");
        let known: Vec<String> = recipes::names().map(|name| format!("`{name}`")).collect();
        let hint = format!("the recipes are {}", known.join(", "));
        bail!("CONFIG", expected, found, hint);
    }
    Ok(recipes)
}

/// True if a file is a recipe, even one with errors.
fn has_objective(name: &str) -> bool {
    let text = read_regular(name.as_ref(), MOST_OF_A_CONFIGURATION);
    text.is_ok_and(|text| String::from_utf8_lossy(&text).contains("[objective]"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_mistyped_recipe_is_told_the_one_that_was_meant() {
        let hint =
            |name: &str| find_recipes(&[name.to_owned()], &[]).unwrap_err().to_problem().hint;
        assert_eq!(hint("cross-encodr"), "did you mean `cross-encoder`?");
        assert_eq!(hint("bert-rerankr"), "did you mean `bert-reranker`?");
    }
}
