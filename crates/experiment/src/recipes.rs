//! Training recipes by name, and the folders of models.

use crate::cache::{self, CacheState};
use clariq_core::{Engine, ModelKind, ModelOptions, Name, NoModels, Recipe, Result, bail, problem};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use std::path::{Path, PathBuf};

const BUILT_IN: &[(&str, &str)] = built_in!("../configs/models/"
    "encoder" "encoder-base" "cross-encoder" "cross-encoder-base" "published-cross-encoder"
);

/// The model that `clariq setup` installs by itself.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2";

/// The model of base size that `clariq setup --model` installs.
pub const BASE_MODEL: &str = "all-mpnet-base-v2";

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
                        `rewrite` the folder of a T5, all others encoders";
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

/// The folder of a model: a path, or an installed model in `models`.
pub fn installed(models: &Path, name: &str) -> Option<PathBuf> {
    let folders = [PathBuf::from(name), models.join(name)];
    folders.into_iter().find(|folder| is_model_folder(folder))
}

fn is_model_folder(folder: &Path) -> bool {
    ["config.json", "modules.json"].iter().any(|name| folder.join(name).is_file())
}

/// The folder of a model, which must be a path or an installed model in `models`.
pub(crate) fn find_installed(models: &Path, name: &str) -> Result<PathBuf> {
    if let Some(folder) = installed(models, name) {
        return Ok(folder);
    }
    let recipes: Vec<_> = BUILT_IN.iter().map(|(name, _)| format!("`{name}`")).collect();
    let expected = format!("a folder, a recipe ({}), or an installed model", recipes.join(", "));
    let found = format!("nothing of that name in {} either", models.display());
    let hint = "`clariq setup` installs all-MiniLM-L6-v2, `clariq setup --model all-mpnet-base-v2` \
                the larger model, and `clariq doctor` lists the installed ones; --set takes any \
                folder, as in rerank.model=FOLDER";
    bail!(format!("model `{name}`"), expected, found, hint)
}

/// Refuses a folder whose files differ from its manifest. Models from elsewhere have no manifest.
pub(crate) fn check_files(name: &str, folder: &Path) -> Result<()> {
    let CacheState::Damaged { found } = cache::check(folder) else { return Ok(()) };
    if !folder.join(cache::SUMS).is_file() {
        return Ok(());
    }
    let expected = format!("the files of {} as they were written", folder.display());
    let hint = "`clariq setup --force` installs all-MiniLM-L6-v2 again, with `--model` another; \
                `clariq train` trains again";
    bail!(format!("model `{name}`"), expected, found, hint)
}

/// Checks that a model can be installed under a name.
pub fn check_model_name(name: &str) -> Result<()> {
    if let Err(wrong) = Name::new(name) {
        return Err(problem!("--model", "a name for a folder", wrong).into());
    }
    if is_recipe(name) {
        let found = format!("`{name}`, which is a recipe");
        bail!("--model", "another name", found, "systems would train the recipe's model instead");
    }
    Ok(())
}

/// Checks that a folder has a model, by opening it.
pub fn check_model_opens(engine: Option<&dyn Engine>, name: &str, folder: &Path) -> Result<()> {
    let engine = engine.ok_or_else(|| NoModels::refusal(name))?;
    check_files(name, folder)?;
    engine.describe_model(folder)?;
    let options = ModelOptions::default();
    let opened = engine.open(folder, ModelKind::Encoder, &options);
    let others = [ModelKind::CrossEncoder, ModelKind::TextGenerator];
    if opened.is_err() && others.iter().all(|&kind| engine.open(folder, kind, &options).is_err()) {
        return opened.map(drop);
    }
    Ok(())
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
