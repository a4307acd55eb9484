//! Learned models in this process: starting one that loads libtorch takes a third of a second, more
//! than most of what they compute. Models are named by their paths in the bench, written as `@/`:
//! every process has one working folder.

use super::Bench;
use clariq_collections::DataDir;
use clariq_core::{Error, Job, Observer, Silent, TrainingSummary};
use clariq_experiment::run::{FileInput, RequestFileKind, RunInput, open_split, run};
use clariq_experiment::training::{TrainMode, check_output, train};
use clariq_experiment::{Contexts, Session, SessionOptions};
use clariq_rank::Override;
use clariq_systems::recipes::is_recipe;
use clariq_systems::{SystemConfig, find_recipes};
use parking_lot::{Mutex, MutexGuard};
use std::path::PathBuf;

/// Collects notes.
#[derive(Default)]
struct Notes(Mutex<String>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        let mut notes = self.0.lock();
        notes.push_str(text);
        notes.push('\n');
    }

    fn detail(&self, _text: &str) {}

    fn begin(&self, _name: &str, _steps: Option<u64>) -> Box<dyn Job> {
        Box::new(Silent)
    }
}

/// Writes a file in which `@/` stands for the folder of the bench.
pub(crate) fn write(bench: &Bench, name: &str, text: &str) {
    bench.write(name, text.replace("@/", &bench.path("").display().to_string()));
}

/// libtorch draws dropout from one generator per process: trainings side by side would disturb each
/// other.
fn train_alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock()
}

/// An error as the command prints it.
pub(crate) fn printed(error: &Error) -> String {
    let problem = error.to_problem();
    let (expected, found) = (&problem.expected, &problem.found);
    format!(
        "error: {}\n  expected: {expected}\n     found: {found}\nhint: {}\n",
        problem.title(),
        problem.hint
    )
}

/// A data folder, a split and a number of threads.
#[derive(Clone, Copy)]
pub(crate) struct Work<'w> {
    pub(crate) bench: &'w Bench,
    pub(crate) data: &'w str,
    pub(crate) split: &'static str,
    pub(crate) threads: usize,
}

impl<'w> Work<'w> {
    /// On a split of a data folder.
    pub(crate) fn on(bench: &'w Bench, data: &'w str, split: &'static str) -> Self {
        Self { bench, data, split, threads: 2 }
    }

    /// Calls `test` with a session on the collection in the data folder, with an engine. Also
    /// returns the notes.
    pub(crate) fn with_session<T>(self, test: impl FnOnce(&Session) -> T) -> (T, String) {
        let folder = DataDir::Folder(self.bench.path(self.data));
        let collection = clariq_tracks::TRACKS.open(&folder).expect("the collection");
        let notes = Notes::default();
        let cache = self.bench.path("cache");
        let options = SessionOptions { cache, threads: self.threads, ..SessionOptions::default() };
        let mut session = Session::new(&*collection, options).expect("a session");
        session.engine = Some(&clariq_bert::Torch);
        session.observer = &notes;
        let done = test(&session);
        (done, notes.0.into_inner())
    }

    fn load(self, system: &str, set: &[[&str; 3]]) -> Result<SystemConfig, Error> {
        let value = |&[stage, key, value]: &[&str; 3]| {
            let [stage, key, value] = [stage, key, value].map(str::to_owned);
            Override { stage, key, value }
        };
        let path = self.bench.path(system).display().to_string();
        SystemConfig::open_any(&path, &set.iter().map(value).collect::<Vec<_>>())
    }

    /// Writes the run of a system over the split, with other values of keys of stages, each as (stage,
    /// key, value). Returns the notes.
    pub(crate) fn run(
        self,
        system: &str,
        set: &[[&str; 3]],
        output: &str,
    ) -> Result<String, Error> {
        let config = self.load(system, set)?;
        let is_trained = config.plan.models().iter().any(|model| is_recipe(&model.name));
        let _alone = is_trained.then(train_alone);
        let (done, notes) = self.with_session(|session| {
            let split = session.collection.find_split(self.split).expect("a split");
            let session = session.clone().answering(split);
            let input = open_split(&session, &config, split, None)?;
            self.write(&session, &config, &*input, output)
        });
        done.map(|()| notes)
    }

    /// The run by a system over a file of conversations.
    pub(crate) fn run_conversations(
        self,
        system: &str,
        set: &[[&str; 3]],
        file: &str,
    ) -> Result<String, Error> {
        let config = self.load(system, set)?;
        let (done, _) = self.with_session(|session| {
            let path = self.bench.path(file);
            let input = FileInput::open(session, &path, RequestFileKind::Conversations, false)?;
            self.write(session, &config, &input, "here.run")
        });
        done.map(|()| self.bench.text("here.run"))
    }

    fn write(
        self,
        session: &Session,
        config: &SystemConfig,
        input: &dyn RunInput,
        output: &str,
    ) -> Result<(), Error> {
        let contexts = Contexts::new(session);
        let path = self.bench.path(output);
        run(&contexts, config, input, None, &path).map(drop)
    }

    /// Trains a recipe, with other values of its keys, into a folder or the cache. Returns the
    /// folder, the summary of a training that was needed, and the notes.
    pub(crate) fn train(
        self,
        recipe: &str,
        set: &[&str],
        mode: TrainMode,
        output: Option<&str>,
    ) -> Result<(PathBuf, Option<TrainingSummary>, String), Error> {
        let set: Vec<String> = set.iter().map(|&set| set.to_owned()).collect();
        let names = [self.bench.path(recipe).display().to_string()];
        let recipe = find_recipes(&names, &set)?.remove(0);
        let output = output.map(|name| self.bench.path(name));
        if mode == TrainMode::Reuse {
            output.iter().try_for_each(|output| check_output(output, 1))?;
        }
        let _alone = train_alone();
        let (trained, notes) = self.with_session(|session| {
            let split = session.collection.find_split(self.split).expect("a split");
            let session = session.clone().answering(split);
            train(&session, recipe, mode, output.as_deref())
        });
        trained.map(|(folder, trained)| (folder, trained, notes))
    }
}
