//! Installed models: their folders, and the checks of what is in them.

use crate::cache::{self, CacheState};
use clariq_core::{Engine, ModelKind, ModelOptions, Name, NoModels, Result, bail, problem};
use clariq_folder::table::{FILES, FileUse};
use clariq_folder::{Family, is_model, kind_of};
use clariq_systems::recipes;
use std::path::{Path, PathBuf};

/// The model that `clariq setup` installs by itself.
pub const DEFAULT_MODEL: &str = "all-MiniLM-L6-v2";

/// The model of base size that `clariq setup --model` installs.
pub const BASE_MODEL: &str = "all-mpnet-base-v2";

/// The other models whose weights `clariq setup --model` finds by itself.
const FOUND_BY_NAME: [&str; 2] = [BASE_MODEL, "splade-tiny"];

/// The folder of a model: a path, or an installed model in `models`.
pub fn find(models: &Path, name: &str) -> Option<PathBuf> {
    let folders = [PathBuf::from(name), models.join(name)];
    folders.into_iter().find(|folder| is_model(folder))
}

/// The folder of a model, which must be a path or an installed model in `models`.
pub(crate) fn locate(models: &Path, name: &str, kind: ModelKind) -> Result<PathBuf> {
    if let Some(folder) = find(models, name) {
        return Ok(folder);
    }
    let trains = |name: &&str| recipes::find_kind(name, kind).is_ok_and(|recipe| recipe.is_some());
    let recipes: Vec<String> =
        recipes::names().filter(trains).map(|name| format!("`{name}`")).collect();
    let expected = match &*recipes.join(", ") {
        "" => "a folder, or an installed model".to_owned(),
        recipes => format!("a folder, a recipe ({recipes}), or an installed model"),
    };
    let found = format!("nothing of that name in {} either", models.display());
    let install = how_to_install(name);
    let any = match kind {
        // Stages name spaces, and these name encoders.
        ModelKind::Encoder => {
            "`[space]` names any folder, as in models = { \"FOLDER\" = 1.0 }".to_owned()
        }
        _ => format!("--set names any folder, as in {}.model=FOLDER", kind.usual_stage()),
    };
    let hint =
        format!("{install} installs it; `clariq doctor` lists the installed ones, and {any}");
    bail!(format!("model `{name}`"), expected, found, hint)
}

/// The command that installs a model: only some have weights that `clariq setup` finds by itself.
pub fn how_to_install(name: &str) -> String {
    match name {
        DEFAULT_MODEL => "`clariq setup`".to_owned(),
        _ if FOUND_BY_NAME.contains(&name) => format!("`clariq setup --model {name}`"),
        _ if is_path(name) => "`clariq setup --model NAME --from DIR`".to_owned(),
        _ if name.contains('/') => format!("`clariq setup --model {name}`"),
        _ => format!("`clariq setup --model {name} --from DIR`"),
    }
}

/// True for the path of a folder, which no model of a hub has as its name, `ORGANISATION/NAME`.
pub fn is_path(name: &str) -> bool {
    let before_revision = name.split('@').next().unwrap_or(name);
    name.starts_with(['/', '.', '~']) || before_revision.matches('/').count() > 1
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

/// The values of `model_type` in the configurations of models that can be read.
pub fn model_types() -> Vec<&'static str> {
    Family::model_types().into_iter().chain(["t5", "model2vec"]).collect()
}

/// The names of the files of models that are read, and of those that are refused.
pub fn files_of_models() -> (Vec<&'static str>, Vec<&'static str>) {
    let mut read = Vec::new();
    let mut refused = Vec::new();
    for file in FILES {
        match file.is {
            FileUse::Done => read.push(file.name),
            FileUse::Refused(..) => refused.push(file.name),
            FileUse::WithoutEffect | FileUse::OtherWeights(..) => {}
        }
    }
    (read, refused)
}

/// Checks that a model can be installed under a name.
pub fn check_model_name(name: &str) -> Result<()> {
    if let Err(wrong) = Name::new(name) {
        return Err(problem!("--model", "a name for a folder", wrong).into());
    }
    if recipes::is_recipe(name) {
        let found = format!("`{name}`, which is a recipe");
        bail!("--model", "another name", found, "systems would train the recipe's model instead");
    }
    Ok(())
}

/// Checks that a folder has a model, by opening it.
pub fn check_model_opens(engine: Option<&dyn Engine>, name: &str, folder: &Path) -> Result<()> {
    let engine = engine.ok_or_else(|| NoModels::refusal(name))?;
    check_files(name, folder)?;
    let usual = kind_of(folder)?;
    engine.describe_model(folder)?;
    let options = ModelOptions::default();
    let Err(refusal) = engine.open(folder, usual, &options) else { return Ok(()) };
    let mut others = ModelKind::OF_FOLDERS.into_iter().filter(|kind| *kind != usual);
    if others.any(|kind| engine.open(folder, kind, &options).is_ok()) {
        Ok(())
    } else {
        Err(refusal)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_missing_model_is_told_where_a_folder_is_named() {
        for (kind, place) in [
            (ModelKind::Encoder, "`[space]` names any folder, as in models = { \"FOLDER\" = 1.0 }"),
            (ModelKind::CrossEncoder, "--set names any folder, as in rerank.model=FOLDER"),
        ] {
            let hint = locate(Path::new("none"), "nobody", kind).unwrap_err().to_problem().hint;
            assert!(hint.ends_with(place), "{hint}");
        }
    }
}
