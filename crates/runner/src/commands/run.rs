//! `clariq run`: what systems rank for every request of a split, or next in every conversation of a
//! file.

pub(crate) mod arguments;

use crate::commands::run_ikat::run_ikat;
use crate::commands::shard;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use arguments::RunArgs;
use clariq_collections::Around;
use clariq_core::{Location, Problem, ProblemKind};
use clariq_experiment::run::{
    Conversations, Input, RequestFile, RunOptions, SplitRequests, run as write_run, usual_path,
};
use clariq_experiment::systems::{check_expected, check_names_differ};
use clariq_experiment::{Loaded, Registry, Session};
use clariq_files::Target;
use std::path::Path;

pub(crate) fn run(settings: &Settings, arguments: &RunArgs) -> Result<Outcome, Failure> {
    check_arguments(arguments)?;
    if let Some((plan, output)) = arguments.merge.as_ref().zip(arguments.output.as_ref()) {
        let system = arguments.configs.first().map(String::as_str);
        return shard::merge(settings, plan, system, output);
    }
    let overrides = arguments.parameters.overrides()?;
    let load = |name: &String| Loaded::open_any(name, &overrides);
    let systems: Vec<Loaded> = arguments.configs.iter().map(load).collect::<Result<_, _>>()?;
    check_names_differ(&systems)?;
    if systems.iter().any(|loaded| !loaded.system.tasks.is_empty()) {
        return run_ikat(settings, arguments, &systems);
    }
    let collection = settings.collection()?;
    let mut session = settings.session(&*collection, &arguments.place)?;
    if let Some(shard) = &arguments.shard {
        let output = arguments.output.as_deref();
        return shard::run_shard(settings, shard, output, &session, &systems);
    }
    let (around, input): (Around, Box<dyn Input>);
    if let Some(file) = &arguments.conversations {
        input = Box::new(Conversations::open(&session, file, arguments.skip_bad)?);
        around = Around::outside(&*collection, session.task);
    } else if let Some(file) = &arguments.requests {
        input = Box::new(RequestFile::open(&session, file, arguments.skip_bad)?);
        around = Around::outside(&*collection, session.task);
    } else {
        let split = collection.find_split_or_usual(arguments.split.as_deref())?;
        session = session.answering(split);
        input = Box::new(SplitRequests::read(&session, split)?);
        around = Around::new(&*collection, session.task, split);
    }
    run_all(settings, arguments, &session, &around, &*input, &systems)
}

/// Runs each system over the input.
fn run_all(
    settings: &Settings,
    arguments: &RunArgs,
    session: &Session,
    around: &Around,
    input: &dyn Input,
    systems: &[Loaded],
) -> Result<Outcome, Failure> {
    systems.iter().try_for_each(|system| check_expected(system, session))?;
    let models = Registry::new(session);
    let context = session.context().with_models(&models).within(around);
    let (tag, resume) = (arguments.run_tag.as_deref(), arguments.resume);
    let options = RunOptions { tag, resume, ..RunOptions::default() };
    let kind = if arguments.is_of_a_file() { "file" } else { "split" };
    let mut sheet = Sheet::new(&["system", kind, "requests", "lines", "uses", "run file"]);
    for loaded in systems {
        let usual = || usual_path(Path::new("runs"), session, loaded, input.name());
        let path = arguments.output.clone().unwrap_or_else(usual);
        let done = write_run(session, &context, loaded, input, &options, &path)?;
        sheet.row(vec![
            Cell::text(&loaded.system.name),
            Cell::text(input.name()),
            Cell::Count(done.requests),
            Cell::Count(done.lines),
            uses_cell(loaded, session.split),
            Cell::text(path.display().to_string()),
        ]);
    }
    // The run itself may be on standard output then.
    if !arguments.output.as_ref().is_some_and(|path| Target::new(path).is_stream()) {
        sheet.print(settings.format)?;
    }
    Ok(Outcome::Done)
}

fn check_arguments(arguments: &RunArgs) -> Result<(), Problem> {
    let problem = |flag: &str, expected: &str, found: String| {
        Problem::new(Location::file(flag), ProblemKind::Argument, expected, found)
    };
    if arguments.configs.len() > 1 && arguments.output.is_some() {
        let found = format!("{} systems", arguments.configs.len());
        return Err(problem("--output", "one system", found)
            .hint("without --output every system gets a file of its own in runs/"));
    }
    if arguments.skip_bad && !arguments.is_of_a_file() {
        let found = "a run over a split".to_owned();
        return Err(problem("--skip-bad", "--conversations or --requests beside it", found).hint(
            "a split without its bad rows would have other figures; `clariq data check` lists them",
        ));
    }
    Ok(())
}

/// What a system declares to look at beyond one request and the documents.
fn uses_cell(loaded: &Loaded, split: Option<&str>) -> Cell {
    let uses: Vec<String> = loaded.uses(split).iter().map(ToString::to_string).collect();
    if uses.is_empty() { Cell::Nothing } else { Cell::text(uses.join(", ")) }
}
