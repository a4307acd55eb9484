//! Learned models by name: a folder, an installed model, or a recipe, which is trained if need be.
//!
//! Whoever opens a system gets its models trained, and a training may mine negatives with a system:
//! the two are one.

mod examples;
pub(crate) mod opened;
mod rewrites;
mod training;
mod vectors;

use crate::cache::{self, State};
use crate::needs::{self, Predict};
use crate::recipes;
use crate::session::{Contexts, Options, Session};
use crate::system::{Part, Query, System};
use crate::systems::Loaded;
use clariq_core::{
    Decoding, DocumentVectors, Documents, Embeddings, JudgedQuestions, Model, ModelKind, ModelName,
    Models, Precision, Progress, Reading, Recipe, Result, Trained, bail,
};
use clariq_rank::Override;
use opened::{Located, lock, open_once};
use rewrites::RewriteCache;
use serde_json::Map;
use std::path::{Path, PathBuf};
use std::sync::Arc;
pub use training::Again;
use vectors::{TextVectorCache, document_vectors};

impl<'a> System<'a> {
    /// Opens a system: its models are trained where they are not there yet, then opened. Needs are
    /// predicted if a stage looks at them.
    pub fn open(contexts: &'a Contexts<'a>, loaded: &'a Loaded) -> Result<Self> {
        Self::open_predicting(contexts, loaded, Predict::ForStages)
    }

    /// Opens a system as [`System::open`] does, and says for which requests it predicts needs.
    pub fn open_predicting(
        contexts: &'a Contexts<'a>,
        loaded: &'a Loaded,
        predict: Predict,
    ) -> Result<Self> {
        let session = contexts.session;
        loaded.check_tasks(session.collection)?;
        let models = loaded.plan.models();
        // All are trained before any is opened.
        models.iter().try_for_each(|model| session.locate(model).map(drop))?;
        let mut weights = Map::new();
        for model in &models {
            weights.insert(model.label(), session.open(model)?.checksum().into());
        }
        let need_model = needs::open(session, loaded, predict)?;
        let system = Self { contexts, loaded, need_model, weights };
        system.context(Part::Documents)?;
        Ok(system)
    }
}

impl Session<'_> {
    /// Trains a recipe unless its model of this data is there already. Returns the folder of the
    /// model, in the cache if `output` names none, and the figures of a training that was needed.
    pub fn train(
        &self,
        mut recipe: Recipe,
        again: Again,
        output: Option<&Path>,
    ) -> Result<(PathBuf, Option<Trained>)> {
        recipe.train_on = recipe.train_on.to_answer(self.split);
        self.engine_for(&recipe.name)?;
        // What a model is trained on must not depend on the precision that it is run with.
        let options = Options { precision: Precision::F32, ..self.options.clone() };
        let session = Self { options, models: Arc::default(), ..self.clone() };
        let examples = session.examples(&recipe)?;
        training::obtain(self, &recipe, &examples, output, again)
    }

    /// The training examples of a recipe, with the negatives that it mines.
    fn examples(&self, recipe: &Recipe) -> Result<JudgedQuestions> {
        let (mut judged, requests) = examples::collect(self, recipe)?;
        if let Some((system, depth)) = recipe.negatives() {
            let (contexts, loaded) = (Contexts::new(self), mining_system(recipe, system, depth)?);
            let queries: Vec<Query> = requests.into_iter().map(Query::from).collect();
            let outcomes = System::open(&contexts, &loaded)?.rank(&queries)?;
            for (topic, outcome) in outcomes.into_iter().enumerate() {
                let (relevant, questions) = (&judged.relevant[topic], &judged.questions);
                let is_negative =
                    |doc: &u32| !relevant.contains(doc) && !questions[*doc as usize].is_empty();
                let ranked = outcome.ranking.into_iter().map(|hit| hit.doc.0);
                judged.candidates[topic] = ranked.filter(is_negative).collect();
            }
        }
        Ok(judged)
    }

    fn vectors_folder(&self) -> PathBuf {
        self.options.cache.join("embeddings")
    }

    /// Finds a model of the right kind; a recipe whose model is not there is trained.
    fn locate(&self, model: &ModelName) -> Result<Located> {
        if let Some(found) = lock(&self.models.located).get(model) {
            return Ok(found.clone());
        }
        let ModelName { name, kind, .. } = model;
        self.engine_for(name)?;
        // Not under the lock: a training opens models of its own.
        let found = if let Some(recipe) = recipes::find_kind(name, *kind)? {
            let max_tokens = model.reading.max_tokens.or(Some(recipe.max_tokens));
            let reading = Reading { max_tokens, ..model.reading.clone() };
            (self.train(recipe, Again::Resume, None)?.0, reading)
        } else {
            let folder = recipes::find_installed(&self.models_folder(), name)?;
            check_installed(name, &folder)?;
            (folder, model.reading.clone())
        };
        lock(&self.models.located).insert(model.clone(), found.clone());
        Ok(found)
    }
}

/// The system that negatives are mined with, retrieving as many questions as the recipe wants.
fn mining_system(recipe: &Recipe, name: &str, depth: usize) -> Result<Loaded> {
    let shallow = Loaded::open(name, &[])?;
    let first = shallow.plan.stages().next().map_or("bm25", |stage| stage.name);
    let deeper =
        Override { stage: first.to_owned(), key: "depth".to_owned(), value: depth.to_string() };
    let loaded = Loaded::open(name, &[deeper])?;
    if loaded.plan.models().iter().any(|model| *model.name == *recipe.name) {
        let found = format!("`{name}`, which asks for `{}` itself", recipe.name);
        let hint = "take the negatives of `bm25-english` or of a system with an untrained model";
        let expected = "negatives of a system that needs no such model";
        bail!(format!("recipe `{}`", recipe.name), expected, found, hint);
    }
    Ok(loaded)
}

/// The models that stages ask for. An unknown one is opened, and trained if need be.
impl Models for Session<'_> {
    fn open(&self, model: &ModelName) -> Result<Model> {
        let (folder, reading) = self.locate(model)?;
        let engine = self.engine_for(&model.name)?;
        open_once(&self.models.models, model.clone(), || {
            let says_pooling = reading.pooling.is_some() || folder.join("modules.json").is_file();
            let from_elsewhere = !folder.join(cache::SUMS).is_file();
            if model.kind == ModelKind::Encoder && from_elsewhere && !says_pooling {
                self.observer.note(&format!(
                    "note: `{}` has no modules.json: a text's vector is the mean of its tokens', as \
                     in sentence-transformers",
                    model.name
                ));
            }
            engine.open(&folder, model.kind, &self.model_options(reading))
        })
    }

    fn embed_documents(
        &self,
        model: &ModelName,
        documents: &dyn Documents,
        progress: Progress,
    ) -> Result<Arc<DocumentVectors>> {
        let encoder = self.encoder(model)?;
        if !self.keeps {
            return Ok(Arc::new(DocumentVectors::encode(&*encoder, documents, progress)?));
        }
        // A collection has documents for each of its tasks.
        let key = format!("{} {}", encoder.checksum(), documents.checksum());
        open_once(&self.models.documents, key, || {
            let task = self.observer.begin("documents", Some(documents.len() as u64));
            let count = |texts: u64| {
                task.advance(texts);
                progress(texts);
            };
            let folder = self.vectors_folder();
            let encoded = document_vectors(&folder, &*encoder, documents, self.observer, &count)?;
            task.finish(&format!("{} documents encoded", documents.len()));
            Ok(Arc::new(encoded))
        })
    }

    fn embed_requests(&self, model: &ModelName, texts: &[&str]) -> Result<Embeddings> {
        let encoder = self.encoder(model)?;
        let mut caches = lock(&self.models.requests);
        let cache = caches.entry(encoder.checksum().to_owned()).or_insert_with(|| {
            // Requests of a split come again with every system; others may be without end.
            match self.split {
                Some(_) => TextVectorCache::open(&self.vectors_folder(), &*encoder, self.observer),
                None => TextVectorCache::default(),
            }
        });
        cache.encode(&*encoder, texts)
    }

    fn rewrite(
        &self,
        model: &ModelName,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>> {
        let rewriter = self.rewriter(model)?;
        let key = rewrites::key(&*rewriter, decoding);
        let mut caches = lock(&self.models.rewrites);
        let cache = caches.entry(key.clone()).or_insert_with(|| {
            RewriteCache::open(&self.options.cache.join("rewrites"), &key, self.observer)
        });
        cache.rewrite(&*rewriter, texts, decoding, progress)
    }
}

/// Refuses a folder whose files are not those of its list, which a model from elsewhere has not.
fn check_installed(name: &str, folder: &Path) -> Result<()> {
    let State::Damaged { found } = cache::check(folder) else { return Ok(()) };
    if !folder.join(cache::SUMS).is_file() {
        return Ok(());
    }
    let expected = format!("the files of {} as they were written", folder.display());
    let hint =
        "`clariq setup --force` installs all-MiniLM-L6-v2 again; `clariq train` trains again";
    bail!(format!("model `{name}`"), expected, found, hint)
}
