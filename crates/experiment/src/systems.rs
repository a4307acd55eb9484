//! Systems by name: configuration files, and built-in systems.

mod config;
mod overrides;

pub use config::SystemConfig;
pub use overrides::parse_assignment;
pub(crate) use overrides::suffix;

use crate::recipes;
use clariq_core::{Problem, Recipe, Result, bail, problem, read_regular};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use std::collections::HashSet;
use std::path::Path;

/// The systems of `configs/`, in the order in which `reproduce` shows them.
const BUILT_IN: &[(&str, &str)] = built_in!("../configs/"
    "no-question" "bm25" "bm25-english" "ql" "rm3" "bm25-tuned" "dense" "dense-base" "dense-tuned"
    "bert-reranker" "bert-ranker" "published-bert-reranker" "reranker-base"
    "ranker-base" "strict" "strict-base" "best" "best-base" "bm25-multi-turn" "bm25-conversation"
    "dense-conversation" "ikat-bm25" "ikat-dense" "ikat-automatic" "ikat-manual"
    "ikat-rewritten" "ikat-reranked" "ikat-only-response" "rerank-endpoint" "clariq-chat"
    "ikat-organisers-2025" "ikat-chat"
);

/// The file of a built-in system.
fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The file `name`, or the built-in system of that name.
pub fn source(name: &str) -> Result<Source> {
    if Path::new(name).exists() {
        return Ok(Source::new(name));
    }
    let text = built_in(name).ok_or_else(|| unknown(name))?;
    Ok(Source::memory(format!("configs/{name}.toml"), text.as_bytes().to_vec()))
}

/// The names of all built-in systems.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// Refuses two systems with the same name, which would overwrite each other's files.
pub fn check_names_differ(systems: &[SystemConfig]) -> Result<()> {
    let mut seen = HashSet::new();
    if let Some(again) = systems.iter().find(|config| !seen.insert(&config.name)) {
        let expected = "systems of different names";
        let found = format!("`{}` twice", again.name);
        let hint = "files are named after systems: give one another `name`, or run them one by one";
        bail!("CONFIG", expected, found, hint);
    }
    Ok(())
}

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
    let mut recipes = Vec::new();
    for model in SystemConfig::open(name, &[])?.plan.models() {
        recipes.extend(recipes::find(&model.name)?);
    }
    if recipes.is_empty() {
        let expected = "a system with a trained model, or a recipe";
        let found = format!("`{name}`, which needs no model that is trained");
        bail!("CONFIG", expected, found, "the documentation lists the recipes (reference, Models)");
    }
    Ok(recipes)
}

/// True if a file is a recipe, even one with errors.
fn has_objective(name: &str) -> bool {
    let text = read_regular(name.as_ref(), MOST_OF_A_CONFIGURATION);
    text.is_ok_and(|text| String::from_utf8_lossy(&text).contains("[objective]"))
}

/// The problem of an unknown system. Its hint suggests a built-in system or a file with a similar name.
fn unknown(name: &str) -> Problem {
    let files = toml_files(Path::new(name).parent().unwrap_or(Path::new("")));
    let known = names().map(str::to_owned).chain(files);
    let typos = |known: &str| {
        let without_ending = known.strip_suffix(".toml").unwrap_or(known);
        strsim::damerau_levenshtein(name, known)
            .min(strsim::damerau_levenshtein(name, without_ending))
    };
    let similar = known
        .map(|known| (typos(&known), known))
        .filter(|(typos, known)| *typos <= known.len().div_ceil(3).min(MOST_TYPOS))
        .min();
    let hint = match similar {
        Some((_, known)) => format!("did you mean `{known}`?"),
        None => "`clariq systems` lists the built-in systems".to_owned(),
    };
    problem!(name, "a built-in system or a configuration file", "nothing of that name", hint)
}

/// Names with more typing errors than this are not similar.
const MOST_TYPOS: usize = 3;

/// The configuration files in a folder.
fn toml_files(folder: &Path) -> Vec<String> {
    let place = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    let mut files = Vec::new();
    for entry in std::fs::read_dir(place).into_iter().flatten().flatten() {
        let path = folder.join(entry.file_name());
        if path.extension().is_some_and(|ending| ending == "toml") {
            files.push(path.display().to_string());
        }
    }
    files
}
