//! Work on collections in folders, as the commands do it, for the tests of this crate and for those of
//! an engine, which include this file.

#![allow(dead_code, reason = "each crate and each test file uses its part")]

pub(crate) mod folder;
pub(crate) mod independence;

use clariq_collections::DataDir;
use clariq_core::{Engine, Error, Job, Observer, Silent};
use clariq_experiment::endpoints::{CallOptions, Recording, Registry};
use clariq_experiment::reproduce::check;
use clariq_experiment::run::{FileInput, RequestFileKind, RunInput, RunSummary, open_split, run};
use clariq_experiment::{
    Contexts, NeedScope, Ranker, RankerOutcome, Session, SessionOptions, UserRequest, open_system,
};
use clariq_files::Source;
use clariq_rank::Override;
use clariq_systems::SystemConfig;
use clariq_track_clariq::conversation::{ConversationShape, synthesize};
use clariq_tracks::TRACKS;
pub(crate) use folder::{Folder, root};
use std::collections::{BTreeMap, HashSet};
use std::path::PathBuf;
use std::slice;
use std::sync::{Arc, Mutex};

/// Collects notes, one a line.
#[derive(Default)]
struct Notes(Mutex<String>);

impl Observer for Notes {
    fn note(&self, text: &str) {
        let mut notes = self.0.lock().expect("the notes");
        notes.push_str(text);
        notes.push('\n');
    }

    fn detail(&self, _text: &str) {}

    fn begin(&self, _name: &str, _steps: Option<u64>) -> Box<dyn Job> {
        Box::new(Silent)
    }
}

/// Work on a split of a collection in a folder.
#[derive(Clone)]
pub(crate) struct Work<'w> {
    pub(crate) folder: &'w Folder,
    pub(crate) data: DataDir,
    pub(crate) split: Option<String>,
    pub(crate) engine: Option<&'static dyn Engine>,
    pub(crate) options: SessionOptions,
    pub(crate) set: Vec<Override>,
    /// The answers of models behind endpoints, in place of any server.
    pub(crate) replay: Option<PathBuf>,
}

impl<'w> Work<'w> {
    /// On a split of the collection in the subfolder `data`.
    pub(crate) fn on(folder: &'w Folder, data: &str, split: &str) -> Self {
        let data = DataDir::Folder(folder.path(data));
        Self { split: Some(split.to_owned()), ..Self::outside(folder, data) }
    }

    /// On a split of the sample of iKAT.
    pub(crate) fn on_ikat(folder: &'w Folder, split: &str) -> Self {
        let data = DataDir::Folder(root().join("data/sample-ikat"));
        Self { split: Some(split.to_owned()), ..Self::outside(folder, data) }
    }

    /// On a collection, but on none of its splits.
    pub(crate) fn outside(folder: &'w Folder, data: DataDir) -> Self {
        let options =
            SessionOptions { cache: folder.path("cache"), threads: 2, ..SessionOptions::default() };
        Self { folder, data, split: None, engine: None, options, set: Vec::new(), replay: None }
    }

    /// With other values of keys, each as `stage.key=value`.
    pub(crate) fn with(&self, set: &[&str]) -> Self {
        let parse = |text: &&str| clariq_systems::parse_assignment(text, "--set").expect("a key");
        Self { set: set.iter().map(parse).collect(), ..self.clone() }
    }

    /// Calls `test` with a session on the collection. Also returns the notes.
    pub(crate) fn with_session<T>(&self, test: impl FnOnce(&Session) -> T) -> (T, String) {
        let collection = TRACKS.open(&self.data).expect("the collection");
        let notes = Notes::default();
        let mut session = Session::new(&*collection, self.options.clone()).expect("a session");
        session.engine = self.engine;
        session.observer = &notes;
        if let Some(file) = &self.replay {
            let replay = Some(Recording::read(&Source::new(file)).expect("a recording"));
            let options = CallOptions { replay, max_calls: None, dry_run: false };
            session.registry = Arc::new(Registry::new(options));
        }
        if let Some(split) = &self.split {
            session = session.answering(collection.find_split(split).expect("a split"));
        }
        let done = test(&session);
        (done, notes.0.into_inner().expect("the notes"))
    }

    /// Reads a file of the folder, or a built-in system.
    pub(crate) fn load(&self, system: &str) -> Result<SystemConfig, Error> {
        let path = self.folder.path(system);
        let name = if path.is_file() { path.display().to_string() } else { system.to_owned() };
        SystemConfig::open_any(&name, &self.set)
    }

    /// Writes the run of a system over the split. Returns its size and the notes.
    pub(crate) fn run(&self, system: &str, output: &str) -> Result<(RunSummary, String), Error> {
        self.run_config(&self.load(system)?, output)
    }

    /// Writes the run of a configuration over the split. Returns its size and the notes.
    pub(crate) fn run_config(
        &self,
        config: &SystemConfig,
        output: &str,
    ) -> Result<(RunSummary, String), Error> {
        let (done, notes) = self.with_session(|session| {
            let split = session.split.expect("a split");
            let input = open_split(session, config, split, None)?;
            self.write(session, config, &*input, output)
        });
        Ok((done?, notes))
    }

    /// Writes the run of a system over a file, whose requests are of no split. Returns its size and
    /// the notes.
    pub(crate) fn run_file(
        &self,
        system: &str,
        (file, kind): (&str, RequestFileKind),
        skip_bad: bool,
        output: &str,
    ) -> Result<(RunSummary, String), Error> {
        let config = self.load(system)?;
        let outside = Self { split: None, ..self.clone() };
        let (done, notes) = outside.with_session(|session| {
            let input = FileInput::open(session, &self.folder.path(file), kind, skip_bad)?;
            self.write(session, &config, &input, output)
        });
        Ok((done?, notes))
    }

    pub(crate) fn write(
        &self,
        session: &Session,
        config: &SystemConfig,
        input: &dyn RunInput,
        output: &str,
    ) -> Result<RunSummary, Error> {
        run(&Contexts::new(session), config, input, None, &self.folder.path(output))
    }

    /// The figures of a system over the split, by measure.
    pub(crate) fn figures(&self, system: &str) -> BTreeMap<String, f64> {
        let config = self.load(system).expect("a system");
        let runs = self.folder.path("runs");
        let (figures, _) = self.with_session(|session| {
            let mut figures = BTreeMap::new();
            let split = session.split.expect("a split");
            let done = check(session, [&config], split, &runs, &mut |figure| {
                figures.extend(figure.obtained.map(|obtained| (figure.measure, obtained)));
            });
            done.map(|()| figures)
        });
        figures.expect("figures")
    }

    /// Opens a system that predicts the needs of all requests, and calls `test` with it. Also returns
    /// the notes.
    pub(crate) fn with_system<T>(
        &self,
        system: &str,
        test: impl FnOnce(&Ranker) -> T,
    ) -> Result<(T, String), Error> {
        self.with_open(&self.load(system)?, test)
    }

    /// Opens a configuration, as [`Work::with_system`] does.
    pub(crate) fn with_open<T>(
        &self,
        config: &SystemConfig,
        test: impl FnOnce(&Ranker) -> T,
    ) -> Result<(T, String), Error> {
        let (done, notes) = self.with_session(|session| {
            let contexts = Contexts::new(session);
            Ok(test(&open_system(&contexts, config, NeedScope::Always)?))
        });
        done.map(|done| (done, notes))
    }

    /// The outcome of a request.
    pub(crate) fn rank(&self, system: &str, request: UserRequest) -> RankerOutcome {
        let ranked = self.with_system(system, |system| system.rank(&[request]));
        ranked.expect("a system").0.expect("an outcome").remove(0)
    }

    /// Writes the conversations that the split's labels make.
    pub(crate) fn synthesize(&self, shape: ConversationShape, output: &str) {
        let output = self.folder.path(output);
        let (made, _) = self.with_session(|session| {
            let split = session.split.expect("a split");
            synthesize(session.collection, split, shape, slice::from_ref(&output)).map(drop)
        });
        made.expect("conversations");
    }

    /// Keeps a record of each context that golden answers to a file of conversations name.
    pub(crate) fn keep_contexts(&self, file: &str, golden: &str) {
        let named = golden.lines().filter_map(|line| line.strip_prefix("synthesized\t"));
        let mut named: HashSet<&str> =
            named.filter_map(|answer| answer.split('\t').next()).collect();
        self.folder.edit(file, |records| {
            let is_first = |record: &&str| {
                let (_, context) = record.rsplit_once("\"context_id\":").expect("a context");
                named.remove(context.trim_end_matches("}\n"))
            };
            records.split_inclusive('\n').filter(is_first).collect()
        });
    }

    /// An error as the command prints it, with `@` for the folder and `$` for the workspace.
    pub(crate) fn printed(&self, error: &Error) -> String {
        let problem = error.to_problem();
        let (title, expected, found) = (problem.title(), &problem.expected, &problem.found);
        let text = format!(
            "error: {title}\n  expected: {expected}\n     found: {found}\nhint: {}\n",
            problem.hint
        );
        let place = |path: PathBuf| path.display().to_string();
        text.replace(place(self.folder.path("")).trim_end_matches('/'), "@")
            .replace(&place(root()), "$")
    }
}
