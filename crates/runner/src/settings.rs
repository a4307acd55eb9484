//! What do the raw arguments mean here? Folders, threads and how much is said.

use crate::cli::{Cli, Common, Format, IndexPlace};
use crate::failure::Failure;
use clariq_collections::clariq::{Collection, DataDir, QuestionBank};
use clariq_core::printable;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_index::{Analyzer, BankIndex, BuildOptions, Opened};
use clariq_rank::{Context, Error};
use std::env;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

/// How much is said on standard error.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd)]
pub(crate) enum Verbosity {
    Quiet,
    Normal,
    Verbose,
}

/// The common flags, resolved.
pub(crate) struct Settings {
    pub(crate) data: DataDir,
    data_was_named: bool,
    pub(crate) threads: usize,
    pub(crate) seed: u64,
    /// Where learned models are run.
    #[cfg_attr(
        not(feature = "bert"),
        expect(dead_code, reason = "only learned models look at it")
    )]
    pub(crate) device: String,
    /// What they compute with.
    #[cfg(feature = "bert")]
    pub(crate) precision: clariq_bert::Precision,
    #[cfg(not(feature = "bert"))]
    #[expect(dead_code, reason = "only learned models look at it")]
    pub(crate) precision: crate::cli::PrecisionName,
    pub(crate) format: Option<Format>,
    pub(crate) verbosity: Verbosity,
    pub(crate) progress: bool,
    /// Whether `-q` was given, which `eval -m` understands in another way.
    pub(crate) short_q: bool,
}

/// Where the real collection is looked for if nothing is named.
pub(crate) const USUAL_DATA: &str = "data/clariq";

/// More threads than any machine has cores would only be refused by the system, one after the other.
const THREADS: RangeInclusive<usize> = 1..=1024;

impl Settings {
    pub(crate) fn new(cli: &Cli) -> Result<Self, Failure> {
        let Common {
            data,
            threads,
            seed,
            device,
            precision,
            format,
            verbose,
            quiet,
            short_q,
            no_progress,
        } = cli.common.clone();
        #[cfg(feature = "bert")]
        let precision = match precision {
            crate::cli::PrecisionName::F32 => clariq_bert::Precision::F32,
            crate::cli::PrecisionName::Bf16 => clariq_bert::Precision::Bf16,
        };
        let quiet = quiet || short_q;
        let threads = match threads {
            Some(threads) if !THREADS.contains(&threads) => {
                return Err(wrong_threads(threads).into());
            }
            Some(threads) => threads,
            None => std::thread::available_parallelism().map_or(1, usize::from),
        };
        let verbosity = match (quiet, verbose) {
            (true, _) => Verbosity::Quiet,
            (_, true) => Verbosity::Verbose,
            _ => Verbosity::Normal,
        };
        let data_was_named = data.is_some();
        let usual = Path::new(USUAL_DATA);
        let data = match data {
            Some(folder) => DataDir::Folder(folder),
            None if usual.join("question_bank.tsv").exists() => DataDir::Folder(usual.to_owned()),
            None => DataDir::Sample,
        };
        let progress = !no_progress && !quiet;
        Ok(Self {
            data,
            data_was_named,
            threads,
            seed,
            device,
            precision,
            format,
            verbosity,
            progress,
            short_q,
        })
    }

    /// Says something on standard error unless that is unwanted.
    pub(crate) fn note(&self, text: &str) {
        if self.verbosity >= Verbosity::Normal {
            // A note may quote a file; its own lines stay lines.
            text.lines().for_each(|line| eprintln!("{}", printable(line, usize::MAX)));
        }
    }

    /// Says something on standard error if more is wanted.
    pub(crate) fn detail(&self, text: &str) {
        if self.verbosity >= Verbosity::Verbose {
            eprintln!("{text}");
        }
    }

    /// Opens the data folder, and says so if it was not named.
    pub(crate) fn collection(&self) -> Result<Collection, Failure> {
        self.say_which_data();
        Ok(Collection::open(self.data.clone())?)
    }

    pub(crate) fn say_which_data(&self) {
        match &self.data {
            DataDir::Sample => {
                self.note("note: using the built-in sample collection; --data names another")
            }
            folder if !self.data_was_named => self.note(&format!("note: using {folder}")),
            DataDir::Folder(_) => {}
        }
    }

    /// What stages work on, with indexes where `place` says or in the user's cache.
    pub(crate) fn context<'a>(
        &'a self,
        bank: &'a QuestionBank,
        place: &'a IndexPlace,
    ) -> Context<'a> {
        Context::new(bank, move |analyzer, bank| {
            let folder = index_folder(place, bank, analyzer);
            let (index, opened) =
                BankIndex::open_or_build(&folder, bank, analyzer, &self.build_options(place))?;
            self.say_how_opened(&index, &opened);
            Ok::<_, Error>(index)
        })
    }

    pub(crate) fn build_options(&self, place: &IndexPlace) -> BuildOptions {
        BuildOptions { threads: self.threads, memory: place.memory }
    }

    pub(crate) fn say_how_opened(&self, index: &BankIndex, opened: &Opened) {
        let folder = index.folder().display();
        match opened {
            Opened::Reused => self.detail(&format!("index: {folder} is the right one")),
            Opened::Built => self.detail(&format!("index: built {folder}")),
            Opened::Rebuilt { because } => {
                self.note(&format!("note: rebuilt the index {folder}: {because}"))
            }
        }
    }
}

fn wrong_threads(threads: usize) -> Problem {
    let expected = format!("{} to {}", THREADS.start(), THREADS.end());
    Problem::new(Location::file("--threads"), ProblemKind::Argument, expected, threads.to_string())
        .hint("leave --threads out to use every core")
}

/// The folder of an index: as named, or in the cache under what it is made from.
pub(crate) fn index_folder(place: &IndexPlace, bank: &QuestionBank, analyzer: Analyzer) -> PathBuf {
    place.index.clone().unwrap_or_else(|| {
        let name = format!("{analyzer}-{}", bank.checksum().short());
        cache_folder().join("index").join(name)
    })
}

/// `$CLARIQ_CACHE`, or `clariq` in the user's cache folder (XDG base directories), or in the folder for temporary files.
pub(crate) fn cache_folder() -> PathBuf {
    let set = |name: &str| env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    set("CLARIQ_CACHE")
        .or_else(|| set("XDG_CACHE_HOME").map(|folder| folder.join("clariq")))
        .or_else(|| env::home_dir().map(|home| home.join(".cache/clariq")))
        .unwrap_or_else(|| env::temp_dir().join("clariq"))
}
