//! Which weights are meant by a name, and are they made of the same data and recipe? If not, they are trained.

use crate::configs;
use crate::failure::Failure;
use crate::models::{RECIPES, folder, installed, unknown};
use crate::progress::Task;
use crate::settings::{Settings, cache_folder};
use clariq_bert::train::{Event, Examples, Makes, Recipe, Trained, Training, key};
use clariq_bert::{BertEncoder, CrossEncoder, ModelFolder, Options, Precision, cached};
use clariq_collections::clariq::{Collection, Split};
use clariq_core::{Location, Problem, ProblemKind};
use clariq_files::Source;
use clariq_rank::{Embeddings, Encoder, Error, Models, Override, PairScorer, Progress};
use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// The models of one run of the command.
pub(crate) struct Registry<'a> {
    settings: &'a Settings,
    collection: &'a Collection,
    precision: Precision,
    encoders: Mutex<HashMap<String, Arc<BertEncoder>>>,
    scorers: Mutex<HashMap<String, Arc<CrossEncoder>>>,
    banks: Mutex<HashMap<String, Arc<Embeddings>>>,
}

/// The recipe of that name, or in that file.
pub(crate) fn recipe_of(name: &str) -> Result<Option<Recipe>, Failure> {
    let path = Path::new(name);
    if path.extension().is_some_and(|extension| extension == "toml") && path.is_file() {
        let input = Source::new(path).read()?;
        let text = String::from_utf8_lossy(&input.bytes);
        return Ok(Some(Recipe::parse(&input.name, &text)?));
    }
    let built_in = RECIPES.iter().find(|(known, _)| *known == name);
    Ok(built_in
        .map(|(name, text)| Recipe::parse(&format!("configs/models/{name}.toml"), text))
        .transpose()?)
}

/// What is needed to train a recipe.
struct Prepared {
    recipe: Recipe,
    base: PathBuf,
    examples: Examples,
    data: String,
    folder: PathBuf,
}

impl<'a> Registry<'a> {
    pub(crate) fn new(settings: &'a Settings, collection: &'a Collection) -> Self {
        Self {
            settings,
            collection,
            precision: settings.precision,
            encoders: Mutex::default(),
            scorers: Mutex::default(),
            banks: Mutex::default(),
        }
    }

    fn options(&self, max_tokens: Option<usize>) -> Options {
        Options {
            device: self.settings.device.clone(),
            precision: self.precision,
            threads: self.settings.threads,
            max_tokens,
        }
    }

    /// The folder of a model and where it cuts texts; a recipe whose model is not there is trained.
    fn locate(&self, name: &str) -> Result<(PathBuf, Option<usize>), Failure> {
        if let Some(recipe) = recipe_of(name)? {
            let max_tokens = recipe.max_tokens;
            let (folder, _) = self.train(recipe, true, false, None)?;
            return Ok((folder, Some(max_tokens)));
        }
        let folder = installed(name).ok_or_else(|| unknown(name))?;
        Ok((folder, None))
    }

    /// Trains a recipe unless the model that it makes of this data is there already.
    pub(crate) fn train(
        &self,
        recipe: Recipe,
        resume: bool,
        force: bool,
        output: Option<&Path>,
    ) -> Result<(PathBuf, Option<Trained>), Failure> {
        let examples = self.examples(&recipe)?;
        let prepared = self.plan(recipe, examples, output)?;
        if force && output.is_none() && prepared.folder.exists() {
            let aside = prepared.folder.with_extension("old");
            let failed = |source| clariq_core::Error::Io {
                action: "replace",
                path: prepared.folder.clone(),
                source,
            };
            std::fs::rename(&prepared.folder, &aside)
                .and_then(|()| std::fs::remove_dir_all(&aside))
                .map_err(failed)?;
        }
        if prepared.folder.join("config.json").is_file() {
            return Ok((prepared.folder.clone(), None));
        }
        let Prepared { recipe, folder, .. } = &prepared;
        self.settings.note(&format!(
            "training `{}`; it is kept in {}",
            recipe.name,
            folder.display()
        ));
        let trained = self.follow(&prepared, resume)?;
        Ok((trained.folder.clone(), Some(trained)))
    }

    fn plan(
        &self,
        recipe: Recipe,
        examples: Examples,
        output: Option<&Path>,
    ) -> Result<Prepared, Failure> {
        let base = installed(&recipe.base).ok_or_else(|| unknown(&recipe.base))?;
        let key = key(&recipe, &ModelFolder::open(&base)?.checksum, &examples);
        let usual = || folder().join(format!("{}-{}", recipe.name, &key[..12]));
        let folder = output.map_or_else(usual, Path::to_owned);
        let bank = self.collection.bank.checksum().short();
        let data = format!("Question bank {bank} of {}.", self.collection.data);
        Ok(Prepared { recipe, base, examples, data, folder })
    }

    fn follow(&self, prepared: &Prepared, resume: bool) -> Result<Trained, Failure> {
        let Prepared { recipe, base, examples, data, folder } = prepared;
        let options = self.options(Some(recipe.max_tokens));
        let training =
            Training { recipe, base, examples, data: data.clone(), options: &options, resume };
        let mut task: Option<Task> = None;
        let trained = training.run(folder, &mut |event| match event {
            Event::Resumed(step) => self.settings.note(&format!("going on after step {step}")),
            Event::StoppedEarly(step) => {
                self.settings.note(&format!("stopped early, after step {step}"))
            }
            Event::Step(row, steps) => {
                let task = task.get_or_insert_with(|| {
                    let task = Task::start(&recipe.name, *steps as u64, self.settings.progress);
                    task.advance(row.step as u64 - 1);
                    task
                });
                task.say(&format!("loss {:.4}", row.loss));
                task.advance(1);
            }
        })?;
        if let Some(task) = task {
            let (first, last) = trained.curve.loss(10).unwrap_or_default();
            task.finish(&format!(
                "{} steps, loss {first:.4} to {last:.4}",
                trained.curve.rows.len()
            ));
        }
        Ok(trained)
    }

    /// The training split in numbers, with the candidates that the recipe asks for.
    fn examples(&self, recipe: &Recipe) -> Result<Examples, Failure> {
        let labelled = self.collection.labelled(Split::Train)?;
        let bank = &self.collection.bank;
        let mut examples = Examples {
            topics: labelled.topics.iter().map(|topic| topic.id.to_string()).collect(),
            requests: labelled.topics.iter().map(|topic| topic.request.clone()).collect(),
            questions: bank.rows().iter().map(|row| row.text.clone()).collect(),
            relevant: vec![Vec::new(); labelled.topics.len()],
            candidates: vec![Vec::new(); labelled.topics.len()],
        };
        for row in &labelled.rows {
            if let Some(question) =
                bank.find(row.question.as_str()).filter(|&found| !bank.text(found).is_empty())
            {
                examples.relevant[labelled.facets[row.facet].topic].push(question);
            }
        }
        if let Some((system, depth)) = recipe.negatives() {
            self.add_candidates(recipe, system, depth, &labelled.topics, &mut examples)?;
        }
        Ok(examples)
    }

    fn add_candidates(
        &self,
        recipe: &Recipe,
        system: &str,
        depth: usize,
        topics: &[clariq_collections::clariq::Topic],
        examples: &mut Examples,
    ) -> Result<(), Failure> {
        let deeper = |stage: &str| Override {
            stage: stage.to_owned(),
            key: "depth".to_owned(),
            value: depth.to_string(),
        };
        // The first stage retrieves: it is asked for as many questions as the recipe wants.
        let shallow = configs::load(system, &[])?;
        let first = shallow.system.pipeline.stages.first().map_or("bm25", |stage| stage.name());
        let loaded = configs::load(system, &[deeper(first)])?;
        if loaded.system.models().contains(&recipe.name) {
            let at = Location::file(format!("recipe `{}`", recipe.name));
            let found = format!("`{system}`, which asks for `{}` itself", recipe.name);
            return Err(Problem::new(
                at,
                ProblemKind::Configuration,
                "negatives of a system that needs no such model",
                found,
            )
            .hint("take the negatives of `bm25-english` or of a system with an untrained model")
            .into());
        }
        let place = crate::cli::IndexPlace::usual();
        // What a model is trained on must not depend on the precision that it is run with.
        let exact =
            Registry { precision: Precision::F32, ..Registry::new(self.settings, self.collection) };
        let context = self.settings.context(&self.collection.bank, &place).with_models(&exact);
        let rankings = loaded.system.pipeline.run(&context, topics)?;
        for (topic, ranking) in rankings.into_iter().enumerate() {
            let relevant = &examples.relevant[topic];
            let askable = |question: &u32| !self.collection.bank.text(*question).is_empty();
            examples.candidates[topic] = ranking
                .into_iter()
                .map(|hit| hit.question)
                .filter(|question| !relevant.contains(question) && askable(question))
                .collect();
        }
        Ok(())
    }

    fn encoder_of(&self, name: &str) -> Result<Arc<BertEncoder>, Failure> {
        let mut encoders = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(encoder) = encoders.get(name) {
            return Ok(Arc::clone(encoder));
        }
        makes(name, Makes::Encoder)?;
        let (folder, max_tokens) = self.locate(name)?;
        let encoder = Arc::new(BertEncoder::open(&folder, &self.options(max_tokens))?);
        encoders.insert(name.to_owned(), Arc::clone(&encoder));
        Ok(encoder)
    }

    fn scorer_of(&self, name: &str) -> Result<Arc<CrossEncoder>, Failure> {
        let mut scorers = self.scorers.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(scorer) = scorers.get(name) {
            return Ok(Arc::clone(scorer));
        }
        makes(name, Makes::CrossEncoder)?;
        let (folder, max_tokens) = self.locate(name)?;
        let scorer = Arc::new(CrossEncoder::open(&folder, &self.options(max_tokens))?);
        scorers.insert(name.to_owned(), Arc::clone(&scorer));
        Ok(scorer)
    }
}

/// A recipe of that name must make what is asked for; what a folder holds shows when it is opened.
fn makes(name: &str, wanted: Makes) -> Result<(), Failure> {
    match recipe_of(name)?.map(|recipe| recipe.objective.makes()) {
        Some(found) if found != wanted => Err(wrong_kind(name, wanted, found).into()),
        _ => Ok(()),
    }
}

fn wrong_kind(name: &str, expected: Makes, found: Makes) -> Problem {
    let at = Location::file(format!("model `{name}`"));
    Problem::new(at, ProblemKind::Model, expected.to_string(), found.to_string())
        .hint("`rerank` and `cross_encode` take cross-encoders, other stages take encoders")
}

/// What stages are told when a model cannot be had.
fn as_rank_error(failure: Failure) -> Error {
    match failure {
        Failure::Report(report) => Error::Model(report),
        Failure::Output(error) => Error::Corpus(clariq_core::Error::Io {
            action: "write",
            path: PathBuf::from("standard output"),
            source: error,
        }),
    }
}

impl Models for Registry<'_> {
    fn encoder(&self, name: &str) -> Result<Arc<dyn Encoder>, Error> {
        let encoder = self.encoder_of(name).map_err(as_rank_error)?;
        Ok(encoder)
    }

    fn pair_scorer(&self, name: &str) -> Result<Arc<dyn PairScorer>, Error> {
        let scorer = self.scorer_of(name).map_err(as_rank_error)?;
        Ok(scorer)
    }

    fn prepare(&self, name: &str) -> Result<(), Error> {
        if recipe_of(name).map_err(as_rank_error)?.is_some() {
            self.locate(name).map_err(as_rank_error)?;
        }
        Ok(())
    }

    fn checksum(&self, name: &str) -> Option<String> {
        let encoders = self.encoders.lock().unwrap_or_else(PoisonError::into_inner);
        let scorers = self.scorers.lock().unwrap_or_else(PoisonError::into_inner);
        let encoder = encoders.get(name).map(|encoder| encoder.checksum().to_owned());
        encoder.or_else(|| scorers.get(name).map(|scorer| scorer.checksum().to_owned()))
    }

    fn bank(
        &self,
        name: &str,
        texts: &[&str],
        progress: Progress,
    ) -> Result<Arc<Embeddings>, Error> {
        let encoder = self.encoder_of(name).map_err(as_rank_error)?;
        let mut banks = self.banks.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(bank) = banks.get(name) {
            return Ok(Arc::clone(bank));
        }
        let task = Task::start("question bank", texts.len() as u64, self.settings.progress);
        let count = |texts: u64| {
            task.advance(texts);
            progress(texts);
        };
        let bank =
            Arc::new(cached(&cache_folder().join("embeddings"), encoder.as_ref(), texts, &count)?);
        task.finish(&format!("{} questions encoded", bank.len()));
        banks.insert(name.to_owned(), Arc::clone(&bank));
        Ok(bank)
    }
}
