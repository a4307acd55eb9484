//! Which systems are part of the program, and which file is meant by a name?

use crate::cli::Parameters;
use crate::failure::Failure;
use crate::models;
use clariq_core::{Location, Problem, ProblemKind, sha256_hex};
use clariq_files::Source;
use clariq_rank::{Override, System, Uses};
use std::path::Path;

/// The systems of `configs/`, in the order in which `reproduce` shows them.
const BUILT_IN: &[(&str, &str)] = &[
    ("no-question", include_str!("../../../configs/no-question.toml")),
    ("bm25", include_str!("../../../configs/bm25.toml")),
    ("bm25-english", include_str!("../../../configs/bm25-english.toml")),
    ("bm25-tuned", include_str!("../../../configs/bm25-tuned.toml")),
    ("dense", include_str!("../../../configs/dense.toml")),
    ("dense-tuned", include_str!("../../../configs/dense-tuned.toml")),
    ("bert-reranker", include_str!("../../../configs/bert-reranker.toml")),
    ("bert-ranker", include_str!("../../../configs/bert-ranker.toml")),
    ("strict", include_str!("../../../configs/strict.toml")),
    ("best", include_str!("../../../configs/best.toml")),
    ("bm25-multi-turn", include_str!("../../../configs/bm25-multi-turn.toml")),
    ("bm25-conversation", include_str!("../../../configs/bm25-conversation.toml")),
    ("dense-conversation", include_str!("../../../configs/dense-conversation.toml")),
];

/// The names of all built-in systems.
pub(crate) fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// A system, and the file that it was read from.
pub(crate) struct Loaded {
    pub(crate) system: System,
    pub(crate) checksum: String,
}

/// Reads the file `name`, or the built-in system of that name.
pub(crate) fn load(name: &str, overrides: &[Override]) -> Result<Loaded, Failure> {
    let built_in = BUILT_IN.iter().find(|(known, _)| *known == name);
    let (file, text) = match built_in {
        Some((_, text)) if !Path::new(name).exists() => {
            (format!("configs/{name}.toml"), (*text).to_owned())
        }
        _ if Path::new(name).exists() => {
            let source = Source::new(name);
            let system = System::read(&source, overrides)?;
            declares_training(&source.name(), &system)?;
            let checksum = sha256_hex(&source.read()?.bytes);
            return Ok(Loaded { system, checksum });
        }
        _ => return Err(unknown(name).into()),
    };
    let system = System::parse(&file, &text, overrides)?;
    declares_training(&file, &system)?;
    Ok(Loaded { system, checksum: sha256_hex(text.as_bytes()) })
}

/// A model that is trained here has seen the labels of train, which must be said beside its figures.
fn declares_training(file: &str, system: &System) -> Result<(), Failure> {
    let trained = system.models().into_iter().find(|model| models::is_recipe(model));
    let Some(model) = trained.filter(|_| !system.uses.contains(&Uses::TrainLabels)) else {
        return Ok(());
    };
    let expected = format!("uses = [\"{}\"]", Uses::TrainLabels);
    let found = format!("{:?}, and the model `{model}`, which is trained on them", system.uses);
    Err(Problem::new(Location::file(file), ProblemKind::Configuration, expected, found)
        .hint("what a system looks at is shown beside its figures and must be declared")
        .into())
}

fn unknown(name: &str) -> Problem {
    let names: Vec<_> = names().map(|name| format!("`{name}`")).collect();
    let expected = format!("a configuration file, or one of {}", names.join(", "));
    Problem::new(Location::file(name), ProblemKind::MissingFile, expected, "nothing of that name")
        .hint("configs/README.md shows how a system is written")
}

/// The parameters of the command line, as overrides of stages.
pub(crate) fn overrides(parameters: &Parameters) -> Result<Vec<Override>, Failure> {
    let bm25 = |key: &str, value: String| Override {
        stage: "bm25".to_owned(),
        key: key.to_owned(),
        value,
    };
    let mut overrides = Vec::new();
    overrides.extend(parameters.k1.map(|k1| bm25("k1", as_toml(k1))));
    overrides.extend(parameters.b.map(|b| bm25("b", as_toml(b))));
    let name = parameters.variant.and_then(|variant| serde_json::to_string(&variant).ok());
    overrides.extend(name.map(|name| bm25("variant", name)));
    for text in &parameters.set {
        let (target, value) = split_assignment(text, "--set")?;
        overrides.push(Override { value: value.to_owned(), ..target });
    }
    Ok(overrides)
}

/// TOML writes `nan` in lower case.
fn as_toml(number: f64) -> String {
    format!("{number:?}").to_lowercase()
}

/// `stage.key=value` as its target and its value.
pub(crate) fn split_assignment<'a>(
    text: &'a str,
    flag: &str,
) -> Result<(Override, &'a str), Failure> {
    let parts =
        text.split_once('=').and_then(|(target, value)| Some((target.split_once('.')?, value)));
    match parts {
        Some(((stage, key), value))
            if !stage.is_empty() && !key.is_empty() && !value.is_empty() =>
        {
            Ok((
                Override { stage: stage.to_owned(), key: key.to_owned(), value: String::new() },
                value,
            ))
        }
        _ => {
            let expected = "stage.key=value, for example bm25.k1=0.9";
            let problem = Problem::new(
                Location::file(flag),
                ProblemKind::Argument,
                expected,
                format!("`{text}`"),
            );
            Err(problem.hint("configs/README.md lists all stages and their keys").into())
        }
    }
}
