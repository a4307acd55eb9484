//! A session: a collection, options, and open models.

use crate::cache;
use crate::models::opened::OpenedModels;
use clariq_collections::{Collection, EarlierJudgements, Split, Task};
use clariq_core::{
    Documents, Engine, Error, ModelOptions, NoModels, Observer, Precision, ProblemKind,
    ReadingOverrides, Result, Silent, bail,
};
use clariq_index::{Analyzer, BuildOptions, DocumentIndex, OpenedIndex};
use clariq_net::Registry;
use clariq_rank::{Context, Tallies};
use std::path::PathBuf;
use std::sync::Arc;

/// The options of a session.
#[derive(Debug, Clone)]
pub struct SessionOptions {
    /// Threads of learned models and index building. Results do not depend on the number.
    pub threads: usize,
    /// Seed of cross-validation and of bootstraps; a training recipe has a seed of its own.
    pub seed: u64,
    /// The device of learned models: `cpu`, `cuda:0` and so on.
    pub device: String,
    /// The precision of learned models.
    pub precision: Precision,
    /// Folder of indexes, models and vectors.
    pub cache: PathBuf,
    /// Folder of the index, instead of one in the cache.
    pub index: Option<PathBuf>,
    /// Bytes of memory for building an index.
    pub memory: usize,
    /// A saved need model, instead of the one that a system declares.
    pub need_model: Option<PathBuf>,
    /// The team in submissions whose form names it.
    pub team: Option<String>,
}

impl Default for SessionOptions {
    fn default() -> Self {
        Self {
            threads: std::thread::available_parallelism().map_or(1, usize::from),
            seed: 42,
            device: "cpu".to_owned(),
            precision: Precision::F32,
            cache: cache::folder(),
            index: None,
            memory: 256_000_000,
            need_model: None,
            team: None,
        }
    }
}

/// A collection with options, an engine for learned models, and an observer.
#[derive(Clone)]
pub struct Session<'a> {
    /// The collection that provides documents, requests and labels.
    pub collection: &'a dyn Collection,
    /// The task that the session ranks for, one of [`Collection::tasks`].
    pub task: Task,
    /// The documents of that task.
    pub documents: &'a dyn Documents,
    /// The split of the requests, if any. It limits the labels that models are trained on.
    pub split: Option<Split>,
    /// Settings such as threads, device and folders.
    pub options: SessionOptions,
    /// Opens and trains learned models, if the program has an engine.
    pub engine: Option<&'a dyn Engine>,
    /// Receives notes and progress.
    pub observer: &'a dyn Observer,
    /// The models behind servers.
    pub registry: Arc<Registry>,
    /// Counts of answers of models that could not be used as they are.
    pub(crate) tallies: Arc<Tallies>,
    /// The open models, which clones share.
    pub(crate) models: Arc<OpenedModels>,
    /// True if indexes and vectors are cached.
    pub(crate) caches: bool,
}

impl<'a> Session<'a> {
    /// A session on the usual task of a collection, without an engine and an observer.
    pub fn new(collection: &'a dyn Collection, options: SessionOptions) -> Result<Self> {
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
            registry: Arc::default(),
            tallies: Arc::default(),
            models: Arc::default(),
            caches: true,
        })
    }

    /// The same session for another task of the collection.
    ///
    /// # Errors
    ///
    /// An unknown task, or one without documents.
    pub fn ranking_for(self, task: &str) -> Result<Self> {
        let task = self.collection.find_task(task)?;
        Ok(Self { task, documents: self.collection.documents(task)?, ..self })
    }

    /// The same session for requests of a split. Models may be trained on the splits before it.
    #[must_use]
    pub fn answering(self, split: Split) -> Self {
        Self { split: Some(split), models: Arc::default(), ..self }
    }

    /// The folder of installed and trained models.
    pub(crate) fn models_folder(&self) -> PathBuf {
        self.options.cache.join("models")
    }

    /// The options of a model.
    pub fn model_options(&self, reading: ReadingOverrides) -> ModelOptions {
        ModelOptions {
            device: self.options.device.clone(),
            precision: self.options.precision,
            threads: self.options.threads,
            reading,
        }
    }

    /// The engine, for a model of that name.
    pub(crate) fn engine_for(&self, name: &str) -> Result<&'a dyn Engine> {
        self.engine.ok_or_else(|| NoModels::refusal(name))
    }

    /// The context of stages over these documents. Indexes are opened when a stage needs them.
    pub fn context<'d>(&'d self, documents: &'d dyn Documents) -> Context<'d> {
        let open = move |analyzer, documents: &dyn Documents| {
            if !self.caches {
                return DocumentIndex::in_memory(documents, analyzer);
            }
            let (index, opened) = self.open_index(analyzer, documents)?;
            self.report_opened(&index, &opened);
            Ok(index)
        };
        let mut context = Context::new(documents, open);
        context.models = self;
        context.observer = self.observer;
        context.tallies = Arc::clone(&self.tallies);
        context
    }

    /// Begins to count the answers of models, for a run over so many requests; `None` if their number is not
    /// known.
    pub(crate) fn begin_answers(&self, requests: Option<usize>) {
        self.tallies.begin(requests);
    }

    /// Reports what there is to tell about the answers of models.
    pub(crate) fn report_answers(&self) {
        let calls = self.registry.calls();
        for note in calls.take_notes() {
            self.observer.note(&note);
        }
        self.tallies.report(if calls.is_dry_run() { &Silent } else { self.observer });
    }

    /// Ends the run whose answers were counted.
    ///
    /// # Errors
    ///
    /// More answers for a use had another form than may have.
    pub(crate) fn end_answers(&self) -> Result<()> {
        self.tallies.end()
    }

    /// Opens or builds an index. A damaged one is built again, unless the user named its folder.
    fn open_index(
        &self,
        analyzer: Analyzer,
        documents: &dyn Documents,
    ) -> Result<(DocumentIndex, OpenedIndex)> {
        let folder = self.folder_for(analyzer, documents);
        let options = self.build_options();
        match DocumentIndex::open_or_build(&folder, documents, analyzer, &options) {
            Err(Error::Problem(problem))
                if problem.kind == ProblemKind::Damaged && self.options.index.is_none() =>
            {
                let found = problem.found;
                let index = DocumentIndex::rebuild(&folder, documents, analyzer, &options)?;
                Ok((index, OpenedIndex::Rebuilt { because: found }))
            }
            other => other,
        }
    }

    /// The folder of an index: the one that the user named, which is for the documents of the session's
    /// task, or one in the cache.
    pub fn folder_for(&self, analyzer: Analyzer, documents: &dyn Documents) -> PathBuf {
        if let Some(folder) = &self.options.index
            && documents.checksum() == self.documents.checksum()
        {
            return folder.clone();
        }
        let name = format!("{analyzer}-{}", documents.checksum().short());
        self.options.cache.join("index").join(name)
    }

    /// The options of index building.
    pub fn build_options(&self) -> BuildOptions {
        BuildOptions { threads: self.options.threads, memory: self.options.memory }
    }

    /// Reports if an index was reused, built, or built again.
    pub fn report_opened(&self, index: &DocumentIndex, opened: &OpenedIndex) {
        let folder = index.folder().display();
        match opened {
            OpenedIndex::Reused => {
                self.observer.detail(&format!("index: reused {folder}"));
            }
            OpenedIndex::Built => self.observer.detail(&format!("index: built {folder}")),
            OpenedIndex::Rebuilt { because } => {
                self.observer.note(&format!("note: rebuilt the index {folder}: {because}"));
            }
        }
    }
}

/// The contexts of the tasks of a collection. Systems share their indexes and spaces.
pub struct Contexts<'a> {
    /// The session whose collection the tasks belong to.
    pub session: &'a Session<'a>,
    /// The session for documents of single requests, such as sentences: it caches nothing.
    uncached: Session<'a>,
    tasks: Vec<(Task, Context<'a>)>,
}

impl<'a> Contexts<'a> {
    /// Contexts for requests of the session's split. For requests of no split, judgements of the first
    /// split count as earlier ones.
    pub fn new(session: &'a Session<'a>) -> Self {
        let collection = session.collection;
        let mut tasks = Vec::new();
        for &task in collection.tasks() {
            // A task without documents is an error only if a system ranks for it.
            let documents = match collection.documents(task) {
                _ if task == session.task => session.documents,
                Ok(documents) => documents,
                Err(_) => continue,
            };
            let judgements = match session.split {
                Some(split) => EarlierJudgements::new(collection, task, split),
                None => EarlierJudgements::outside(collection, task),
            };
            let mut context = session.context(documents);
            context.surroundings = Some(Box::new(judgements));
            tasks.push((task, context));
        }
        Self { session, uncached: Session { caches: false, ..session.clone() }, tasks }
    }

    /// The context of a task; an error if the collection has no documents for it.
    pub(crate) fn of(&self, task: Task) -> Result<&Context<'a>> {
        if let Some((_, context)) = self.tasks.iter().find(|(known, _)| *known == task) {
            return Ok(context);
        }
        let collection = self.session.collection;
        collection.documents(task)?;
        // The documents appeared after the contexts were made.
        let hint = "files were copied there in the meantime: run the command again";
        bail!(collection.location(), "documents of the task `{task}`", "none a moment ago", hint)
    }

    /// A context over documents of single requests, without a cache.
    pub(crate) fn over<'b>(&'b self, documents: &'b dyn Documents) -> Context<'b> {
        self.uncached.context(documents)
    }
}
