//! The open models of a session, their folders, and the vectors and texts that they computed.

use super::generated::GeneratedTextCache;
use super::vectors::{TextRole, TextVectorCache};
use clariq_core::{
    DocumentVectors, Model, ModelName, Observer, OnceMap, ReadingOverrides, SharedBytes,
};
use parking_lot::Mutex;
use std::collections::{BTreeMap, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

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
    pub(super) models: OnceMap<ModelName, Model>,
    /// The number of texts that each has cut, as last reported.
    pub(super) cut: Cached<ModelName, usize>,
    /// Vectors of documents, by the checksums of encoder and documents.
    pub(super) documents: OnceMap<String, Arc<DocumentVectors>>,
    /// Files of the cache, by kind and key.
    pub(super) kept: OnceMap<String, SharedBytes>,
    /// Vectors of requests and of documents of single requests, by the checksum of the encoder.
    pub(super) texts: Cached<(String, TextRole), TextVectorCache>,
    /// Generated texts, by model and decoding parameters.
    pub(super) generated: Cached<String, GeneratedTextCache>,
}

impl OpenedModels {
    /// Writes the vectors of texts that are new.
    pub(crate) fn save(&self) {
        self.texts.lock().values_mut().for_each(TextVectorCache::save);
    }

    /// Reports the number of texts and pairs that each model has cut, whenever it has doubled.
    pub(crate) fn report_cut(&self, observer: &dyn Observer) {
        let mut reported = self.cut.lock();
        let open: BTreeMap<_, _> = self.models.entries().into_iter().collect();
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
