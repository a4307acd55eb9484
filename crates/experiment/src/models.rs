//! Learned models by name: a folder, an installed model, or the model of a recipe, which must have
//! been trained before.

mod kept;
mod kept_vectors;
mod lookup;
mod notes;
pub(crate) mod opened;
mod text_cache;
mod vectors;

use crate::session::Session;
use crate::{endpoints, installed};
use clariq_core::{
    Checksum, Decoding, DocumentVectors, Documents, Embeddings, Kept, MakeKept, Model, ModelName,
    Models, Progress, Result, SharedBytes, bail, count_of,
};
use clariq_systems::recipes;
use kept_vectors::KeptVectors;
pub use lookup::needs_engine;
use lookup::{check_engine, open_lookup};
pub(crate) use opened::ModelLocation;
use std::path::PathBuf;
use std::sync::Arc;
use text_cache::TextCache;
use vectors::{TextRole, TextVectors, document_vectors};

/// The models that stages need. Each is opened once.
impl Models for Session<'_> {
    fn open(&self, model: &ModelName) -> Result<Model> {
        if endpoints::is_endpoint(self, model) {
            let open = || endpoints::open(self, model);
            return self.models.models.get_or_open(model.clone(), open);
        }
        let found = locate(self, model)?;
        let Some(engine) = self.engine else { return open_lookup(self, model, found) };
        let ModelLocation { folder, reading } = found;
        self.models.models.get_or_open(model.clone(), || {
            for note in notes::of_folder(&folder, model.kind, &reading)? {
                self.observer.note(&format!("note: `{}` {note}", model.name));
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
        if !self.caches {
            return DocumentVectors::encode_by(documents, |texts| {
                text_vectors(self, model, TextRole::Document, texts)
            })
            .map(Arc::new);
        }
        let encoder = self.encoder(model)?;
        let counted = |encode: &dyn Fn(Progress) -> Result<DocumentVectors>| {
            let task = self.observer.begin("documents", Some(documents.len() as u64));
            let encoded = encode(&|texts: u64| {
                task.advance(texts);
                progress(texts);
            })?;
            task.finish(&format!("{} encoded", count_of(documents.len(), "document")));
            Ok(Arc::new(encoded))
        };
        if endpoints::is_endpoint(self, model) {
            endpoints::check_number(model, documents.len())?;
            return counted(&|count| DocumentVectors::encode(&*encoder, documents, count));
        }
        // A collection has documents for each of its tasks.
        let key = (encoder.checksum().clone(), documents.checksum().clone());
        let folder = vectors_folder(self);
        self.models.documents.get_or_open(key, || {
            counted(&|count| document_vectors(&folder, &*encoder, documents, self.observer, count))
        })
    }

    fn keep(&self, kept: &Kept, make: MakeKept) -> Result<SharedBytes> {
        if !self.caches {
            return kept::in_memory(make, &|_| {});
        }
        let counted = |get: &dyn Fn(Progress) -> Result<SharedBytes>| {
            let task = self.observer.begin("documents", Some(kept.documents as u64));
            let bytes = get(&|documents| task.advance(documents))?;
            task.finish(&format!("{} encoded", count_of(kept.documents, "document")));
            Ok(bytes)
        };
        if endpoints::is_endpoint(self, kept.model) {
            // Responses of an endpoint are cached and recorded per call.
            endpoints::check_number(kept.model, kept.documents)?;
            return counted(&|count| kept::in_memory(make, count));
        }
        let folder = self.options.cache.join(kept.folder);
        self.models.kept.get_or_open(format!("{} {}", kept.folder, kept.key), || {
            counted(&|count| kept::kept(&folder, kept, make, self.observer, count))
        })
    }

    fn embed_requests(&self, model: &ModelName, texts: &[&str]) -> Result<Embeddings> {
        text_vectors(self, model, TextRole::Request, texts)
    }

    fn generate(
        &self,
        model: &ModelName,
        texts: &[&str],
        decoding: &Decoding,
        progress: Progress,
    ) -> Result<Vec<String>> {
        let generator = self.text_generator(model)?;
        let key = format!("{} {}", generator.checksum(), serde_json::json!(decoding));
        let mut caches = self.models.generated.lock();
        let path = self.options.cache.join("rewrites").join(Checksum::of(key.as_bytes()).as_str());
        let open = || TextCache::open(&path, "generated texts", usize::MAX, self.observer);
        let cache = caches.entry(key).or_insert_with(open);
        cache.values(texts, progress, |missing| generator.generate(missing, decoding, progress))
    }
}

fn vectors_folder(session: &Session) -> PathBuf {
    session.options.cache.join("embeddings")
}

/// The vectors of texts, read from the cache as far as possible.
fn text_vectors(
    session: &Session,
    model: &ModelName,
    role: TextRole,
    texts: &[&str],
) -> Result<Embeddings> {
    let encoder = session.encoder(model)?;
    if endpoints::is_endpoint(session, model) {
        // Responses of an endpoint are cached and recorded per call.
        return match role {
            TextRole::Request => encoder.encode(texts, &|_| {}),
            TextRole::Document => encoder.encode_documents(texts, &|_| {}),
        };
    }
    let mut caches = session.models.texts.lock();
    let key = (encoder.checksum().clone(), role);
    let vectors = caches.entry(key).or_insert_with(|| {
        // The texts of a split recur with every system; other requests may be unlimited.
        match session.split {
            Some(_) => {
                let folder = vectors_folder(session);
                vectors::text_vectors(role, &folder, &*encoder, session.observer)
            }
            None => TextVectors::Kept(KeptVectors::default()),
        }
    });
    vectors::encode_texts(vectors, role, &*encoder, texts)
}

/// True if the folder of a model is known.
pub(crate) fn is_located(session: &Session, model: &ModelName) -> bool {
    session.models.located.lock().contains_key(model)
}

/// Sets the folder of a model.
pub(crate) fn set_location(session: &Session, model: &ModelName, found: ModelLocation) {
    session.models.located.lock().insert(model.clone(), found);
}

/// Finds the folder of a model. The folder of a recipe's model is set after its training.
fn locate(session: &Session, model: &ModelName) -> Result<ModelLocation> {
    if let Some(found) = session.models.located.lock().get(model) {
        return Ok(found.clone());
    }
    let name = &model.name;
    check_engine(session, model)?;
    if recipes::find_kind(name, model.kind)?.is_some() {
        let hint = "`clariq train` trains it";
        bail!(format!("model `{name}`"), "a model that was trained", "a recipe", hint);
    }
    let folder = installed::locate(&session.models_folder(), name, model.kind)?;
    installed::check_files(name, &folder)?;
    let found = ModelLocation { folder, reading: model.reading.clone() };
    set_location(session, model, found.clone());
    Ok(found)
}
