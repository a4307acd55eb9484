//! The common arguments resolved: threads, the format of tables, and how much is printed on standard error.

use crate::arguments::{CommonArguments, IndexPlace, faster_precision};
use crate::data_folders::DataFolders;
use crate::learned;
use crate::messages::{name_data, note, render, say};
use crate::output::Format;
use crate::progress;
use clariq_collections::Collection;
use clariq_core::{Engine, Error, Hint, ProblemKind, Result, bail, gpu_number};
use clariq_experiment::{Job, Observer, Session, SessionOptions, needs_engine};
use clariq_rank::Override;
use clariq_systems::SystemConfig;
use clariq_tracks::TRACKS;
use std::ops::RangeInclusive;
use std::path::Path;

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

#[derive(Clone)]
pub(crate) struct Settings {
    pub(crate) data: DataFolders,
    pub(crate) options: SessionOptions,
    /// The engine for learned models, if this build has one.
    pub(crate) engine: Option<&'static dyn Engine>,
    pub(crate) format: Option<Format>,
    pub(crate) verbosity: Verbosity,
    pub(crate) progress: bool,
}

/// The maximum number of threads; the operating system would refuse more.
const THREADS: RangeInclusive<usize> = 1..=1024;

impl Settings {
    pub(crate) fn new(
        common: CommonArguments,
        engine: Option<&'static dyn Engine>,
    ) -> Result<Self> {
        let CommonArguments { data, threads, seed, device, precision, format, .. } = common;
        let threads = match threads {
            Some(threads) if !THREADS.contains(&threads) => {
                let (first, last) = THREADS.into_inner();
                let hint = "leave --threads out to use every core";
                bail!("--threads", "{first} to {last}", "{threads}", hint)
            }
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let verbosity = match (common.quiet, common.verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let data = DataFolders::new(data);
        name_data(data.all_named());
        gpu_number(&device)?;
        let precision = precision.unwrap_or_else(|| faster_precision(&device));
        let options =
            SessionOptions { threads, seed, device, precision, ..SessionOptions::default() };
        let progress = !common.no_progress && !common.quiet;
        Ok(Self { data, options, engine, format, verbosity, progress })
    }

    /// The settings of each data folder, as [`DataFolders::of_each`] has them.
    pub(crate) fn of_each(&self) -> Vec<Self> {
        let each = self.data.of_each().into_iter();
        each.map(|data| Self { data, ..self.clone() }).collect()
    }

    /// Reads a system before anything is printed: the program with learned models takes over if the
    /// system needs a model.
    pub(crate) fn load(&self, name: &str, overrides: &[Override]) -> Result<SystemConfig> {
        let config = SystemConfig::open_any(name, overrides).map_err(with_split_hint)?;
        if needs_engine(&config, &self.options.cache.join("models")) {
            self.take_over()?;
        } else if self.options.device != "cpu" {
            self.note(&format!("note: `{name}` has no learned model: --device changes nothing"));
        }
        self.warn(&config.plan.cut_warnings(overrides));
        Ok(config)
    }

    /// Continues as the program with learned models, unless this is it.
    pub(crate) fn take_over(&self) -> Result<()> {
        if self.engine.is_some() { Ok(()) } else { learned::take_over() }
    }

    /// A session with these settings, and with indexes in `place` or in the user's cache.
    pub(crate) fn session<'a>(
        &'a self,
        collection: &'a dyn Collection,
        place: Option<&IndexPlace>,
    ) -> Result<Session<'a>> {
        let mut session = Session::new(collection, self.options.clone())?;
        if let Some(IndexPlace { index, memory }) = place {
            session.options.index.clone_from(index);
            session.options.memory = *memory;
        }
        session.engine = self.engine;
        session.observer = self;
        Ok(session)
    }

    pub(crate) fn note(&self, text: &str) {
        if self.verbosity >= Verbosity::Normal {
            note(text);
        }
    }

    /// Prints a note with commands, for the data folders that the user named.
    pub(crate) fn advise(&self, hint: &Hint) {
        self.note(&render(hint));
    }

    pub(crate) fn warn(&self, warnings: &[String]) {
        for warning in warnings {
            self.note(&format!("warning: {warning}"));
        }
    }

    pub(crate) fn detail(&self, text: &str) {
        if self.verbosity >= Verbosity::Verbose {
            say(text);
        }
    }
}

/// The error of a system or recipe that is not there, with the option of a split if it has the name of
/// one.
pub(crate) fn with_split_hint(error: Error) -> Error {
    let problem = error.to_problem();
    let name = problem.at.file.clone();
    if !is_known(&name) || Path::new(&name).exists() {
        return error;
    }
    let hint = format!("a split has its option: `--split {name}`");
    problem.hint(hint).kind(ProblemKind::Other).into()
}

/// True if a collection usually has a split of that name.
pub(crate) fn is_known(split: &str) -> bool {
    TRACKS.kinds().iter().any(|kind| kind.has_split(split))
}

impl Observer for Settings {
    fn note(&self, text: &str) {
        self.note(text);
    }

    fn detail(&self, text: &str) {
        self.detail(text);
    }

    fn begin(&self, name: &str, steps: Option<u64>) -> Box<dyn Job> {
        Box::new(progress::StepBar::start(name, steps, progress::STEPS, self.progress))
    }

    fn begin_download(&self, name: &str, bytes: Option<u64>) -> Box<dyn Job> {
        Box::new(progress::StepBar::start(name, bytes, progress::BYTES, self.progress))
    }
}
