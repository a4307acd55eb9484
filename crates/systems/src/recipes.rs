//! Training recipes by name: the built-in ones, and files.

use clariq_core::{ModelKind, Recipe, Result, bail};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use std::path::Path;

const BUILT_IN: &[(&str, &str)] = built_in!("../configs/models/"
    "encoder" "encoder-base" "sparse-encoder" "cross-encoder" "cross-encoder-base"
    "published-cross-encoder"
);

/// The recipe of that name, or in that file.
pub fn find(name: &str) -> Result<Option<Recipe>> {
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
        let input = Source::new(path).read_at_most(MOST_OF_A_CONFIGURATION)?;
        let text = String::from_utf8_lossy(&input.bytes);
        return Ok(Some(Recipe::parse(&input.name, &text)?));
    }
    let built_in = BUILT_IN.iter().find(|(known, _)| *known == name);
    let parse =
        |(name, text): &(&str, &str)| Recipe::parse(&format!("configs/models/{name}.toml"), text);
    built_in.map(parse).transpose()
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
