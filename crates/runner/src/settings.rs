//! The common arguments resolved: folders, threads, and how much is printed on standard error.

use crate::arguments::{CommonArguments, IndexPlace, faster_precision};
use crate::learned;
use crate::messages::{name_data, note, render, say};
use crate::output::Format;
use crate::progress;
use clariq_collections::{Collection, DataDir, Kind};
use clariq_core::{Engine, Error, Hint, ProblemKind, Result, bail, gpu_number};
use clariq_experiment::{Job, Observer, Session, SessionOptions, TextStores, needs_engine};
use clariq_rank::Override;
use clariq_systems::SystemConfig;
use clariq_tracks::TRACKS;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

#[derive(Clone)]
pub(crate) struct Settings {
    /// The data folder, or the first of several.
    pub(crate) data: DataDir,
    pub(crate) data_was_named: bool,
    /// All folders that were named.
    folders: Vec<PathBuf>,
    pub(crate) options: SessionOptions,
    /// The engine for learned models, if this build has one.
    pub(crate) engine: Option<&'static dyn Engine>,
    pub(crate) format: Option<Format>,
    pub(crate) verbosity: Verbosity,
    pub(crate) progress: bool,
}

/// The default data folder.
pub(crate) const USUAL_DATA: &str = TRACKS.kinds()[0].usual;

/// The maximum number of threads; the operating system would refuse more.
const THREADS: RangeInclusive<usize> = 1..=1024;

/// The collections right below a folder, by name. Hidden folders, such as copies that notebooks keep,
/// are none.
fn collections_in(folder: &Path) -> Vec<PathBuf> {
    let entries = std::fs::read_dir(folder).into_iter().flatten().flatten();
    let shown = entries.filter(|entry| !entry.file_name().as_encoded_bytes().starts_with(b"."));
    let mut folders: Vec<PathBuf> = shown.map(|entry| entry.path()).collect();
    folders.retain(|path| {
        path.is_dir() && TRACKS.recognised(&DataDir::Folder(path.clone())).is_some()
    });
    folders.sort();
    folders
}

/// The folder, or the only collection in it if it is none itself.
fn collection_at(folder: &Path) -> PathBuf {
    if TRACKS.kind_of(&DataDir::Folder(folder.to_owned())).is_ok() {
        return folder.to_owned();
    }
    match &collections_in(folder)[..] {
        [only] => only.clone(),
        _ => folder.to_owned(),
    }
}

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
        let mut folders = data;
        folders.retain(|folder| !folder.as_os_str().is_empty());
        let data_was_named = !folders.is_empty();
        name_data(&folders);
        let data = match folders.first() {
            Some(folder) => DataDir::Folder(collection_at(folder)),
            None => TRACKS.usual_data(),
        };
        gpu_number(&device)?;
        let precision = precision.unwrap_or_else(|| faster_precision(&device));
        let options =
            SessionOptions { threads, seed, device, precision, ..SessionOptions::default() };
        let progress = !common.no_progress && !common.quiet;
        let named =
            Self { data, data_was_named, folders, options, engine, format, verbosity, progress };
        Ok(named)
    }

    /// The settings of each data folder, if several are named, or one with a collection in each of its
    /// folders; none for a single collection.
    pub(crate) fn of_each(&self) -> Vec<Self> {
        let mut folders = self.folders.clone();
        if let [folder] = &self.folders[..] {
            if TRACKS.kind_of(&self.data).is_ok() {
                return Vec::new();
            }
            folders = collections_in(folder);
        }
        let is_only = folders.len() == 1;
        let of = |folder: PathBuf| {
            let named = if is_only { self.folders.clone() } else { vec![folder.clone()] };
            Self { data: DataDir::Folder(folder), folders: named, ..self.clone() }
        };
        folders.into_iter().map(of).collect()
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

    /// Opens the collection in the data folder, and prints its name if the user named no folder.
    pub(crate) fn collection(&self) -> Result<Box<dyn Collection>> {
        self.note_default_data();
        let collection = TRACKS.open_keeping(&self.data, &TextStores::default())?;
        self.warn_of_unread(&*collection);
        Ok(collection)
    }

    fn warn_of_unread(&self, collection: &dyn Collection) {
        let unread = collection.unread_files();
        let Some(first) = unread.first() else { return };
        let are = if unread.len() == 1 {
            "1 file of the data folder is".to_owned()
        } else {
            format!("{} files of the data folder are", unread.len())
        };
        let such = format!("warning: {are} not read, such as {}: ", first.display());
        self.advise(&Hint::from(such).and(Hint::on_data("data check")).and(" lists them"));
    }

    /// The data folder, if the user named it.
    pub(crate) fn named_data(&self) -> Option<&DataDir> {
        Some(&self.data).filter(|_| self.data_was_named)
    }

    /// Opens a collection of this kind.
    pub(crate) fn open(&self, kind: &Kind) -> Result<Box<dyn Collection>> {
        (kind.open)(&self.data_of(kind), Some(&TextStores::default()))
    }

    /// The location of a collection of this kind: the data folder, if the user named one, or else the
    /// usual folder, or the built-in sample. A default is mentioned on standard error.
    pub(crate) fn data_of(&self, kind: &Kind) -> DataDir {
        if self.data_was_named || kind.usual == USUAL_DATA {
            self.note_default_data();
            return self.data.clone();
        }
        let sample = kind.sample.clone().filter(|_| !Path::new(kind.usual).is_dir());
        let Some(sample) = sample else {
            self.note(&format!("note: using {}", kind.usual));
            return DataDir::Folder(kind.usual.into());
        };
        let name = kind.name;
        self.note(&format!("note: using the built-in {name} sample (--data DIR: your own)"));
        sample
    }

    pub(crate) fn note_default_data(&self) {
        match &self.data {
            DataDir::Sample(_) => {
                self.note("note: using the built-in sample (--data DIR: your own)");
            }
            folder if !self.data_was_named => self.note(&format!("note: using {folder}")),
            DataDir::Folder(folder) => {
                if let [named] = &self.folders[..]
                    && named != folder
                {
                    let only = folder.display();
                    self.note(&format!(
                        "note: using {only}, the only collection in {}",
                        named.display()
                    ));
                }
            }
        }
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
