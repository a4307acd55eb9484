//! Training recipes by name: the built-in ones, and files.

use clariq_core::{ModelKind, Problem, Recipe, Result, bail};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use clariq_rank::BasedOn;
use std::path::Path;

const BUILT_IN: &[(&str, &str)] = built_in!("../configs/models/"
    "encoder" "encoder-base" "sparse-encoder" "cross-encoder" "cross-encoder-base"
    "published-cross-encoder"
);

/// The recipe of that name, or in that file.
pub fn find(name: &str) -> Result<Option<Recipe>> {
    source(name)?.map(|(file, text)| read(&file, &text)).transpose()
}

/// The file of the recipe, for messages, and its text.
fn source(name: &str) -> Result<Option<(String, String)>> {
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
        let input = Source::new(path).read_at_most(MOST_OF_A_CONFIGURATION)?;
        let text = String::from_utf8_lossy(&input.bytes).into_owned();
        return Ok(Some((input.name, text)));
    }
    let built_in = BUILT_IN.iter().find(|(known, _)| *known == name);
    Ok(built_in.map(|(name, text)| (format!("configs/models/{name}.toml"), (*text).to_owned())))
}

/// Reads a recipe, or one that is another with other values.
fn read(file: &str, text: &str) -> Result<Recipe> {
    let Some(based) = BasedOn::read(file, text)? else { return Recipe::parse(file, text) };
    let Some((base_file, base)) = source(&based.base)? else {
        let hint = "`clariq train --help` says what is a recipe";
        let found = format!("`{}`, which is none", based.base);
        bail!((based.at), "a training recipe", found, hint)
    };
    let base = Recipe::parse(&base_file, &base)?;
    let mut set: Vec<String> =
        based.set.iter().map(|(key, value)| format!("{key}={value}")).collect();
    for (key, value) in [("name", based.name), ("description", based.description)] {
        set.push(format!("{key}={}", toml::Value::String(value)));
    }
    base.with(&set).map_err(|error| Problem { at: based.set_at, ..error.to_problem() }.into())
}

/// The recipe of that name, or in that file, if it trains a model of that kind.
pub fn find_kind(name: &str, kind: ModelKind) -> Result<Option<Recipe>> {
    match find(name)? {
        Some(recipe) if recipe.objective.kind() != kind => {
            let at = format!("model `{name}`");
            let found = recipe.objective.kind();
            let hint = "`rerank` and `cross_encode` take cross-encoders or the folder of a monoT5, \
                        `rewrite` the folder of a T5, `sparse` sparse encoders, all others encoders";
            bail!(at, "{kind}", "{found}", hint)
        }
        found => Ok(found),
    }
}

/// True if the model of that name is trained on labels.
pub fn is_recipe(name: &str) -> bool {
    BUILT_IN.iter().any(|(known, _)| *known == name)
        || Path::new(name).extension().is_some_and(|end| end == "toml")
}

/// The names of the built-in recipes.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}
