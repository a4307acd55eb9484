//! Training recipes, by their names and those of the systems that need them, and the folders that
//! models are in.

use crate::systems::Loaded;
use clariq_core::{Error, ModelKind, Problem, Recipe, bail, problem, read_regular};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use std::path::{Path, PathBuf};

const BUILT_IN: &[(&str, &str)] = built_in!("../configs/models/"
    "encoder" "conversational-encoder" "cross-encoder" "published-cross-encoder"
);

/// The recipe of that name, or in that file.
pub fn find(name: &str) -> Result<Option<Recipe>, Error> {
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
pub fn find_kind(name: &str, kind: ModelKind) -> Result<Option<Recipe>, Error> {
    match find(name)? {
        Some(recipe) if recipe.objective.kind() != kind => {
            let (at, found) = (format!("model `{name}`"), recipe.objective.kind());
            let hint = "`rerank` and `cross_encode` take cross-encoders, `meaning` a conversational \
                        encoder, `rewrite` the folder of a T5, all others encoders";
            bail!(at, "{kind}", "{found}", hint)
        }
        found => Ok(found),
    }
}

/// Whether the model of that name is trained on labels.
pub fn is_recipe(name: &str) -> bool {
    BUILT_IN.iter().any(|(known, _)| *known == name)
        || Path::new(name).extension().is_some_and(|end| end == "toml")
}

/// The folder of a model that is named by its path, or installed in `models`.
pub fn installed(models: &Path, name: &str) -> Option<PathBuf> {
    let folders = [PathBuf::from(name), models.join(name)];
    let is_model = |folder: &PathBuf| {
        ["config.json", "modules.json"].iter().any(|name| folder.join(name).is_file())
    };
    folders.into_iter().find(is_model)
}

/// The problem that a name is neither a recipe nor a model in the folder `models`.
pub(crate) fn unknown(models: &Path, name: &str) -> Problem {
    let recipes: Vec<_> = BUILT_IN.iter().map(|(name, _)| format!("`{name}`")).collect();
    let expected = format!("a folder, a recipe ({}), or an installed model", recipes.join(", "));
    let found = format!("nothing of that name in {} either", models.display());
    let hint = "`clariq setup` installs all-MiniLM-L6-v2, and `clariq doctor` shows what is there; \
                --set names another, such as rerank.model=FOLDER";
    problem!(format!("model `{name}`"), expected, found, hint)
}

/// The recipes that are named, each once: by themselves, or by systems whose
/// stages use them. `set` replaces parameters of theirs, as [`Recipe::with`] takes them.
pub fn of_names(names: &[String], set: &[String]) -> Result<Vec<Recipe>, Error> {
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
    match find(name) {
        Ok(Some(recipe)) => Ok(vec![recipe]),
        Err(error) if says_objective() => Err(error),
        _ => of_system(name),
    }
}

fn of_system(name: &str) -> Result<Vec<Recipe>, Error> {
    let mut trained = Vec::new();
    for model in Loaded::open(name, &[])?.plan.models() {
        trained.extend(find(&model.name)?);
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
