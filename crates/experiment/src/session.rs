//! A session: a collection, and what work on it needs.

use crate::observer::{Observer, Silent};
use crate::options::Options;
use clariq_collections::Collection;
use clariq_core::Error;
use clariq_core::{Documents, Engine, ModelOptions, NoModels, ProblemKind};
use clariq_files::temporary::{Temporary, folder_in};
use clariq_index::{Analyzer, BuildOptions, DocumentIndex, Opened};
use clariq_rank::Context;
use std::fs;
use std::path::PathBuf;
use std::sync::{Mutex, PoisonError};

/// A collection with the options that work on it is done under, an engine for learned models, and
/// an observer.
#[derive(Clone)]
pub struct Session<'a> {
    /// The collection.
    pub collection: &'a dyn Collection,
    /// What is ranked, by the name of a task.
    pub task: &'static str,
    /// The documents of that task.
    pub documents: &'a dyn Documents,
    /// The split that is answered, which decides what models may be trained on; `None` for requests
    /// of no split.
    pub split: Option<&'static str>,
    /// How work is done.
    pub options: Options,
    /// What opens and trains learned models, where there is something that can.
    pub engine: Option<&'a dyn Engine>,
    /// What hears of the work.
    pub observer: &'a dyn Observer,
}

impl<'a> Session<'a> {
    /// A session on the collection's usual task, without an engine, that nothing hears of.
    pub fn new(collection: &'a dyn Collection, options: Options) -> Result<Self, Error> {
        let task = collection.tasks()[0];
        let documents = collection.documents(task)?;
        Ok(Self {
            collection,
            task,
            documents,
            split: None,
            options,
            engine: None,
            observer: &Silent,
        })
    }

    /// The same session on another task.
    pub fn on(self, task: &'static str) -> Result<Self, Error> {
        Ok(Self { task, documents: self.collection.documents(task)?, ..self })
    }

    /// The same session to answer a split: models may then be trained on the splits before it.
    #[must_use]
    pub fn answering(self, split: &'static str) -> Self {
        Self { split: Some(split), ..self }
    }

    /// The same session with learned models.
    #[must_use]
    pub fn with_engine(self, engine: Option<&'a dyn Engine>) -> Self {
        Self { engine, ..self }
    }

    /// The same session, observed.
    #[must_use]
    pub fn with_observer(self, observer: &'a dyn Observer) -> Self {
        Self { observer, ..self }
    }

    /// The folder of installed and trained models.
    pub fn models_folder(&self) -> PathBuf {
        self.options.cache.join("models")
    }

    /// How a model is run here that cuts texts at `max_tokens`.
    pub fn model_options(&self, max_tokens: Option<usize>) -> ModelOptions {
        ModelOptions {
            device: self.options.device.clone(),
            precision: self.options.precision,
            threads: self.options.threads,
            max_tokens,
        }
    }

    /// The engine, for a model of that name.
    pub fn engine_for(&self, name: &str) -> Result<&'a dyn Engine, Error> {
        self.engine.ok_or_else(|| NoModels::refusal(name).into())
    }

    /// What stages work on, without learned models; indexes are opened or built when a stage first
    /// needs one.
    pub fn context(&self) -> Context<'_> {
        self.context_over(self.documents)
    }

    /// The same over the documents of another task.
    pub(crate) fn context_over<'d>(&'d self, documents: &'d dyn Documents) -> Context<'d> {
        Context::new(documents, |analyzer, documents| {
            let (index, opened) = self.open_index(analyzer, documents)?;
            self.report_opened(&index, &opened);
            Ok(index)
        })
    }

    /// The same over documents that are made for a few requests: their indexes go with it.
    pub(crate) fn passing_context<'d>(&'d self, documents: &'d dyn Documents) -> Context<'d> {
        let folders: Mutex<Vec<Temporary>> = Mutex::default();
        Context::new(documents, move |analyzer, documents| {
            let folder = self.passing_folder()?;
            let (path, options) = (folder.path().join("index"), self.build_options());
            let index = DocumentIndex::rebuild(&path, documents, analyzer, &options)?;
            folders.lock().unwrap_or_else(PoisonError::into_inner).push(folder);
            Ok(index)
        })
    }

    /// A folder in the cache that is removed when it is dropped.
    fn passing_folder(&self) -> Result<Temporary, Error> {
        let path = self.options.cache.join("index");
        let make = || {
            fs::create_dir_all(&path)?;
            folder_in(&path, "passing-".as_ref())
        };
        make().map_err(|source| Error::Io { action: "write", path, source })
    }

    /// Opens an index or builds it. A damaged one in the cache is built again; one whose folder was
    /// named stays as it is.
    fn open_index(
        &self,
        analyzer: Analyzer,
        documents: &dyn Documents,
    ) -> Result<(DocumentIndex, Opened), Error> {
        let (folder, options) = (self.folder_for(analyzer, documents), self.build_options());
        match DocumentIndex::open_or_build(&folder, documents, analyzer, &options) {
            Err(Error::Problem(problem))
                if problem.kind == ProblemKind::Damaged && self.options.index.is_none() =>
            {
                let found = problem.found;
                let index = DocumentIndex::rebuild(&folder, documents, analyzer, &options)?;
                Ok((index, Opened::Rebuilt { because: found }))
            }
            other => other,
        }
    }

    /// The folder of an index: as named, or in the cache under what it is made from.
    pub fn index_folder(&self, analyzer: Analyzer) -> PathBuf {
        self.folder_for(analyzer, self.documents)
    }

    /// A folder that was named is for the documents of the session's task.
    fn folder_for(&self, analyzer: Analyzer, documents: &dyn Documents) -> PathBuf {
        let is_own = documents.checksum() == self.documents.checksum();
        self.options.index.clone().filter(|_| is_own).unwrap_or_else(|| {
            let name = format!("{analyzer}-{}", documents.checksum().short());
            self.options.cache.join("index").join(name)
        })
    }

    /// How indexes are built.
    pub fn build_options(&self) -> BuildOptions {
        BuildOptions { threads: self.options.threads, memory: self.options.memory }
    }

    /// Tells the observer how an index was come by.
    pub fn report_opened(&self, index: &DocumentIndex, opened: &Opened) {
        let folder = index.folder().display();
        match opened {
            Opened::Reused => self.observer.detail(&format!("index: {folder} is the right one")),
            Opened::Built => self.observer.detail(&format!("index: built {folder}")),
            Opened::Rebuilt { because } => {
                self.observer.note(&format!("note: rebuilt the index {folder}: {because}"));
            }
        }
    }
}
