//! What the pipelines of systems work on: a context for each task of a collection.

use crate::session::Session;
use clariq_collections::Around;
use clariq_core::Error;
use clariq_core::{
    Documents, Error as CoreError, Location, Model, ModelName, Models, Problem, ProblemKind,
};
use clariq_rank::Context;

/// A context for each task of a session's collection. Systems that share them share their indexes
/// and spaces.
pub struct Contexts<'a> {
    session: &'a Session<'a>,
    models: &'a dyn Models,
    passing: Passing<'a>,
    tasks: Vec<(&'static str, Context<'a>)>,
}

impl<'a> Contexts<'a> {
    /// Contexts for requests of the split that the session answers, or of no split: what was judged
    /// in the first split is then known.
    pub fn new(session: &'a Session<'a>, models: &'a dyn Models) -> Self {
        let collection = session.collection;
        let mut tasks = Vec::new();
        for &task in collection.tasks() {
            // A task without documents is an error where a system ranks for it.
            let documents = match collection.documents(task) {
                _ if task == session.task => session.documents,
                Ok(documents) => documents,
                Err(_) => continue,
            };
            let around = match session.split {
                Some(split) => Around::new(collection, task, split),
                None => Around::outside(collection, task),
            };
            let context = session.context_over(documents).with_models(models);
            tasks.push((task, context.within(around)));
        }
        Self { session, models, passing: Passing(models), tasks }
    }

    /// The session.
    pub fn session(&self) -> &'a Session<'a> {
        self.session
    }

    /// The models that stages ask for.
    pub fn models(&self) -> &'a dyn Models {
        self.models
    }

    /// The context of a task.
    ///
    /// # Errors
    ///
    /// A collection without that task, or without documents for it.
    pub fn of(&self, task: &str) -> Result<&Context<'a>, Error> {
        if let Some((_, context)) = self.tasks.iter().find(|(known, _)| *known == task) {
            return Ok(context);
        }
        let collection = self.session.collection;
        let task = collection.find_task(task)?;
        collection.documents(task)?;
        // They were not there when the contexts were made.
        let at = Location::file(collection.location());
        let expected = format!("documents of the task `{task}`");
        let problem = Problem::new(at, ProblemKind::MissingFile, expected, "none a moment ago");
        Err(problem.hint("were files copied there meanwhile? run it again").into())
    }

    /// A context over documents that are made for a few requests: nothing that is computed of them
    /// is kept.
    pub(crate) fn over<'b>(&'b self, documents: &'b dyn Documents) -> Context<'b> {
        self.session.passing_context(documents).with_models(&self.passing)
    }
}

/// Models that keep no vectors of documents.
struct Passing<'a>(&'a dyn Models);

impl Models for Passing<'_> {
    fn open(&self, model: &ModelName) -> Result<Model, CoreError> {
        self.0.open(model)
    }

    fn prepare(&self, model: &ModelName) -> Result<(), CoreError> {
        self.0.prepare(model)
    }
}
