//! `clariq completions` and `clariq man`: completions for a shell, and manual pages.

use crate::failure::Outcome;
use crate::output::print;
use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command};
use clap_complete::Shell;
use clap_mangen::Man;
use clariq_core::{Error, IoAction, Result};
use clariq_experiment::installed::{BASE_MODEL, DEFAULT_MODEL};
use clariq_files::Target;
use clariq_systems::{built_in, recipes};
use clariq_tracks::TRACKS;
use itertools::Itertools as _;
use std::fs;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct CompletionsArgs {
    /// Shell to print completions for
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManArgs {
    /// Write a page per command to this folder [default: print the main page]
    #[arg(long, short, value_name = "DIR")]
    output: Option<PathBuf>,
}

pub(crate) fn completions(command: Command, arguments: &CompletionsArgs) -> Result<Outcome> {
    let mut command = with_names(command);
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut command, "clariq", &mut script);
    print(|out| out.write_all(&script))
}

/// Arguments that name a system, by command. They also accept files, so the parser of the command
/// line has no list of values.
const SYSTEMS: [(&str, &str); 9] = [
    ("run", "configs"),
    ("rank", "system"),
    ("ask", "system"),
    ("explain", "system"),
    ("tune", "config"),
    ("train", "configs"),
    ("reproduce", "names"),
    ("need", "config"),
    ("systems", "system"),
];

/// The usual measures. `-m` accepts any cut-off.
const MEASURES: [&str; 8] = ["R@5", "R@10", "R@20", "R@30", "nDCG@10", "AP", "RR", "P@5"];

/// The command line with the names of systems, recipes, models, tasks, splits and measures as possible
/// values.
fn with_names(command: Command) -> Command {
    command.mut_subcommands(|command| {
        let name = command.get_name().to_owned();
        let named = move |arg: Arg| with_values(&name, arg);
        let command = command.mut_args(named.clone());
        command.mut_subcommands(|command| command.mut_args(named.clone()))
    })
}

fn with_values(command: &str, arg: Arg) -> Arg {
    let values: Vec<&str> = match arg.get_id().as_str() {
        "split" => TRACKS.kinds().iter().flat_map(|kind| kind.split_names()).unique().collect(),
        "measure" | "measures" => MEASURES.to_vec(),
        "task" if ["compare", "tune"].contains(&command) => {
            let tasks = TRACKS.kinds().iter().flat_map(|kind| kind.tasks);
            tasks.map(|task| task.name()).unique().collect()
        }
        "model" if command == "setup" => vec![DEFAULT_MODEL, BASE_MODEL],
        "configs" if command == "train" => built_in::names().chain(recipes::names()).collect(),
        id if SYSTEMS.contains(&(command, id)) => built_in::names().collect(),
        _ => return arg,
    };
    arg.value_parser(PossibleValuesParser::new(values))
}

pub(crate) fn man(command: Command, arguments: &ManArgs) -> Result<Outcome> {
    let mut command = with_names(with_all_options(command));
    let Some(folder) = &arguments.output else {
        return print(|mut out| Man::new(command).render(&mut out));
    };
    fs::create_dir_all(folder).map_err(Error::io(IoAction::Write, folder))?;
    command = command.disable_help_subcommand(true);
    // Sets the names of the subcommands' pages.
    command.build();
    for page in pages(&command) {
        let target = Target::Path(folder.join(page.get_filename()));
        target.write(|out| page.render(out))?;
    }
    Ok(Outcome::Done)
}

/// The command line with the options that help hides: a page would have them without a
/// description.
fn with_all_options(command: Command) -> Command {
    let command = command.mut_args(|arg| arg.hide_short_help(false).hide_long_help(false));
    command.mut_subcommands(with_all_options)
}

fn pages(command: &Command) -> Vec<Man> {
    let below = command.get_subcommands().filter(|command| !command.is_hide_set());
    std::iter::once(Man::new(command.clone())).chain(below.flat_map(pages)).collect()
}
