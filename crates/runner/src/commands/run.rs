//! `clariq run`: ranks every request of a split or of a file, by one or several systems.

use crate::arguments::{IndexPlace, ParameterArguments, RewriteArguments, parse_tag};
use crate::commands::calls::{CallArgs, DryRunTable};
use crate::commands::reproduce::uses_cell;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::documents::document_files;
use clariq_collections::evaluation::does_not_apply;
use clariq_collections::{Collection, OWN, Split};
use clariq_core::{Result, SplitRole, bail};
use clariq_experiment::reproduce::check_expected;
use clariq_experiment::run::{
    CandidateRun, FileInput, RequestFileKind, RunInput, open_split, run as write_run, usual_path,
};
use clariq_experiment::{Contexts, Session, TextStores};
use clariq_files::{Source, Target};
use clariq_rank::Override;
use clariq_systems::{SystemConfig, check_names_differ};
use clariq_tracks::TRACKS;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct RunArgs {
    /// Built-in systems or configuration files
    #[arg(required = true, value_name = "CONFIG")]
    configs: Vec<String>,
    /// Split to run on [default: dev, or the only split]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// Run file to write; the need file, the TREC runs of a submission and the record are written
    /// beside it; `-` for standard output [default: runs/<collection>/<system>.<split>.run, or
    /// .json or .jsonl for submissions; the collection is clariq, ikat, mtrag, sample, or the name of
    /// the data folder]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// File of conversations to answer instead of a split: a pickle, JSON lines or the
    /// human-generated table; `-` for standard input [default output: as for a split, with the name
    /// of the file]
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    conversations: Option<PathBuf>,
    /// File of requests to answer instead of a split, as JSON lines in the format of `clariq rank`;
    /// `-` for standard input [default output: as for a split, with the name of the file]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["split", "conversations"])]
    requests: Option<PathBuf>,
    /// Rank, for each request, only the documents that this TREC run lists for it; any engine can
    /// have made the run [default: all documents]
    #[arg(long, value_name = "RUN", conflicts_with_all = ["conversations", "requests"])]
    candidates: Option<PathBuf>,
    /// File of passages to use instead of those in the data folder, or folder of such files, as
    /// JSON lines or TrecWeb; repeatable; with --candidates, only the passages in that run
    /// are read
    #[arg(long, value_name = "FILE", conflicts_with_all = ["conversations", "requests"])]
    passages: Vec<PathBuf>,
    /// Maximum number of documents per request: the depth of the only stage that has one [default: that
    /// of the system; 1000 for documents of your own, where it has one such stage]
    #[arg(long, value_name = "K")]
    depth: Option<NonZeroUsize>,
    /// Skip bad conversations or lines, and report how many
    #[arg(long)]
    skip_bad: bool,
    /// Task of the collection to rank for, such as a domain of MTRAG [default: the usual one]
    #[arg(long, value_name = "TASK")]
    task: Option<String>,
    /// Run tag, the last field of every line; TEAM/MODEL fills both columns of ClariQ's leaderboard
    /// [default: the system's name]
    #[arg(long, value_name = "TAG", value_parser = parse_tag)]
    run_tag: Option<String>,
    /// `team_id` of an iKAT submission, in 2025's form [default: clariq]
    #[arg(long, value_name = "NAME", value_parser = clap::builder::NonEmptyStringValueParser::new(),
          conflicts_with_all = ["conversations", "requests"])]
    team: Option<String>,
    /// Predict the need file by this model, saved by `clariq need train -o`, instead of the system's
    /// own
    #[arg(long, value_name = "FILE")]
    need_model: Option<PathBuf>,
    #[command(flatten)]
    rewritten: RewriteArguments,
    #[command(flatten)]
    parameters: ParameterArguments,
    #[command(flatten)]
    calls: CallArgs,
    #[command(flatten)]
    place: IndexPlace,
}

impl RunArgs {
    /// The file whose requests are ranked, if they are not those of a split.
    fn file(&self) -> Option<(&Path, RequestFileKind)> {
        if let Some(file) = &self.conversations {
            return Some((file, RequestFileKind::Conversations));
        }
        let file = self.requests.as_ref()?;
        Some((file, RequestFileKind::Requests))
    }
}

pub(crate) fn run(settings: &Settings, arguments: &RunArgs) -> Result<Outcome> {
    check_arguments(arguments)?;
    let systems = load_systems(settings, arguments)?;
    let input = if arguments.file().is_some() { "file" } else { "split" };
    let mut table = RunTable::new(input, &systems, arguments);
    run_over(settings, arguments, &systems, &mut table)?;
    table.print(settings, arguments)
}

/// Runs systems over the collections of several folders.
pub(crate) fn run_each(all: &[Settings], arguments: &RunArgs) -> Result<Outcome> {
    check_arguments(arguments)?;
    let refused = [
        ("--output", arguments.output.is_some()),
        ("--conversations", arguments.conversations.is_some()),
        ("--requests", arguments.requests.is_some()),
        ("--candidates", arguments.candidates.is_some()),
        ("--passages", !arguments.passages.is_empty()),
    ];
    if let Some((flag, _)) = refused.into_iter().find(|(_, is_given)| *is_given) {
        return Err(does_not_apply(flag, "several collections").into());
    }
    let systems = load_systems(&all[0], arguments)?;
    let mut table = RunTable::new("split", &systems, arguments);
    for settings in all {
        // The usual depth is that of the collection.
        let systems = load_systems(settings, arguments)?;
        run_over(settings, arguments, &systems, &mut table)?;
    }
    table.print(&all[0], arguments)
}

fn run_over(
    settings: &Settings,
    arguments: &RunArgs,
    systems: &[SystemConfig],
    table: &mut RunTable,
) -> Result<()> {
    let candidates = match &arguments.candidates {
        Some(path) => Some(CandidateRun::read(&Source::new(path))?),
        None => None,
    };
    let mut collection = settings.collection_for(systems)?;
    if !arguments.passages.is_empty() {
        take_passages(&mut *collection, &arguments.passages, candidates.as_ref())?;
    }
    let mut session = settings.session(&*collection, Some(&arguments.place))?;
    session.options.need_model.clone_from(&arguments.need_model);
    session.registry = arguments.calls.registry(systems.len())?;
    session.options.team.clone_from(&arguments.team);
    if let Some(task) = &arguments.task {
        session = session.ranking_for(task)?;
    }

    if let Some((file, kind)) = arguments.file() {
        let input = FileInput::open(&session, file, kind, arguments.skip_bad)?;
        check_systems(&session, systems)?;
        let contexts = Contexts::new(&session);
        for system in systems {
            table.write(arguments, &contexts, system, &input)?;
        }
        return Ok(());
    }

    let split = collection.find_split_or(arguments.split.as_deref(), SplitRole::Tune)?;
    let session = session.answering(split);
    check_systems(&session, systems)?;
    let contexts = Contexts::new(&session);
    for system in systems {
        let input = open_split(&session, system, split, candidates.as_ref())?;
        table.write(arguments, &contexts, system, &*input)?;
    }
    Ok(())
}

fn check_arguments(arguments: &RunArgs) -> Result<()> {
    if arguments.configs.len() > 1 && arguments.output.is_some() {
        let found = format!("{} systems", arguments.configs.len());
        let hint = "without --output every system gets a file of its own below runs/";
        bail!("--output", "one system", found, hint);
    }
    if arguments.skip_bad && arguments.file().is_none() {
        let expected = "--conversations or --requests beside it";
        let hint =
            "a split without its bad rows would have other scores; `clariq data check` lists them";
        bail!("--skip-bad", expected, "a run over a split", hint);
    }
    Ok(())
}

fn load_systems(settings: &Settings, arguments: &RunArgs) -> Result<Vec<SystemConfig>> {
    let overrides = arguments.parameters.overrides()?;
    let rewrites = arguments.rewritten.read()?;
    let mut systems = Vec::with_capacity(arguments.configs.len());
    for name in &arguments.configs {
        let system = load(settings, name, arguments.depth, &overrides)?;
        systems.push(system.with_rewrites(rewrites.as_ref())?);
    }
    check_names_differ(&systems)?;
    Ok(systems)
}

/// The depth of runs over documents of one's own: pools and measures go that far.
const DEPTH_OF_OWN: u64 = 1000;

/// Loads a system with the depth that was named, or with the usual one of the collection.
fn load(
    settings: &Settings,
    name: &str,
    depth: Option<NonZeroUsize>,
    overrides: &[Override],
) -> Result<SystemConfig> {
    let system = settings.load(name, overrides)?;
    let depths = system.plan.depths();
    let at_depth = |stage: &str, depth: String| {
        let depth = Override { stage: stage.to_owned(), key: "depth".to_owned(), value: depth };
        SystemConfig::open_any(name, &[overrides, &[depth]].concat())
    };
    if let Some(depth) = depth {
        if let [only] = &*depths {
            return at_depth(&only.stage, depth.to_string());
        }
        let stages: Vec<String> =
            depths.iter().map(|stage| format!("--set {}.depth={depth}", stage.stage)).collect();
        let found = format!("`{name}`, which has {}", stages.len());
        let hint = stages.join(" ");
        bail!("--depth", "a system with one stage that has a depth", found, hint);
    }
    let is_own = TRACKS.kind_of(&settings.data).is_ok_and(|kind| kind.name == OWN.name);
    let sets_depth = overrides.iter().any(|change| change.key == "depth");
    match &*depths {
        [only] if is_own && !sets_depth && !system.answers() && only.depth < DEPTH_OF_OWN => {
            let deep = at_depth(&only.stage, DEPTH_OF_OWN.to_string())?;
            Ok(deep.with_variant_of(&system))
        }
        _ => Ok(system),
    }
}

/// Replaces the passages of the collection by those of files. With candidates, only their passages
/// are read.
fn take_passages(
    collection: &mut dyn Collection,
    paths: &[PathBuf],
    candidates: Option<&CandidateRun>,
) -> Result<()> {
    let mut files = Vec::new();
    for path in paths {
        files.extend(document_files(path)?);
    }
    let ids = candidates.map(CandidateRun::ids);
    collection.take_passages(&files, ids.as_ref(), &TextStores::default())
}

/// Checks all systems before the first one runs.
fn check_systems(session: &Session, systems: &[SystemConfig]) -> Result<()> {
    for system in systems {
        system.check_tasks(session.collection)?;
        check_expected(system, session)?;
    }
    Ok(())
}

/// The table of runs.
struct RunTable {
    sheet: Sheet,
    /// Submissions have a class.
    has_class: bool,
    /// Takes the place of the table in a dry run.
    dry_run: Option<DryRunTable>,
    /// The runs so far: two collections of one name would have the same.
    paths: Vec<PathBuf>,
}

impl RunTable {
    /// `kind` is the title of the column with the input.
    fn new(kind: &str, systems: &[SystemConfig], arguments: &RunArgs) -> Self {
        let has_class = systems.iter().any(SystemConfig::answers);
        let mut columns = vec!["system", kind, "requests", "lines", "uses", "run file"];
        if has_class {
            columns.insert(1, "class");
        }
        let dry_run = arguments.calls.dry_run.then(DryRunTable::new);
        Self { sheet: Sheet::new(&columns), has_class, dry_run, paths: Vec::new() }
    }

    /// Runs a system and adds its row.
    fn write(
        &mut self,
        arguments: &RunArgs,
        contexts: &Contexts,
        system: &SystemConfig,
        input: &dyn RunInput,
    ) -> Result<()> {
        let session = contexts.session;
        let path = match &arguments.output {
            Some(path) => path.clone(),
            None => usual_path(Path::new("runs"), session, system, input.name()),
        };
        if self.paths.contains(&path) {
            let hint = "run the folders one by one, with --output";
            bail!(&*path, "a run of its own for each collection", "a second one", hint);
        }
        self.paths.push(path.clone());
        let summary = write_run(contexts, system, input, arguments.run_tag.as_deref(), &path)?;
        if let Some(dry_run) = &mut self.dry_run {
            dry_run.add(session, &system.full_name());
            return Ok(());
        }
        let mut row = vec![
            Cell::text(system.full_name()),
            Cell::text(input.name()),
            Cell::Count(summary.requests),
            Cell::Count(summary.lines),
            uses_cell(&system.uses_for(session.split.map(Split::role)), false),
            Cell::path(&path),
        ];
        if self.has_class {
            let class = system.class().map_or(Cell::Nothing, |class| Cell::text(class.name()));
            row.insert(1, class);
        }
        self.sheet.row(row);
        Ok(())
    }

    /// Prints the table, unless the run itself is on standard output.
    fn print(self, settings: &Settings, arguments: &RunArgs) -> Result<Outcome> {
        if let Some(dry_run) = self.dry_run {
            return dry_run.print(settings);
        }
        match &arguments.output {
            Some(path) if Target::new(path).is_stream() => Ok(Outcome::Done),
            _ => self.sheet.print(settings.format),
        }
    }
}
