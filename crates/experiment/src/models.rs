//! Learned models by name: a folder, an installed model, or a recipe, which is trained if need be.

mod examples;
mod training;
mod vectors;
mod written;

use crate::cache::{self, State};
use crate::recipes;
use crate::session::{Cached, Located, Session};
use clariq_core::{
    Decoding, Documents, Embeddings, Error, History, Model, ModelKind, ModelName, Models,
    Precision, Progress, Reading, Recipe, Trained, Vectors, bail, sha256_hex,
};
use serde_json::{Map, Value, json};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::{Arc, MutexGuard, PoisonError};
pub use training::Again;
pub(crate) use vectors::Apart;

/// Documents of requests, such as sentences, that are fewer are encoded sooner than kept.
const FEWEST_KEPT: usize = 1000;

impl Session<'_> {
    /// Trains a recipe unless its model of this data is there already. Returns the folder of the
    /// model, in the cache if `output` names none, and the figures of a training that was needed.
    pub fn train(
        &self,
        mut recipe: Recipe,
        again: Again,
        output: Option<&Path>,
    ) -> Result<(PathBuf, Option<Trained>), Error> {
        recipe.train_on = recipe.train_on.to_answer(self.split);
        self.engine_for(&recipe.name)?;
        // What a model is trained on must not depend on the precision that it is run with.
        let examples = examples::collect(&self.with_precision(Precision::F32), &recipe)?;
        training::obtain(self, recipe, examples, output, again)
    }

    /// Trains the models that are not there yet, then opens all; their checksums by name. The
    /// weights are part of what makes a run, and known before it begins.
    pub(crate) fn open_models(&self, models: &[ModelName]) -> Result<Map<String, Value>, Error> {
        for model in models {
            self.locate(model)?;
        }
        let mut checksums = Map::new();
        for model in models {
            let checksum = self.open(model)?.checksum().into();
            checksums.insert(model.label(), checksum);
        }
        Ok(checksums)
    }

    fn vectors_folder(&self) -> PathBuf {
        self.options.cache.join("embeddings")
    }

    /// What a model computes for each of these keys by itself; `make` computes those at the positions
    /// that are not kept. Those of a split come again with every system; others may be without end.
    fn apart(
        &self,
        model: &str,
        keys: Vec<String>,
        make: impl FnOnce(&[usize]) -> Result<Embeddings, Error>,
    ) -> Result<Embeddings, Error> {
        if self.split.is_none() {
            return make(&(0..keys.len()).collect::<Vec<_>>());
        }
        let mut apart = lock(&self.models.apart);
        let apart = apart
            .entry(model.to_owned())
            .or_insert_with(|| Apart::read(&self.vectors_folder(), model));
        apart.find(keys, make)
    }

    pub(crate) fn keep_vectors(&self) {
        lock(&self.models.apart).values_mut().for_each(Apart::keep);
    }

    /// Says how many texts and pairs each model has cut, where these are twice as many as when it was
    /// said last.
    pub(crate) fn report_cut(&self) {
        let mut reported = lock(&self.models.cut);
        let open: BTreeMap<_, _> = lock(&self.models.models).clone().into_iter().collect();
        for (model, opened) in open {
            let (cut, said) = (opened.cut(), reported.entry(model.clone()).or_default());
            if cut > 0 && cut >= *said * 2 {
                *said = cut;
                self.observer.note(&format!(
                    "note: {cut} texts or pairs were longer than `{}` reads, and were cut; \
                     `max_tokens` says where",
                    model.name
                ));
            }
        }
    }

    /// Finds a model of the right kind; a recipe whose model is not there is trained.
    fn locate(&self, model: &ModelName) -> Result<Located, Error> {
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
            let models = self.models_folder();
            let folder =
                recipes::installed(&models, name).ok_or_else(|| recipes::unknown(&models, name))?;
            check_installed(name, &folder)?;
            (folder, model.reading.clone())
        };
        lock(&self.models.located).insert(model.clone(), found.clone());
        Ok(found)
    }
}

fn lock<K, T>(cached: &Cached<K, T>) -> MutexGuard<'_, HashMap<K, T>> {
    cached.lock().unwrap_or_else(PoisonError::into_inner)
}

/// What was opened under a key, or what `open` opens now. Others that need it wait for it.
fn open_once<K: Eq + Hash, T: Clone>(
    opened: &Cached<K, T>,
    key: K,
    open: impl FnOnce() -> Result<T, Error>,
) -> Result<T, Error> {
    let mut opened = lock(opened);
    if let Some(found) = opened.get(&key) {
        return Ok(found.clone());
    }
    let new = open()?;
    opened.insert(key, new.clone());
    Ok(new)
}

/// The models that stages ask for. An unknown one is opened, and trained if need be.
impl Models for Session<'_> {
    fn open(&self, model: &ModelName) -> Result<Model, Error> {
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
    ) -> Result<Arc<Vectors>, Error> {
        let encoder = self.encoder(model)?;
        let (folder, most) = (self.vectors_folder(), vectors::MOST_UNWRITTEN);
        if !self.keeps {
            // The sentences of a whole split come again, those of a few requests hardly.
            let recur = self.split.is_some() && documents.len() >= FEWEST_KEPT;
            return Ok(Arc::new(if recur {
                vectors::cached(&folder, most, &*encoder, documents, self.observer, progress)?
            } else {
                let encode = |block| encoder.encode_block(documents, block, progress);
                Vectors::of(documents.len(), encode)?
            }));
        }
        // A collection has documents for each of its tasks.
        let key = format!("{} {}", encoder.checksum(), documents.checksum());
        open_once(&self.models.banks, key, || {
            let task = self.observer.begin("question bank", Some(documents.len() as u64));
            let count = |texts: u64| {
                task.advance(texts);
                progress(texts);
            };
            let bank = vectors::cached(&folder, most, &*encoder, documents, self.observer, &count)?;
            task.finish(&format!("{} questions encoded", documents.len()));
            Ok(Arc::new(bank))
        })
    }

    fn embed_apart(&self, model: &ModelName, texts: &[&str]) -> Result<Embeddings, Error> {
        let encoder = self.encoder(model)?;
        let keys = texts.iter().map(|text| sha256_hex(text.as_bytes())).collect();
        self.apart(encoder.checksum(), keys, |missing| {
            let missing: Vec<&str> = missing.iter().map(|&at| texts[at]).collect();
            encoder.encode_apart(&missing, &|_| {})
        })
    }

    fn embed_conversations(
        &self,
        model: &ModelName,
        conversations: &[History],
        untrained: &Embeddings,
    ) -> Result<Embeddings, Error> {
        let encoder = self.conversation_encoder(model)?;
        let keys = conversations.iter().zip(untrained.rows()).map(
            |(History { now, user, system }, row)| {
                let row: Vec<u32> = row.iter().map(|value| value.to_bits()).collect();
                sha256_hex(json!([now, user, system, row]).to_string().as_bytes())
            },
        );
        self.apart(encoder.checksum(), keys.collect(), |missing| {
            let conversations: Vec<History> =
                missing.iter().map(|&at| conversations[at].clone()).collect();
            let rows = missing.iter().flat_map(|&at| untrained.row(at)).copied();
            let untrained = Embeddings { dim: untrained.dim, values: rows.collect() };
            encoder.encode(&conversations, &untrained)
        })
    }

    fn rewrite(
        &self,
        model: &ModelName,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>, Error> {
        // Whatever is ranked for them, the requests are the same.
        let (rewriter, folder) = (self.rewriter(model)?, self.options.cache.join("rewrites"));
        written::cached(&folder, &*rewriter, texts, decoding, self.observer, progress)
    }
}

/// Refuses a folder whose files are not those of its list, which a model from elsewhere has not.
fn check_installed(name: &str, folder: &Path) -> Result<(), Error> {
    let State::Damaged { found } = cache::check(folder) else { return Ok(()) };
    if !folder.join(cache::SUMS).is_file() {
        return Ok(());
    }
    let expected = format!("the files of {} as they were written", folder.display());
    let hint =
        "`clariq setup --force` installs all-MiniLM-L6-v2 again; `clariq train` trains again";
    bail!(format!("model `{name}`"), expected, found, hint)
}
