//! `clariq run`: what a system answers to every request of a split, or next in every conversation of a file.

use crate::arguments::{IndexPlace, Parameters, parse_name};
use crate::failure::{Failure, Outcome};
use crate::learned;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_collections::Around;
use clariq_collections::clariq::conversation::MOST_TURNS;
use clariq_core::{Location, Name, Problem, ProblemKind, Request};
use clariq_experiment::answers::{Answers, answer, requests_of, usual_path};
use clariq_experiment::conversations::{self, Conversations, RunOptions};
use clariq_experiment::systems::{check_expected, check_names_differ};
use clariq_experiment::{Loaded, Registry, Session};
use clariq_files::{Target, refuse_input};
use clariq_rank::Context;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct RunArgs {
    /// Systems: configuration files, or names of built-in ones
    #[arg(required = true, value_name = "CONFIG")]
    pub(crate) configs: Vec<String>,
    /// Split whose requests are answered [default: dev, or the only one of the collection]
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    /// Run file to write, with the need file and the record beside it; `-` for standard output
    /// [default: runs/<system>.<split>.run]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// Conversations to answer in place of a split: a pickle, JSON lines or the human-generated table; `-` for standard
    /// input [default output: runs/<system>.<file>.run]
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    pub(crate) conversations: Option<PathBuf>,
    /// Go on where a run over conversations was interrupted
    #[arg(long)]
    pub(crate) resume: bool,
    /// Leave bad conversations out and count them
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Last field of every line [default: the system's name]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub(crate) run_tag: Option<Name>,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

impl RunArgs {
    /// Whether a system asks for a learned model.
    pub(crate) fn needs_models(&self) -> bool {
        let overrides = self.parameters.overrides().unwrap_or_default();
        self.configs.iter().any(|name| learned::is_needed_by(name, &overrides))
    }
}

pub(crate) fn run(settings: &Settings, arguments: &RunArgs) -> Result<Outcome, Failure> {
    if arguments.configs.len() > 1 && arguments.output.is_some() {
        let found = format!("{} systems", arguments.configs.len());
        let problem =
            Problem::new(Location::file("--output"), ProblemKind::Argument, "one system", found);
        return Err(problem
            .hint("without --output every system gets a file of its own in runs/")
            .into());
    }
    if arguments.conversations.is_none() {
        check_only_with_conversations(arguments)?;
    }
    let overrides = arguments.parameters.overrides()?;
    let load = |name: &String| Loaded::open(name, &overrides);
    let systems: Vec<Loaded> = arguments.configs.iter().map(load).collect::<Result<_, _>>()?;
    check_names_differ(&systems)?;
    let collection = settings.collection()?;
    let mut session = settings.session(&*collection, &arguments.place)?;
    let around = if arguments.conversations.is_some() {
        Around::outside(&*collection, session.task)
    } else {
        let split = collection.find_split_or_usual(arguments.split.as_deref())?;
        session = session.answering(split);
        Around::new(&*collection, session.task, split)
    };
    systems.iter().try_for_each(|system| check_expected(system, &session))?;
    let models = Registry::new(&session);
    let context = session.context().with_models(&models).within(&around);
    let sheet = match &arguments.conversations {
        Some(file) => over_conversations(arguments, &session, &context, &systems, file)?,
        None => over_split(arguments, &session, &context, &systems)?,
    };
    // The run itself may be on standard output then.
    if !arguments.output.as_ref().is_some_and(|path| Target::new(path).is_stream()) {
        sheet.print(settings.format)?;
    }
    Ok(Outcome::Done)
}

fn over_split(
    arguments: &RunArgs,
    session: &Session,
    context: &Context,
    systems: &[Loaded],
) -> Result<Sheet, Failure> {
    let split = session.split.unwrap_or_default();
    let requests = requests_of(session, split)?;
    let mut sheet = Sheet::new(&["system", "split", "topics", "lines", "uses", "run file"]);
    for loaded in systems {
        let usual = || usual_path(Path::new("runs"), loaded, split);
        let path = arguments.output.clone().unwrap_or_else(usual);
        refuse_input(&path)?;
        let answers = answer(session, context, loaded, split, &requests)?;
        let tag = arguments.run_tag.as_deref().unwrap_or(&loaded.system.name);
        answers.write(session, loaded, split, &requests, &path, tag)?;
        sheet.row(summary(&answers, loaded, split, &requests, &path));
    }
    Ok(sheet)
}

fn over_conversations(
    arguments: &RunArgs,
    session: &Session,
    context: &Context,
    systems: &[Loaded],
    file: &Path,
) -> Result<Sheet, Failure> {
    let input = Conversations::open(file)?;
    let RunArgs { skip_bad, resume, .. } = *arguments;
    let options = RunOptions { tag: arguments.run_tag.as_deref(), skip_bad, resume };
    let mut sheet = Sheet::new(&["system", "contexts", "lines", "uses", "run file"]);
    for loaded in systems {
        let usual = || PathBuf::from(format!("runs/{}.{}.run", loaded.system.name, input.stem()));
        let path = arguments.output.clone().unwrap_or_else(usual);
        let done = conversations::run(session, context, loaded, &input, &options, &path)?;
        sheet.row(vec![
            Cell::text(&loaded.system.name),
            Cell::Count(done.contexts),
            Cell::Count(done.lines),
            uses_cell(loaded, None),
            Cell::text(path.display().to_string()),
        ]);
    }
    Ok(sheet)
}

/// What `--resume` and `--skip-bad` are about.
fn check_only_with_conversations(arguments: &RunArgs) -> Result<(), Problem> {
    let given = [("--resume", arguments.resume), ("--skip-bad", arguments.skip_bad)];
    let Some((flag, _)) = given.into_iter().find(|(_, given)| *given) else { return Ok(()) };
    let (expected, found) = ("--conversations beside it", "a run over a split");
    let hint = format!(
        "a split takes seconds and has no records; conversations have up to {MOST_TURNS} turns"
    );
    Err(Problem::new(Location::file(flag), ProblemKind::Argument, expected, found).hint(hint))
}

/// What a system declares to look at beyond one request and the bank.
fn uses_cell(loaded: &Loaded, split: Option<&str>) -> Cell {
    let uses: Vec<String> = loaded.uses(split).iter().map(ToString::to_string).collect();
    if uses.is_empty() { Cell::Nothing } else { Cell::text(uses.join(", ")) }
}

fn summary(
    answers: &Answers,
    loaded: &Loaded,
    split: &str,
    requests: &[Request],
    path: &Path,
) -> Vec<Cell> {
    vec![
        Cell::text(&loaded.system.name),
        Cell::text(split),
        Cell::count(requests.len()),
        Cell::count(answers.rankings.iter().map(Vec::len).sum()),
        uses_cell(loaded, Some(split)),
        Cell::text(path.display().to_string()),
    ]
}
