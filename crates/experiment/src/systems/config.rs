//! The configuration of a system: its file, parsed and checked.

use super::overrides::variant_of;
use crate::endpoints::{self, Endpoints};
use crate::needs::NeedTable;
use crate::plan::{AnswerConfig, AskConfig, PASSAGES, Plan, STATEMENTS, each_once};
use crate::recipes;
use crate::rewrites::Rewrites;
use clariq_collections::{Collection, SystemClass};
use clariq_core::{ModelName, Result, TrainOn, bail, sha256_hex};
use clariq_eval::parse_measure;
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use clariq_rank::{
    About, ConversationConfig, ExpectedFigures, Override, Prompt, System as Parsed, Uses,
};
use clariq_tracks::TRACKS;
use std::sync::Arc;

/// The tasks for which a system with a table `[answer]` ranks.
const ANSWERED: [&str; 2] = [STATEMENTS, PASSAGES];

/// The task of collections without submissions. Its documents are passages for such a system, and
/// statements come with the requests.
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
    /// The pipelines that it ranks with and, if it answers, the rules of its answers.
    pub plan: Plan,
    /// Its models behind endpoints.
    pub endpoints: Endpoints,
    /// The table `[need]`, if the system predicts needs.
    pub need: Option<NeedTable>,
    /// The form of its multi-turn runs.
    pub conversation: ConversationConfig,
    /// The tables `[[expected]]`: the figures that it should reach on a split.
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
        let source = super::source(name)?;
        let mut config = Self::read(&source, overrides)?;
        if !overrides.is_empty()
            && let Ok(declared) = Self::read(&source, &[])
        {
            config.variant = variant_of(&declared, &source, overrides);
        }
        Ok(config)
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
        let config = Self {
            file,
            checksum: sha256_hex(&bytes),
            name,
            description,
            variant: String::new(),
            uses,
            plan,
            endpoints,
            need,
            conversation,
            expected,
            rewrites: None,
        };
        config.check()?;
        Ok(config)
    }

    fn check(&self) -> Result<()> {
        if self.need.is_none() && self.plan.ask().is_some_and(|ask| ask.need.is_some()) {
            let expected = "a table [need], whose predictions `ask.need` uses";
            let hint = "add `[need]` with `model = \"lexical\"`; the documentation lists the need models (reference, Models)";
            bail!(&*self.file, expected, "a system without one", hint);
        }
        for model in self.plan.models() {
            if !self.endpoints.contains_key(&model.name) {
                recipes::find_kind(&model.name, model.kind)?;
            }
        }
        self.check_uses_of_answers()?;
        self.check_endpoints()?;
        self.check_uses_declared()?;
        self.check_training_declared()?;
        check_measures(&self.expected)
    }

    /// Refuses uses that the class of the system does not allow.
    fn check_uses_of_answers(&self) -> Result<()> {
        if self.uses.contains(&Uses::EarlierConversations) && !self.answers() {
            let expected = "a system with a table [answer]";
            let found = "one that only ranks";
            let hint = "only iKAT's requests have earlier conversations";
            bail!(&*self.file, "{expected}, for uses = [\"earlier-conversations\"]", found, hint);
        }
        if self.uses.contains(&Uses::RelevantStatements)
            && self.class() != Some(SystemClass::Manual)
        {
            let expected = "a system with class = \"manual\", for uses = [\"relevant-statements\"]";
            let found = self.class().map_or("one that only ranks", SystemClass::name);
            let hint = "the track only allows these labels to manual runs";
            bail!(&*self.file, expected, found, hint);
        }
        Ok(())
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
        let tasks = collection.tasks().join(" and ");
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

    /// Refuses undeclared labels that models are trained on.
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

    /// Refuses undeclared uses of stages and of the models of tables.
    fn check_uses_declared(&self) -> Result<()> {
        for uses in self.about().flat_map(|about| about.uses) {
            if !self.uses.contains(&uses) {
                let hint = "the input of a system is shown beside its figures and must be declared";
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
        let hint = "the input of a system is shown beside its figures and must be declared";
        bail!(&*self.file, "uses = [\"{uses}\"]", found, hint)
    }
}

/// The maximum number of measures that a message lists.
const MOST_NAMED: usize = 9;

/// Refuses expected figures of unknown measures, which would never be compared.
fn check_measures(expected: &[ExpectedFigures]) -> Result<()> {
    let own: Vec<String> = TRACKS.kinds().iter().flat_map(|kind| (kind.figures)()).collect();
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
