//! The open models of a session, their folders, and the vectors and texts that they computed.

use super::generated::GeneratedTextCache;
use super::vectors::{TextRole, TextVectorCache};
use clariq_core::{
    DocumentVectors, Model, ModelName, Observer, ReadingOverrides, Result, SharedBytes,
};
use std::collections::{BTreeMap, HashMap};
use std::hash::Hash;
use std::path::PathBuf;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The folder of a model, and how it is read.
#[derive(Debug, Clone)]
pub(crate) struct ModelLocation {
    pub(crate) folder: PathBuf,
    pub(crate) reading: ReadingOverrides,
}

pub(super) type Cached<K, T> = Mutex<HashMap<K, T>>;

/// The models of a session, which its clones share.
#[derive(Default)]
pub(crate) struct OpenedModels {
    pub(super) located: Cached<ModelName, ModelLocation>,
    pub(super) models: Cached<ModelName, Model>,
    /// The number of texts that each has cut, as last reported.
    pub(super) cut: Cached<ModelName, usize>,
    /// Vectors of documents, by the checksums of encoder and documents.
    pub(super) documents: Cached<String, Arc<DocumentVectors>>,
    /// Files of the cache, by kind and key.
    pub(super) kept: Cached<String, SharedBytes>,
    /// Vectors of requests and of documents of single requests, by the checksum of the encoder.
    pub(super) texts: Cached<(String, TextRole), TextVectorCache>,
    /// Generated texts, by model and decoding parameters.
    pub(super) generated: Cached<String, GeneratedTextCache>,
}

impl OpenedModels {
    /// Writes the vectors of texts that are new.
    pub(crate) fn save(&self) {
        lock(&self.texts).values_mut().for_each(TextVectorCache::save);
    }

    /// Reports the number of texts and pairs that each model has cut, whenever it has doubled.
    pub(crate) fn report_cut(&self, observer: &dyn Observer) {
        let mut reported = lock(&self.cut);
        let open: BTreeMap<_, _> = lock(&self.models).clone().into_iter().collect();
        for (model, opened) in open {
            let cut = opened.cut();
            let last = reported.entry(model.clone()).or_default();
            if cut > 0 && cut >= *last * 2 {
                *last = cut;
                observer.note(&format!(
                    "note: {cut} texts or pairs exceed what `{}` reads and were cut (`max_tokens`)",
                    model.name
                ));
            }
        }
    }
}

pub(super) fn lock<K, T>(cached: &Cached<K, T>) -> MutexGuard<'_, HashMap<K, T>> {
    cached.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Returns the value of a key; `open` makes it at the first call, and other threads wait for it.
pub(super) fn open_once<K: Eq + Hash, T: Clone>(
    opened: &Cached<K, T>,
    key: K,
    open: impl FnOnce() -> Result<T>,
) -> Result<T> {
    let mut opened = lock(opened);
    if let Some(found) = opened.get(&key) {
        return Ok(found.clone());
    }
    let new = open()?;
    opened.insert(key, new.clone());
    Ok(new)
}
