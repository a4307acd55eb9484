//! Learned models by name: a folder, an installed model, or a recipe whose model is trained when it
//! is first needed.

mod examples;
mod training;
mod vectors;

use crate::cache::{self, State};
use crate::recipes;
use crate::session::Session;
use clariq_core::Error;
use clariq_core::{
    Embeddings, Location, Model, ModelKind, ModelName, Models, Precision, Problem, ProblemKind,
    Progress, Recipe, Trained, sha256,
};
use clariq_files::{MOST_OF_A_CONFIGURATION, Source};
use std::collections::HashMap;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
pub use training::Again;

type Opened<K, T> = Mutex<HashMap<K, T>>;

/// The models of a session, each opened once.
pub struct Registry<'a> {
    session: &'a Session<'a>,
    models: Opened<ModelName, Model>,
    banks: Opened<String, Arc<Embeddings>>,
}

impl<'a> Registry<'a> {
    /// A registry in which nothing is open yet.
    pub fn new(session: &'a Session<'a>) -> Self {
        Self { session, models: Mutex::default(), banks: Mutex::default() }
    }

    /// Trains a recipe unless the model that it makes of this data is there already. The folder of
    /// the model, in the cache if `output` names none, and what came of the training if there was
    /// one.
    pub fn train(
        &self,
        mut recipe: Recipe,
        again: Again,
        output: Option<&Path>,
    ) -> Result<(PathBuf, Option<Trained>), Error> {
        recipe.train_on = recipe.train_on.to_answer(self.session.split);
        self.session.engine_for(&recipe.name)?;
        // What a model is trained on must not depend on the precision that it is run with.
        let mut exact = self.session.clone();
        exact.options.precision = Precision::F32;
        let examples = examples::collect(&exact, &recipe, &Registry::new(&exact))?;
        training::prepare(self.session, recipe, examples, output)?.obtain(self.session, again)
    }

    /// The folder of a model of the right kind and where it cuts texts; a recipe whose model is not
    /// there is trained.
    fn locate(&self, name: &str, kind: ModelKind) -> Result<(PathBuf, Option<usize>), Error> {
        if let Some(recipe) = recipes::find_kind(name, kind)? {
            let max_tokens = recipe.max_tokens;
            let (folder, _) = self.train(recipe, Again::Resume, None)?;
            return Ok((folder, Some(max_tokens)));
        }
        let models = self.session.models_folder();
        let folder = recipes::installed(&models, name);
        let folder = folder.ok_or_else(|| recipes::unknown(&models, name))?;
        check_installed(name, &folder)?;
        let max_tokens = max_sequence(&folder).filter(|_| kind == ModelKind::Encoder);
        Ok((folder, max_tokens))
    }

    fn encode_bank(
        &self,
        name: &str,
        texts: &[&str],
        progress: Progress,
    ) -> Result<Arc<Embeddings>, Error> {
        let encoder = self.encoder(name)?;
        // A collection has documents for each of its tasks.
        let separated = texts.iter().flat_map(|text| [text.as_bytes(), b"\0"]);
        let key = format!("{name} {}", sha256(separated).short());
        open_once(&self.banks, key, || {
            let task = self.session.observer.begin("question bank", Some(texts.len() as u64));
            let count = |texts: u64| {
                task.advance(texts);
                progress(texts);
            };
            let folder = self.session.options.cache.join("embeddings");
            let bank =
                vectors::cached(&folder, encoder.as_ref(), texts, self.session.observer, &count)?;
            task.finish(&format!("{} questions encoded", bank.len()));
            Ok(Arc::new(bank))
        })
    }
}

/// What was opened under a key, or what `open` opens now. Others that need it wait for it.
fn open_once<K: Eq + Hash, T: Clone>(
    opened: &Opened<K, T>,
    key: K,
    open: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut opened = opened.lock().unwrap_or_else(PoisonError::into_inner);
    if let Some(found) = opened.get(&key) {
        return Ok(found.clone());
    }
    let new = open()?;
    opened.insert(key, new.clone());
    Ok(new)
}

/// Refuses a folder whose files are not those of its list. A model from elsewhere has none, and
/// only its engine can tell.
fn check_installed(name: &str, folder: &Path) -> Result<(), Problem> {
    let State::Damaged { found } = cache::check(folder) else { return Ok(()) };
    if !folder.join(cache::SUMS).is_file() {
        return Ok(());
    }
    let at = Location::file(format!("model `{name}`"));
    let expected = format!("the files of {} as they were written", folder.display());
    Err(Problem::new(at, ProblemKind::Checksum, expected, found).hint(
        "`clariq setup --force` installs all-MiniLM-L6-v2 again; `clariq train` trains again",
    ))
}

impl Models for Registry<'_> {
    fn open(&self, model: &ModelName) -> Result<Model, Error> {
        open_once(&self.models, model.clone(), || {
            let engine = self.session.engine_for(&model.name)?;
            let (folder, max_tokens) = self.locate(&model.name, model.kind)?;
            engine.open(&folder, model.kind, &self.session.model_options(max_tokens))
        })
    }

    fn prepare(&self, model: &ModelName) -> Result<(), Error> {
        if recipes::find_kind(&model.name, model.kind)?.is_some() {
            self.locate(&model.name, model.kind)?;
        }
        Ok(())
    }

    fn embed_documents(
        &self,
        name: &str,
        texts: &[&str],
        progress: Progress,
    ) -> Result<Arc<Embeddings>, Error> {
        Ok(self.encode_bank(name, texts, progress)?)
    }
}

/// Where the folder of a sentence encoder says that texts are cut. Other folders say nothing of it,
/// and a text that is too long for their model is an error.
fn max_sequence(folder: &Path) -> Option<usize> {
    let file = Source::Path(folder.join("sentence_bert_config.json"));
    let bytes = file.read_at_most(MOST_OF_A_CONFIGURATION).ok()?.bytes;
    let config: serde_json::Value = serde_json::from_slice(&bytes).ok()?;
    config["max_seq_length"].as_u64().filter(|&most| most >= 8).map(|most| most as usize)
}
