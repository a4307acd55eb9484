//! `clariq run`: what systems rank for every request of a split or a file.

use crate::arguments::{IndexPlace, Parameters, Rewritten, parse_name};
use crate::commands::reproduce::uses_cell;
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::documents::document_files;
use clariq_core::{Name, Result, bail};
use clariq_experiment::plan::PASSAGES;
use clariq_experiment::reproduce::check_expected;
use clariq_experiment::run::{
    FileInput, FileKind, Given, Input, RunOptions, SplitInput, run as write_run, usual_path,
};
use clariq_experiment::systems::check_names_differ;
use clariq_experiment::{Contexts, KeptTexts, Loaded, Session};
use clariq_files::{Source, Target};
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct RunArgs {
    /// Systems: names of built-in ones, or configuration files
    #[arg(required = true, value_name = "CONFIG")]
    configs: Vec<String>,
    /// Split to answer [default: dev, or the only one of the collection]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// Run file to write; the need file, the TREC runs of a submission and the record are written
    /// beside it; `-` for standard output [default: runs/<system>.<split>.run, or .json for submissions; in runs/<collection>/ for all but the
    /// released collections]
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
    #[arg(long, value_name = "RUN",
          conflicts_with_all = ["conversations", "requests"])]
    candidates: Option<PathBuf>,
    /// File of passages to use instead of those in the data folder, or folder of such files, as
    /// JSON lines or `TrecWeb`; can be repeated; with --candidates, only the passages in that run
    /// are read
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["conversations", "requests"])]
    passages: Vec<PathBuf>,
    /// Continue an interrupted run; only runs of more than 4,096 requests leave something to continue
    #[arg(long)]
    resume: bool,
    /// Skip bad conversations or lines, and report how many
    #[arg(long)]
    skip_bad: bool,
    /// Run tag, the last field of every line [default: the system's name]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    run_tag: Option<Name>,
    /// Need model that `clariq need train -o` wrote, instead of the one that the system declares
    #[arg(long, value_name = "FILE")]
    need_model: Option<PathBuf>,
    #[command(flatten)]
    rewritten: Rewritten,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    place: IndexPlace,
}

impl RunArgs {
    /// Whether a file is answered, and no split.
    fn is_of_a_file(&self) -> bool {
        self.conversations.is_some() || self.requests.is_some()
    }
}

pub(crate) fn run(settings: &Settings, arguments: &RunArgs) -> Result<Outcome> {
    let overrides = arguments.parameters.overrides()?;
    check_arguments(arguments)?;
    let rewrites = arguments.rewritten.read()?;
    let load = |name: &String| settings.load(name, &overrides)?.with_rewrites(rewrites.as_ref());
    let systems: Vec<Loaded> = arguments.configs.iter().map(load).collect::<Result<_, _>>()?;
    check_names_differ(&systems)?;
    let candidates = arguments.candidates.as_ref();
    let given = candidates.map(|path| Given::read(&Source::new(path))).transpose()?;
    let mut collection = settings.collection_for(&systems)?;
    if !arguments.passages.is_empty() {
        // Of those that a run gives to requests, the others are not read.
        let (ids, keeper) = (given.as_ref().map(Given::ids), KeptTexts::default());
        let files = arguments.passages.iter().map(|path| document_files(path));
        let files = files.collect::<Result<Vec<_>, _>>()?.concat();
        collection.take_documents(PASSAGES, &files, ids.as_ref(), &keeper)?;
    }
    let mut session = settings.session(&*collection, Some(&arguments.place))?;
    session.options.need_model.clone_from(&arguments.need_model);
    let conversations = arguments.conversations.as_ref().map(|it| (it, FileKind::Conversations));
    let requests = arguments.requests.as_ref().map(|it| (it, FileKind::Requests));
    if let Some((file, kind)) = conversations.or(requests) {
        let input = FileInput::open(&session, file, Some(kind), arguments.skip_bad)?;
        return run_all(settings, arguments, &session, &systems, Inputs::File(&input));
    }
    let split = collection.find_split_or(arguments.split.as_deref(), "dev")?;
    session = session.answering(split);
    run_all(settings, arguments, &session, &systems, Inputs::Split(split, given.as_ref()))
}

/// One file for all systems, or a split as each of them sees it.
#[derive(Clone, Copy)]
enum Inputs<'a> {
    File(&'a FileInput<'a>),
    Split(&'static str, Option<&'a Given>),
}

fn run_all(
    settings: &Settings,
    arguments: &RunArgs,
    session: &Session,
    systems: &[Loaded],
    inputs: Inputs,
) -> Result<Outcome> {
    for loaded in systems {
        loaded.check_tasks(session.collection)?;
        check_expected(loaded, session)?;
    }
    let contexts = Contexts::new(session);
    let (tag, resume) = (arguments.run_tag.as_deref(), arguments.resume);
    let options = RunOptions { tag, resume };
    let kind = if arguments.is_of_a_file() { "file" } else { "split" };
    let answers = systems.iter().any(Loaded::answers);
    let mut columns = vec!["system", kind, "requests", "lines", "uses", "run file"];
    if answers {
        columns.insert(1, "class");
    }
    let mut sheet = Sheet::new(&columns);
    for loaded in systems {
        let of_split;
        let input: &dyn Input = match inputs {
            Inputs::File(input) => input,
            Inputs::Split(split, given) => {
                of_split = SplitInput::open(session, loaded, split, given)?;
                &of_split
            }
        };
        let usual = || usual_path(Path::new("runs"), session, loaded, input.name());
        let path = arguments.output.clone().unwrap_or_else(usual);
        let done = write_run(&contexts, loaded, input, &options, &path)?;
        let mut row = vec![
            Cell::text(loaded.full_name()),
            Cell::text(input.name()),
            Cell::Count(done.requests),
            Cell::Count(done.lines),
            uses_cell(&loaded.uses_for(session.split), false),
            Cell::path(&path),
        ];
        if answers {
            let class = loaded.class();
            row.insert(1, class.map_or(Cell::Nothing, |class| Cell::text(class.name())));
        }
        sheet.row(row);
    }
    // The run itself may be on standard output then.
    if !arguments.output.as_ref().is_some_and(|path| Target::new(path).is_stream()) {
        sheet.print(settings.format)?;
    }
    Ok(Outcome::Done)
}

fn check_arguments(arguments: &RunArgs) -> Result<()> {
    if arguments.configs.len() > 1 && arguments.output.is_some() {
        let found = format!("{} systems", arguments.configs.len());
        let hint = "without --output every system gets a file of its own in runs/";
        bail!("--output", "one system", found, hint);
    }
    if arguments.skip_bad && !arguments.is_of_a_file() {
        let (expected, found) = ("--conversations or --requests beside it", "a run over a split");
        let hint =
            "a split without its bad rows would have other figures; `clariq data check` lists them";
        bail!("--skip-bad", expected, found, hint);
    }
    Ok(())
}
