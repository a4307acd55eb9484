//! What the pipelines of systems share: a context for each task of a collection.

use crate::session::Session;
use clariq_collections::Around;
use clariq_core::{Documents, Error, bail};
use clariq_rank::Context;

/// A context for each task of a session's collection. Systems that share them share their indexes
/// and spaces.
pub struct Contexts<'a> {
    session: &'a Session<'a>,
    /// The session for documents of a few requests, of which nothing is kept.
    passing: Session<'a>,
    tasks: Vec<(&'static str, Context<'a>)>,
}

impl<'a> Contexts<'a> {
    /// Contexts for requests of the split that the session answers, or of no split: what was judged
    /// in the first split is then known.
    pub fn new(session: &'a Session<'a>) -> Self {
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
            let mut context = session.context(documents);
            context.surroundings = Some(Box::new(around));
            tasks.push((task, context));
        }
        Self { session, passing: session.passing(), tasks }
    }

    /// The session.
    pub fn session(&self) -> &'a Session<'a> {
        self.session
    }

    /// The context of a task; an error where the collection has no documents for it.
    pub(crate) fn of(&self, task: &str) -> Result<&Context<'a>, Error> {
        if let Some((_, context)) = self.tasks.iter().find(|(known, _)| *known == task) {
            return Ok(context);
        }
        let collection = self.session.collection;
        collection.documents(collection.find_task(task)?)?;
        // They were not there when the contexts were made.
        let hint = "were files copied there meanwhile? run it again";
        bail!(collection.location(), "documents of the task `{task}`", "none a moment ago", hint)
    }

    /// A context over documents that are made for a few requests: nothing that is computed of them
    /// is kept.
    pub(crate) fn over<'b>(&'b self, documents: &'b dyn Documents) -> Context<'b> {
        self.passing.context(documents)
    }
}
