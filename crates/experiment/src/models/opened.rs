//! The open models of a session, their folders, and the vectors and texts that they computed.

use super::text_cache::TextCache;
use super::vectors::{TextRole, TextVectors};
use clariq_core::{
    Checksum, CutTexts, DocumentVectors, Model, ModelName, Observer, OnceMap, ReadingOverrides,
    SharedBytes, count_of,
};
use parking_lot::Mutex;
use std::collections::HashMap;
use std::path::PathBuf;
use std::sync::Arc;

/// The folder of a model, and how it is read.
#[derive(Debug, Clone)]
pub(crate) struct ModelLocation {
    pub(crate) folder: PathBuf,
    pub(crate) reading: ReadingOverrides,
}

/// The models of a session, which its clones share.
#[derive(Default)]
pub(crate) struct OpenedModels {
    pub(super) located: Mutex<HashMap<ModelName, ModelLocation>>,
    pub(super) models: OnceMap<ModelName, Model>,
    /// The number of texts that each has cut, as last reported.
    pub(super) cut: Mutex<HashMap<ModelName, usize>>,
    /// Vectors of documents, by the checksums of encoder and documents.
    pub(super) documents: OnceMap<(Checksum, Checksum), Arc<DocumentVectors>>,
    /// Files of the cache, by kind and key.
    pub(super) kept: OnceMap<String, SharedBytes>,
    /// Vectors of requests and of documents of single requests, by the checksum of the encoder.
    pub(super) texts: Mutex<HashMap<(Checksum, TextRole), TextVectors>>,
    /// Generated texts, by model and decoding parameters.
    pub(super) generated: Mutex<HashMap<String, TextCache<String>>>,
}

impl OpenedModels {
    /// Reports the number of texts and pairs that each model has cut, whenever it has doubled.
    pub(crate) fn report_cut(&self, observer: &dyn Observer) {
        let mut reported = self.cut.lock();
        let mut open = self.models.entries();
        open.sort_by(|(model, _), (other, _)| model.cmp(other));
        for (model, opened) in open {
            let CutTexts { count, all, max_tokens } = opened.cut();
            let last = reported.entry(model.clone()).or_default();
            if count > 0 && count >= *last * 2 {
                *last = count;
                let kind = if matches!(opened, Model::CrossEncoder(_)) { "pair" } else { "text" };
                observer.note(&format!(
                    "note: `{}` cut {count} of {} at {max_tokens} tokens (`max_tokens`)",
                    model.name,
                    count_of(all, kind)
                ));
            }
        }
    }
}
