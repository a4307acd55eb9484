//! Systems by name: a configuration file, or one of those that are part of the program.

use crate::answers::{AnswerConfig, PASSAGES, STATEMENTS};
use crate::measures::check_measures;
use crate::recipes;
use crate::session::Session;
use clariq_collections::Collection;
use clariq_core::Error;
use clariq_core::{Location, ModelKind, Problem, ProblemKind, TrainOn, sha256_hex};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use clariq_need::NeedConfig;
use clariq_rank::{Expected, Override, System, Uses};
use std::path::Path;

/// The systems of `configs/`, in the order in which `reproduce` shows them.
const BUILT_IN: &[(&str, &str)] = &[
    ("no-question", include_str!("../configs/no-question.toml")),
    ("bm25", include_str!("../configs/bm25.toml")),
    ("bm25-english", include_str!("../configs/bm25-english.toml")),
    ("bm25-tuned", include_str!("../configs/bm25-tuned.toml")),
    ("dense", include_str!("../configs/dense.toml")),
    ("dense-tuned", include_str!("../configs/dense-tuned.toml")),
    ("bert-reranker", include_str!("../configs/bert-reranker.toml")),
    ("bert-ranker", include_str!("../configs/bert-ranker.toml")),
    ("strict", include_str!("../configs/strict.toml")),
    ("best", include_str!("../configs/best.toml")),
    ("bm25-multi-turn", include_str!("../configs/bm25-multi-turn.toml")),
    ("bm25-conversation", include_str!("../configs/bm25-conversation.toml")),
    ("dense-conversation", include_str!("../configs/dense-conversation.toml")),
    ("cast-bm25", include_str!("../configs/cast-bm25.toml")),
    ("ikat-bm25", include_str!("../configs/ikat-bm25.toml")),
    ("ikat-dense", include_str!("../configs/ikat-dense.toml")),
    ("ikat-automatic", include_str!("../configs/ikat-automatic.toml")),
    ("ikat-encoder", include_str!("../configs/ikat-encoder.toml")),
    ("ikat-manual", include_str!("../configs/ikat-manual.toml")),
    ("ikat-only-response", include_str!("../configs/ikat-only-response.toml")),
];

/// The names of all built-in systems.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The tasks of a collection that a system with a table `[answer]` ranks for.
const ANSWERED: [&str; 2] = [STATEMENTS, PASSAGES];

/// A system, and the file that it was read from.
pub struct Loaded {
    /// The file, for messages.
    pub file: String,
    /// The system.
    pub system: System,
    /// The need model of its table `[need]`.
    pub need: Option<NeedConfig>,
    /// How it answers; `None` where it ranks for one task alone.
    pub answer: Option<AnswerConfig>,
    /// The SHA-256 of its file.
    pub checksum: String,
}

impl Loaded {
    /// Reads the file `name`, or the built-in system of that name, which must rank for one task.
    pub fn open(name: &str, overrides: &[Override]) -> Result<Self, Error> {
        let loaded = Self::open_any(name, overrides)?;
        if loaded.system.tasks.is_empty() {
            return Ok(loaded);
        }
        let tasks: Vec<&str> = loaded.system.tasks.keys().map(String::as_str).collect();
        let found = format!("one for {}", tasks.join(", "));
        let at = Location::file(loaded.file);
        Err(Problem::new(at, ProblemKind::Configuration, "a system for one task", found)
            .hint("systems of several tasks answer the requests of iKAT's splits")
            .into())
    }

    /// The same for a system of one task or of several.
    pub fn open_any(name: &str, overrides: &[Override]) -> Result<Self, Error> {
        let source = if Path::new(name).exists() {
            Source::new(name)
        } else {
            let built_in = BUILT_IN.iter().find(|(known, _)| *known == name);
            let (_, text) = built_in.ok_or_else(|| unknown(name))?;
            Source::memory(format!("configs/{name}.toml"), text.as_bytes().to_vec())
        };
        Self::read(&source, overrides)
    }

    /// Reads a system, and checks what its stages, models and figures are against what there is.
    pub fn read(source: &Source, overrides: &[Override]) -> Result<Self, Error> {
        let (mut need, mut answer) = (None, None);
        let system = System::read(source, overrides, |section| {
            match section.key {
                "need" => need = Some(NeedConfig::read(section)?),
                _ => answer = Some((section.at.clone(), AnswerConfig::read(section)?)),
            }
            Ok(())
        })?;
        let bytes = source.read_at_most(MOST_OF_A_CONFIGURATION)?.bytes;
        for model in system.models() {
            recipes::find_kind(&model.name, model.kind)?;
        }
        check_training_declared(&source.name(), &system, need.as_ref())?;
        check_measures(&system.expected)?;
        if let Some((at, _)) = &answer {
            AnswerConfig::check_tasks(at, &system)?;
        }
        let answer = answer.map(|(_, config)| config);
        Ok(Self { file: source.name(), system, need, answer, checksum: sha256_hex(&bytes) })
    }

    /// Whether a collection with these tasks has all that the system ranks for.
    pub fn ranks_for(&self, tasks: &[&str]) -> bool {
        self.system.tasks.is_empty() || ANSWERED.iter().all(|task| tasks.contains(task))
    }

    /// Whether it does for a collection what is to be done for it: it answers where answers are
    /// handed in, and ranks elsewhere.
    pub fn is_for(&self, collection: &dyn Collection) -> bool {
        let is_answered = ANSWERED.iter().all(|task| collection.tasks().contains(task));
        is_answered != self.system.tasks.is_empty()
    }

    /// Refuses a collection that lacks a task which the system ranks for.
    pub fn check_tasks(&self, collection: &dyn Collection) -> Result<(), Problem> {
        if self.ranks_for(collection.tasks()) {
            return Ok(());
        }
        let expected = format!("a collection with {}", ANSWERED.join(" and "));
        let (there, kind) = (collection.tasks().join(" and "), collection.kind());
        let found = format!("{kind} in {}, with {there}", collection.location());
        Err(Problem::new(Location::file("--data"), ProblemKind::Argument, expected, found).hint(
            format!("`{}` is for such a collection: --data names its folder", self.system.name),
        ))
    }

    /// Whether a model of its stages is trained on utterances that people resolved.
    pub fn learns_from_resolved(&self) -> bool {
        let models = self.system.models();
        let mut of_kind =
            models.iter().filter(|model| model.kind == ModelKind::ConversationEncoder);
        of_kind.any(|model| recipes::is_recipe(&model.name))
    }

    /// Whether its stages or its need model ask for learned models.
    pub fn needs_models(&self) -> bool {
        let need = self.need.as_ref();
        !self.system.models().is_empty() || need.is_some_and(|need| need.encoder().is_some())
    }
}

impl Loaded {
    /// What the system looks at to answer a split, or requests of no split: labels of dev count for
    /// test alone.
    pub fn uses(&self, split: Option<&str>) -> Vec<Uses> {
        let mut uses = self.system.uses.clone();
        uses.retain(|&uses| uses != Uses::DevLabels || split == Some("test"));
        uses
    }
}

/// Refuses a system that expects figures on a split that the collection never has: they would never
/// be compared.
pub fn check_expected(loaded: &Loaded, session: &Session) -> Result<(), Error> {
    let (collection, bank) = (session.collection, session.documents.checksum());
    let of_bank = |expected: &&Expected| bank.as_str().starts_with(&expected.bank);
    for expected in loaded.system.expected.iter().filter(of_bank) {
        if !collection.splits().contains(&expected.split.as_str()) {
            let at = Location::file(&loaded.file);
            let wanted = format!(
                "under [[expected]] a split of {}, one of {}",
                collection.kind(),
                collection.splits().join(", ")
            );
            let found = format!("`{}`", expected.split);
            return Err(Problem::new(at, ProblemKind::Configuration, wanted, found)
                .hint("names are case-sensitive")
                .into());
        }
    }
    Ok(())
}

/// Refuses two systems of one name, which would write over each other's files.
pub fn check_names_differ(systems: &[Loaded]) -> Result<(), Error> {
    let name = |index: usize| &systems[index].system.name;
    match (0..systems.len()).find(|&index| (0..index).any(|before| name(before) == name(index))) {
        Some(index) => {
            let found = format!("`{}` twice", name(index));
            let expected = "systems of different names";
            Err(Problem::new(Location::file("CONFIG"), ProblemKind::Argument, expected, found)
                .hint(
                    "files are named after systems: give one another `name`, or run them one by one",
                )
                .into())
        }
        None => Ok(()),
    }
}

/// A system declares the labels that its models are trained on, which are shown beside its figures.
fn check_training_declared(
    file: &str,
    system: &System,
    need: Option<&NeedConfig>,
) -> Result<(), Error> {
    for model in system.models() {
        if recipes::is_recipe(&model.name) {
            check_declared(file, system, Uses::TrainLabels, &model.name)?;
        }
        // A file that is no recipe is reported where the model is opened.
        let recipe = recipes::find(&model.name).ok().flatten();
        if recipe.is_some_and(|recipe| recipe.train_on == TrainOn::TrainAndDev) {
            check_declared(file, system, Uses::DevLabels, &model.name)?;
        }
    }
    if let Some(need) = need.filter(|need| need.train_on() == TrainOn::TrainAndDev) {
        check_declared(file, system, Uses::DevLabels, need.name())?;
    }
    Ok(())
}

fn check_declared(file: &str, system: &System, uses: Uses, model: &str) -> Result<(), Error> {
    if system.uses.contains(&uses) {
        return Ok(());
    }
    let expected = format!("uses = [\"{uses}\"]");
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

/// Parses `stage.key=value`, or `task.stage.key=value`, into its target and its value; `flag` is for
/// messages.
pub fn parse_assignment<'a>(text: &'a str, flag: &str) -> Result<(Override, &'a str), Error> {
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
