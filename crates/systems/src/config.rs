//! The configuration of a system: its file, parsed and checked.

mod based;
mod check;
mod variant;
mod written;

use crate::need::NeedTable;
use crate::overrides::suffix;
use crate::plan::{AnswerConfig, AskConfig, PASSAGES, Plan, STATEMENTS, each_once};
use crate::rewrites::Rewrites;
use crate::{built_in, models, recipes};
use based::Based;
use clariq_collections::{Collection, DOCUMENTS, SystemClass, Task};
use clariq_core::{Checksum, Error, Location, ModelName, Request, Result, SplitRole, bail};
use clariq_files::{FileContent, MOST_OF_A_CONFIGURATION, Source};
use clariq_rank::{
    About, ConversationConfig, ExpectedScores, Override, Prompt, REWRITE, Sections, SystemFile,
    Uses,
};
use models::Endpoints;
use std::collections::HashSet;
use std::sync::Arc;

/// The tasks of a collection whose every request has statements of its user.
const WITH_STATEMENTS: [&str; 2] = [STATEMENTS, PASSAGES];

/// The parsed and checked configuration of a system.
pub struct SystemConfig {
    /// The file, for messages.
    pub file: String,
    /// The SHA-256 of the file.
    pub checksum: Checksum,
    /// Its name, which is the stem of its output files and its run tag.
    pub name: String,
    /// Its description in a line.
    pub description: String,
    /// The data on which its parameters were chosen, if any were.
    pub chosen_on: Option<String>,
    /// The suffix of its name for overridden parameters: `-k1-0.9`.
    pub variant: String,
    /// Its input beyond one request and the documents.
    pub uses: Vec<Uses>,
    /// The pipelines that it ranks with and, if it answers, the rules of its answers.
    pub plan: Plan,
    /// Its models behind endpoints.
    pub endpoints: Endpoints,
    /// The table `[need]`, if the system predicts needs.
    pub need: Option<NeedTable>,
    /// The form of its multi-turn runs.
    pub conversation: ConversationConfig,
    /// The tables `[[expected]]`: the scores that it should reach on a split.
    pub expected: Vec<ExpectedScores>,
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
            let hint = "systems of several tasks answer the requests of iKAT and MTRAG";
            bail!(self.file, "a system for one task", found, hint);
        }
        Ok(self)
    }

    /// Reads a system of one task or of several.
    pub fn open_any(name: &str, overrides: &[Override]) -> Result<Self> {
        let text = ConfigText::read(&built_in::source(name)?)?;
        let mut config = Self::parse(&text, overrides)?;
        if !overrides.is_empty()
            && let Ok(declared) = Self::parse(&text, &[])
        {
            config.variant = variant::variant_of(&declared, &text, overrides);
        }
        Ok(config)
    }

    /// Reads a system, and checks its stages, models and declared input.
    pub fn read(source: &Source, overrides: &[Override]) -> Result<Self> {
        Self::parse(&ConfigText::read(source)?, overrides)
    }

    fn parse(text: &ConfigText, overrides: &[Override]) -> Result<Self> {
        let Some(based) = &text.based else { return Self::parse_given(text, overrides) };
        let all = [&*based.set, overrides].concat();
        let system = Self::parse_given(&based.text, &all).map_err(|error| based.located(error))?;
        Ok(based.named(system, text))
    }

    fn parse_given(text: &ConfigText, overrides: &[Override]) -> Result<Self> {
        Self::parse_as_given(text, overrides).map_err(|error| match error {
            Error::Problem(mut problem) if problem.at.file == text.name => {
                if let Some(change) = culprit(text, overrides) {
                    problem.at = change.location();
                }
                problem.into()
            }
            other => other,
        })
    }

    fn parse_as_given(text: &ConfigText, overrides: &[Override]) -> Result<Self> {
        let ConfigText { name: file, text, checksum, .. } = text;
        let (parsed, sections) = SystemFile::parse_with_sections(file, text, overrides)?;
        let Sections { models, need, answer, ask } = sections;
        let endpoints = models.map(models::read).transpose()?.unwrap_or_default();
        let need = need.map(NeedTable::read).transpose()?;
        let answer = answer.map(|section| {
            let at = section.at.clone();
            Ok::<_, Error>((at, AnswerConfig::read(section)?))
        });
        let ask = ask.map(|section| {
            let at = section.at.clone();
            Ok::<_, Error>((at, AskConfig::read(section)?))
        });
        let SystemFile { name, description, chosen_on, uses, conversation, expected, .. } = parsed;
        let plan =
            Plan::new(file, parsed.pipeline, parsed.tasks, answer.transpose()?, ask.transpose()?)?;
        let config = Self {
            file: file.clone(),
            checksum: checksum.clone(),
            name,
            description,
            chosen_on,
            variant: String::new(),
            uses,
            plan,
            endpoints,
            need,
            conversation,
            expected,
            rewrites: None,
        };
        check::check(&config)?;
        Ok(config)
    }

    /// The class of its submissions, if it answers. Utterances that people resolved make manual runs.
    pub fn class(&self) -> Option<SystemClass> {
        let by_people = self.uses.contains(&Uses::RewritesByPeople);
        let class = self.plan.answer()?.class;
        Some(if by_people { SystemClass::Manual } else { class })
    }

    /// Its name with overridden parameters, for files and run tags.
    pub fn full_name(&self) -> String {
        format!("{}{}", self.name, self.variant)
    }

    /// Its stages, and the models that its tables name.
    fn about(&self) -> impl Iterator<Item = About> {
        self.plan.about().chain(self.need.as_ref().and_then(NeedTable::about))
    }

    /// All of its models, each once.
    pub fn models(&self) -> Vec<ModelName> {
        each_once(self.about().flat_map(|about| about.models))
    }

    /// Its prompts, each once.
    pub fn prompts(&self) -> Vec<Prompt> {
        each_once(self.about().flat_map(|about| about.prompts))
    }

    /// True if it answers.
    pub fn answers(&self) -> bool {
        self.plan.answer().is_some()
    }

    /// True if it writes responses or questions, and does not only rank.
    pub fn writes(&self) -> bool {
        self.plan.answer().is_some_and(|config| config.response.is_some())
    }

    /// True if a collection with these tasks has all tasks of the system. Documents of the user's own
    /// are passages for a system that answers, and statements come with the requests.
    pub fn ranks_for(&self, tasks: &[Task]) -> bool {
        let of_documents = tasks == [DOCUMENTS];
        !self.answers() || of_documents || has_all(tasks, self.answered_tasks())
    }

    /// The tasks for which a system that answers ranks.
    fn answered_tasks(&self) -> &'static [&'static str] {
        if self.ranks_statements() { &WITH_STATEMENTS } else { &[PASSAGES] }
    }

    /// True if it ranks the statements of a user.
    pub fn ranks_statements(&self) -> bool {
        matches!(&self.plan, Plan::Answer(plan) if plan.statements.is_some())
    }

    /// True if it answers by the tasks of a collection with submissions.
    pub fn is_for(&self, collection: &dyn Collection) -> bool {
        let tasks = collection.tasks();
        if self.answers() { has_all(tasks, self.answered_tasks()) } else { !has_answered(tasks) }
    }

    /// Refuses a collection without the tasks of the system.
    pub fn check_tasks(&self, collection: &dyn Collection) -> Result<()> {
        if self.ranks_for(collection.tasks()) {
            return Ok(());
        }
        let expected = format!("a collection with {}", self.answered_tasks().join(" and "));
        let tasks: Vec<&str> = collection.tasks().iter().map(|task| task.name()).collect();
        let tasks = tasks.join(" and ");
        let found = format!("{} in {}, with {tasks}", collection.kind(), collection.location());
        let hint = format!("`{}` is for such a collection: --data names its folder", self.name);
        bail!("--data", expected, found, hint)
    }

    /// The installed models that its stages need, themselves or as bases of recipes, each once.
    pub fn bases(&self) -> Result<Vec<String>> {
        let mut bases = Vec::new();
        for model in self.plan.models() {
            if self.is_behind_endpoint(&model.name) {
                continue;
            }
            let recipe = recipes::find(&model.name)?;
            let base = recipe.map_or(model.name, |recipe| recipe.base);
            if !bases.contains(&base) {
                bases.push(base);
            }
        }
        Ok(bases)
    }

    /// Its input for requests of a split with this role: what it declares, and the labels by which its
    /// parameters were chosen. Labels of dev are used for held-out requests only.
    pub fn uses_for(&self, role: Option<SplitRole>) -> Vec<String> {
        let is_of_role =
            |uses: &&Uses| **uses != Uses::DevLabels || role == Some(SplitRole::HeldOut);
        let uses = self.uses.iter().filter(is_of_role).map(ToString::to_string);
        uses.chain(self.chosen_on.iter().map(|on| format!("chosen on {on}"))).collect()
    }

    /// Its expected scores for documents with this checksum.
    pub fn expected_of<'s>(
        &'s self,
        bank: &'s Checksum,
    ) -> impl Iterator<Item = &'s ExpectedScores> {
        self.expected.iter().filter(move |expected| bank.starts_with(&expected.bank))
    }

    /// True if a model of its stages needs an engine: one that is not behind an endpoint.
    pub fn needs_models(&self) -> bool {
        let models = self.models();
        models.iter().any(|model| !self.is_behind_endpoint(&model.name))
    }

    /// True if the model of this name is behind an endpoint.
    pub fn is_behind_endpoint(&self, model: &str) -> bool {
        self.endpoints.contains_key(model)
    }

    /// Adds rewrites, which the system declares and the names of its runs contain.
    ///
    /// # Errors
    ///
    /// A system whose own model rewrites utterances.
    pub fn with_rewrites(mut self, rewrites: Option<&Arc<Rewrites>>) -> Result<Self> {
        let Some(rewrites) = rewrites else { return Ok(self) };
        if self.plan.stages().any(|stage| stage.name == REWRITE) {
            let found = format!("`{}`, which has a key `rewrite`", self.name);
            let hint = "the rewrites would be rewritten; leave one of the two out";
            bail!("--rewrites", "a system without a model that rewrites", found, hint);
        }
        let author = if rewrites.by() == Uses::RewritesByPeople { "people" } else { "model" };
        let name = format!("-rewrites-{}-by-{author}", rewrites.stem());
        self.variant += &suffix(&name, rewrites.checksum());
        self.uses.push(rewrites.by());
        self.rewrites = Some(Arc::clone(rewrites));
        Ok(self)
    }

    /// This system under the name of another with the same file.
    #[must_use]
    pub fn with_variant_of(mut self, other: &Self) -> Self {
        self.variant.clone_from(&other.variant);
        self
    }

    /// Replaces the utterances of requests by their rewrites, if there are any.
    pub fn apply_rewrites(&self, collection: &dyn Collection, requests: &mut [Request]) {
        if let Some(rewrites) = &self.rewrites {
            rewrites.apply(collection, requests);
        }
    }
}

/// The override without which, and without those behind it, a file is a system; `None` if the file itself
/// is none.
fn culprit<'o>(text: &ConfigText, overrides: &'o [Override]) -> Option<&'o Override> {
    let is_system =
        |count: &usize| SystemConfig::parse_as_given(text, &overrides[..*count]).is_ok();
    (0..overrides.len()).take_while(is_system).last().map(|index| &overrides[index])
}

/// True if every request of a collection with these tasks has statements of its user, and passages.
pub fn has_answered(tasks: &[Task]) -> bool {
    has_all(tasks, &WITH_STATEMENTS)
}

fn has_all(tasks: &[Task], names: &[&str]) -> bool {
    names.iter().all(|name| tasks.iter().any(|task| task.name() == *name))
}

/// The text of a configuration.
struct ConfigText {
    /// The file, for messages.
    name: String,
    text: String,
    /// The checksum of the file and, if it is based on another, of that.
    checksum: Checksum,
    based: Option<Box<Based>>,
}

impl ConfigText {
    fn read(source: &Source) -> Result<Self> {
        let FileContent { name, bytes, .. } = source.read_at_most(MOST_OF_A_CONFIGURATION)?;
        let text = match std::str::from_utf8(&bytes) {
            Ok(text) => text.to_owned(),
            Err(error) => {
                let start = error.valid_up_to();
                let line = bytes[..start].split(|&byte| byte == b'\n').count() as u64;
                let found = format!("the byte 0x{:02x}", bytes[start]);
                let hint = "convert the file, for example with `iconv -f latin1 -t utf-8`, if it is \
                            a configuration";
                bail!((Location::line(name, line)), "TOML in UTF-8", found, hint)
            }
        };
        let based = Based::read(&name, &text)?.map(Box::new);
        let checksum = match &based {
            Some(based) => Checksum::of_pieces([&bytes[..], based.text.text.as_bytes()]),
            None => Checksum::of(&bytes),
        };
        Ok(Self { name, text, checksum, based })
    }

    /// The file whose keys the system has, and the parameters that override them.
    fn with_keys(&self, overrides: &[Override]) -> (&Self, Vec<Override>) {
        match &self.based {
            Some(based) => (&based.text, [&*based.set, overrides].concat()),
            None => (self, overrides.to_vec()),
        }
    }
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
