//! Systems by name: configuration files, and built-in systems.

use crate::endpoints::{self, Endpoints};
use crate::needs::NeedTable;
use crate::plan::{AnswerConfig, AskConfig, PASSAGES, Plan, STATEMENTS};
use crate::recipes;
use crate::rewrites::Rewrites;
use clariq_collections::{Collection, KINDS, SystemClass};
use clariq_core::{
    ModelName, Problem, Recipe, Result, TrainOn, bail, problem, read_regular, sha256_hex,
};
use clariq_endpoint::EndpointConfig;
use clariq_eval::parse_measure;
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use clariq_rank::{
    Chat, ConversationConfig, ExpectedFigures, Override, Prompt, REWRITE, System as Parsed, Uses,
};
use serde_json::{Value, json};
use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

/// The systems of `configs/`, in the order in which `reproduce` shows them.
const BUILT_IN: &[(&str, &str)] = built_in!("../configs/"
    "no-question" "bm25" "bm25-english" "ql" "bm25-tuned" "dense" "dense-base" "dense-tuned"
    "bert-reranker" "bert-ranker" "published-bert-reranker" "reranker-base"
    "strict" "strict-base" "best" "best-base" "bm25-multi-turn" "bm25-conversation"
    "dense-conversation" "ikat-bm25" "ikat-dense" "ikat-automatic" "ikat-manual"
    "ikat-rewritten" "ikat-reranked" "ikat-only-response" "rerank-endpoint" "clariq-chat"
    "ikat-organisers-2025" "ikat-chat"
);

/// The file of a built-in system.
pub fn built_in(name: &str) -> Option<&'static str> {
    BUILT_IN.iter().find(|(known, _)| *known == name).map(|(_, text)| *text)
}

/// The names of all built-in systems.
pub fn names() -> impl Iterator<Item = &'static str> {
    BUILT_IN.iter().map(|(name, _)| *name)
}

/// The tasks of a collection that a system with a table `[answer]` ranks for.
const ANSWERED: [&str; 2] = [STATEMENTS, PASSAGES];

/// The task whose documents such a system uses as passages. Its statements come with the requests.
const DOCUMENTS: &str = "documents";

/// The parsed and checked configuration of a system.
pub struct SystemConfig {
    /// The file, for messages.
    pub file: String,
    /// The SHA-256 of the file.
    pub checksum: String,
    /// Its name, which is the stem of its output files and its run tag.
    pub name: String,
    /// Its description in a line.
    pub description: String,
    /// The suffix of its name for overridden parameters: `-k1-0.9`.
    pub variant: String,
    /// Its input beyond one request and the documents.
    pub uses: Vec<Uses>,
    /// Its plan.
    pub plan: Plan,
    /// Its models behind endpoints.
    pub endpoints: Endpoints,
    /// Its need model.
    pub need: Option<NeedTable>,
    /// The form of its multi-turn runs.
    pub conversation: ConversationConfig,
    /// Its expected figures.
    pub expected: Vec<ExpectedFigures>,
    /// Rewritten utterances of its requests.
    pub rewrites: Option<Arc<Rewrites>>,
}

impl SystemConfig {
    /// Reads the file `name`, or the built-in system of that name, which must rank for one task.
    pub fn open(name: &str, overrides: &[Override]) -> Result<Self> {
        Self::open_any(name, overrides)?.of_one_task()
    }

    /// Refuses a system of several tasks.
    pub fn of_one_task(self) -> Result<Self> {
        if let Plan::Answer(plan) = &self.plan {
            let tasks: Vec<&str> = plan.tasks().map(|(task, _)| task).collect();
            let found = format!("one for {}", tasks.join(", "));
            let hint = "systems of several tasks answer the requests of iKAT's splits";
            bail!(self.file, "a system for one task", found, hint);
        }
        Ok(self)
    }

    /// Reads a system of one task or of several.
    pub fn open_any(name: &str, overrides: &[Override]) -> Result<Self> {
        let source = if Path::new(name).exists() {
            Source::new(name)
        } else {
            let text = built_in(name).ok_or_else(|| unknown(name))?;
            Source::memory(format!("configs/{name}.toml"), text.as_bytes().to_vec())
        };
        let mut loaded = Self::read(&source, overrides)?;
        if !overrides.is_empty()
            && let Ok(declared) = Self::read(&source, &[])
        {
            loaded.variant = variant_of(&declared, &source, overrides);
        }
        Ok(loaded)
    }

    /// Reads a system, and checks its stages, models and figures.
    pub fn read(source: &Source, overrides: &[Override]) -> Result<Self> {
        let mut need = None;
        let mut answer = None;
        let mut endpoints = Endpoints::new();
        let mut ask = None;
        let parsed = Parsed::read(source, overrides, |section| {
            let at = section.at.clone();
            match section.key {
                "models" => endpoints = endpoints::read(section)?,
                "need" => need = Some(NeedTable::read(section)?),
                "answer" => answer = Some((at, AnswerConfig::read(section)?)),
                _ => ask = Some((at, AskConfig::read(section)?)),
            }
            Ok(())
        })?;
        let file = source.name();
        let bytes = source.read_at_most(MOST_OF_A_CONFIGURATION)?.bytes;
        let Parsed { name, description, uses, conversation, expected, .. } = parsed;
        let plan = Plan::new(&file, parsed.pipeline, parsed.tasks, answer, ask)?;
        if need.is_none() && plan.ask().is_some_and(|ask| ask.need.is_some()) {
            let expected = "a table [need], whose predictions `ask.need` looks at";
            let hint = "add `[need]` with `model = \"lexical\"`; the documentation lists the need models (reference, Models)";
            bail!(&*file, expected, "a system without one", hint);
        }
        for model in plan.models() {
            if !endpoints.contains_key(&model.name) {
                recipes::find_kind(&model.name, model.kind)?;
            }
        }
        let checksum = sha256_hex(&bytes);
        let variant = String::new();
        let loaded = Self {
            file,
            checksum,
            name,
            description,
            variant,
            uses,
            plan,
            endpoints,
            need,
            conversation,
            expected,
            rewrites: None,
        };
        if loaded.uses.contains(&Uses::EarlierConversations) && !loaded.answers() {
            let expected = "a system with a table [answer]";
            let found = "one that ranks alone";
            let hint = "what is known from earlier conversations is a part of iKAT's requests";
            bail!(&*loaded.file, "{expected}, for uses = [\"earlier-conversations\"]", found, hint);
        }
        if loaded.uses.contains(&Uses::RelevantStatements)
            && loaded.class() != Some(SystemClass::Manual)
        {
            let expected = "a system with class = \"manual\", for uses = [\"relevant-statements\"]";
            let found = loaded.class().map_or("one that ranks alone", SystemClass::name);
            let hint = "the track allows these labels to manual runs alone";
            bail!(&*loaded.file, expected, found, hint);
        }
        loaded.check_endpoints()?;
        loaded.check_chats_declared()?;
        loaded.check_training_declared()?;
        check_measures(&loaded.expected)?;
        Ok(loaded)
    }

    /// Adds rewrites, which the system declares and the names of its runs contain.
    ///
    /// # Errors
    ///
    /// A system whose own model rewrites utterances.
    pub fn with_rewrites(mut self, rewrites: Option<&Arc<Rewrites>>) -> Result<Self> {
        if let Some(rewrites) = rewrites {
            if self.plan.stages().any(|stage| stage.name == REWRITE) {
                let found = format!("`{}`, which has a key `rewrite`", self.name);
                let hint = "the rewrites would be rewritten; leave one of the two out";
                bail!("--rewrites", "a system without a model that rewrites", found, hint);
            }
            let stem = rewrites.read.file.split('.').next().unwrap_or_default();
            self.variant += &suffix(&format!("-rewrites-{stem}"), &rewrites.read.sha256);
            self.uses.push(rewrites.by);
        }
        Ok(Self { rewrites: rewrites.cloned(), ..self })
    }

    /// The class of its submissions, if it answers. Rewrites by people make manual runs.
    pub fn class(&self) -> Option<SystemClass> {
        let by_people = self.uses.contains(&Uses::RewritesByPeople);
        let class = self.plan.answer()?.class;
        Some(if by_people { SystemClass::Manual } else { class })
    }

    /// Its name with overridden parameters, for files and run tags.
    pub fn full_name(&self) -> String {
        format!("{}{}", self.name, self.variant)
    }

    /// All of its models, each once.
    pub fn models(&self) -> Vec<ModelName> {
        let mut models = self.plan.models();
        let of_need = self.need.as_ref().and_then(NeedTable::chat).map(Chat::model_name);
        models.extend(of_need.filter(|model| !models.contains(model)));
        models
    }

    /// The prompts of its chat models, each once.
    pub fn prompts(&self) -> Vec<Prompt> {
        let mut prompts = self.plan.prompts();
        let of_need = self.need.as_ref().and_then(NeedTable::chat).map(|chat| chat.prompt.clone());
        prompts.extend(of_need.filter(|prompt| !prompts.contains(prompt)));
        prompts
    }

    /// True if it answers.
    pub fn answers(&self) -> bool {
        self.plan.answer().is_some()
    }

    /// True if it writes responses or questions, and does not only rank.
    pub fn writes(&self) -> bool {
        self.plan.answer().is_some_and(|config| config.response.is_some())
    }

    /// True if a collection with these tasks has all tasks of the system.
    pub fn ranks_for(&self, tasks: &[&str]) -> bool {
        !self.answers() || tasks == [DOCUMENTS] || ANSWERED.iter().all(|task| tasks.contains(task))
    }

    /// True if it answers by the tasks of a collection with submissions.
    pub fn is_for(&self, collection: &dyn Collection) -> bool {
        ANSWERED.iter().all(|task| collection.tasks().contains(task)) == self.answers()
    }

    /// Refuses a collection without the tasks of the system.
    pub fn check_tasks(&self, collection: &dyn Collection) -> Result<()> {
        if self.ranks_for(collection.tasks()) {
            return Ok(());
        }
        let expected = format!("a collection with {}", ANSWERED.join(" and "));
        let there = collection.tasks().join(" and ");
        let kind = collection.kind();
        let found = format!("{kind} in {}, with {there}", collection.location());
        let name = &self.name;
        bail!(
            "--data",
            expected,
            found,
            "`{name}` is for such a collection: --data names its folder"
        )
    }

    /// The installed models that its stages need, themselves or as bases of recipes, each once.
    pub fn bases(&self) -> Result<Vec<String>> {
        let mut bases = Vec::new();
        let models = self.plan.models().into_iter();
        for model in models.filter(|model| !self.is_elsewhere(&model.name)) {
            let recipe = recipes::find(&model.name)?;
            let base = recipe.map_or(model.name, |recipe| recipe.base);
            if !bases.contains(&base) {
                bases.push(base);
            }
        }
        Ok(bases)
    }

    /// Its input for requests of a split. Labels of dev are used for test only.
    pub fn uses_for(&self, split: Option<&str>) -> Vec<Uses> {
        let mut uses = self.uses.clone();
        uses.retain(|&uses| uses != Uses::DevLabels || split == Some("test"));
        uses
    }

    /// Its expected figures for documents with this checksum.
    pub(crate) fn expected_of<'s>(
        &'s self,
        bank: &'s str,
    ) -> impl Iterator<Item = &'s ExpectedFigures> {
        self.expected.iter().filter(move |expected| bank.starts_with(&expected.bank))
    }

    /// A system declares the labels that its models are trained on.
    fn check_training_declared(&self) -> Result<()> {
        for model in self.plan.models() {
            if recipes::is_recipe(&model.name) {
                self.check_declared(Uses::TrainLabels, &model.name, "is trained on them")?;
            }
            // A file that is no recipe is reported when the model is opened.
            let recipe = recipes::find(&model.name).ok().flatten();
            if recipe.is_some_and(|recipe| recipe.train_on == TrainOn::TrainAndDev) {
                self.check_declared(Uses::DevLabels, &model.name, "is trained on them")?;
            }
        }
        match &self.need {
            Some(NeedTable::Trained(need)) if need.train_on() == TrainOn::TrainAndDev => {
                self.check_declared(Uses::DevLabels, need.name(), "is trained on them")
            }
            _ => Ok(()),
        }
    }

    /// A system declares what the chat models of its tables use. Those of stages are checked before.
    fn check_chats_declared(&self) -> Result<()> {
        let of_stages = self.plan.stages().flat_map(|stage| stage.uses);
        let of_need = self.need.as_ref().and_then(NeedTable::chat);
        let of_chats = self.plan.chats().into_iter().chain(of_need).flat_map(Chat::uses);
        for uses in of_stages.chain(of_chats) {
            if !self.uses.contains(&uses) {
                let hint =
                    "what a system looks at is shown beside its figures and must be declared";
                let found = format!("{:?}", self.uses);
                bail!(&*self.file, "uses = [\"{uses}\"]", found, hint);
            }
        }
        Ok(())
    }

    /// Refuses a model whose input or output the system does not declare.
    pub(crate) fn check_declared(&self, uses: Uses, model: &str, does: &str) -> Result<()> {
        let declared = &self.uses;
        if declared.contains(&uses) {
            return Ok(());
        }
        let found = format!("{declared:?}, and the model `{model}`, which {does}");
        let hint = "what a system looks at is shown beside its figures and must be declared";
        bail!(&*self.file, "uses = [\"{uses}\"]", found, hint)
    }
}

/// The maximum length of a name's suffix for overridden parameters.
const LONGEST_VARIANT: usize = 60;

/// The suffix of a name for overrides that change a parameter: `-k1-0.9-b-0.4`, or a checksum if it
/// is too long or ambiguous.
fn variant_of(declared: &SystemConfig, source: &Source, overrides: &[Override]) -> String {
    let mut name = String::new();
    let mut all = String::new();
    for one in overrides {
        let Override { stage, key, value } = one;
        let changed = SystemConfig::read(source, std::slice::from_ref(one));
        if changed.is_ok_and(|changed| parameters(&changed) == parameters(declared)) {
            continue;
        }
        name.extend(["-", key, "-", value.trim_matches('"')]);
        all.extend([stage, ".", key, "=", value, "\n"]);
    }
    suffix(&name, &sha256_hex(all.as_bytes()))
}

/// The settings of a system that parameters of the command line can change.
fn parameters(system: &SystemConfig) -> Value {
    let stages = system.plan.stages().map(|stage| (stage.name, stage.parameters));
    let stages = stages.collect::<Vec<_>>();
    let endpoints = system.endpoints.values().map(EndpointConfig::describe);
    let endpoints = endpoints.collect::<Vec<_>>();
    json!([stages, endpoints, system.plan.answer(), system.plan.ask(), system.need])
}

/// A text as a part of a file name, or the first digits of its checksum if it cannot be one.
fn suffix(name: &str, checksum: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.len() <= LONGEST_VARIANT && name.chars().all(is_plain) {
        return name.to_owned();
    }
    format!("-{}", &checksum[..12])
}

/// Refuses two systems with the same name, which would overwrite each other's files.
pub fn check_names_differ(systems: &[SystemConfig]) -> Result<()> {
    let mut seen = HashSet::new();
    if let Some(again) = systems.iter().find(|loaded| !seen.insert(&loaded.name)) {
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
    let mut found: Vec<Recipe> = Vec::new();
    for name in names {
        for recipe in recipes_of(name)? {
            if found.iter().all(|known| known.name != recipe.name) {
                found.push(if set.is_empty() { recipe } else { recipe.with(set)? });
            }
        }
    }
    Ok(found)
}

fn recipes_of(name: &str) -> Result<Vec<Recipe>> {
    // A file is a recipe if it has an objective.
    let says_objective = || {
        read_regular(name.as_ref(), MOST_OF_A_CONFIGURATION)
            .is_ok_and(|text| String::from_utf8_lossy(&text).contains("[objective]"))
    };
    match recipes::find(name) {
        Ok(Some(recipe)) => return Ok(vec![recipe]),
        Err(error) if says_objective() => return Err(error),
        _ => {}
    }
    let mut trained = Vec::new();
    for model in SystemConfig::open(name, &[])?.plan.models() {
        trained.extend(recipes::find(&model.name)?);
    }
    if trained.is_empty() {
        let expected = "a system with a trained model, or a recipe";
        let found = format!("`{name}`, which needs no model that is trained");
        bail!("CONFIG", expected, found, "the documentation lists the recipes (reference, Models)");
    }
    Ok(trained)
}

/// No system has this name: the hint suggests a built-in system or a file with a similar one.
pub fn unknown(name: &str) -> Problem {
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
    let entries = std::fs::read_dir(place).into_iter().flatten().flatten();
    let paths = entries.map(|entry| folder.join(entry.file_name()));
    paths
        .filter(|path| path.extension().is_some_and(|ending| ending == "toml"))
        .map(|path| path.display().to_string())
        .collect()
}

/// Parses `stage.key=value`, or `task.stage.key=value`; `flag` is for messages.
pub fn parse_assignment(text: &str, flag: &str) -> Result<Override> {
    let parts = text.split_once('=').and_then(|(key, value)| Some((key.split_once('.')?, value)));
    let parts = parts.map(|((stage, key), value)| [stage, key, value].map(str::to_owned));
    let Some([stage, key, value]) = parts.filter(|parts| !parts.iter().any(String::is_empty))
    else {
        let expected = "stage.key=value, for example bm25.k1=0.9";
        bail!(
            flag,
            expected,
            "`{text}`",
            "the documentation lists all stages and their keys (reference, Stages)"
        )
    };
    Ok(Override { stage, key, value })
}

const MOST_NAMED: usize = 9;

/// Refuses expected figures of unknown measures, which would never be compared.
fn check_measures(expected: &[ExpectedFigures]) -> Result<()> {
    let own: Vec<String> = KINDS.iter().flat_map(|kind| (kind.figures)()).collect();
    for (name, at) in expected.iter().flat_map(|expected| &expected.lines) {
        if !own.contains(name) && parse_measure(name).is_err() {
            let own = own[..MOST_NAMED.min(own.len())].join(", ");
            let wanted = format!("a measure such as {own}, or one that `clariq eval -m` knows");
            bail!(at, wanted, "`{name}`", "names are case-sensitive, as in nDCG@3")
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use clariq_rank::System;

    #[test]
    fn a_misspelt_measure_is_refused_with_its_line() {
        let check = |expected: &str| {
            let stages = "[[stages]]\nstage = \"no_question\"\nrank = 1\n";
            let of = "collection = \"c\"\nbank = \"b\"\nsplit = \"dev\"\n";
            let text = format!("name = \"x\"\n{stages}[[expected]]\n{of}{expected}\n");
            let system = System::parse("x.toml", &text, &[]).unwrap();
            check_measures(&system.expected).map_err(|error| error.to_string())
        };
        let error = check("[expected.measures]\n\"R@5\" = 1.0\n\"r@30\" = 0.5").unwrap_err();
        assert!(error.starts_with("x.toml:11: ") && error.ends_with("`r@30`"), "{error}");
        assert!(error.contains("need F1, MRR100, P1, NDCG3, NDCG5, or one that"), "{error}");
        check("measures = { \"R@5\" = 1.0, \"R@30\" = 0.5 }").unwrap();
        let error = check("measures = {}\npublished = { \"R@x\" = 0.5 }").unwrap_err();
        assert!(error.starts_with("x.toml:10: "), "{error}");
    }
}
