//! `clariq simulate`: conversations with the simulated users of iKAT's interactive task.

use crate::arguments::{IndexPlace, Parameters, parse_name};
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::Args;
use clariq_core::{Error, Name, Result, bail};
use clariq_experiment::simulate::{Asked, Client, TOKEN, Waiting, simulate as talk};
use clariq_experiment::{Contexts, System};
use clariq_files::Source;
use std::io::{self, IsTerminal};
use std::num::NonZeroU32;
use std::path::{Path, PathBuf};
use std::slice;
use std::time::Duration;

#[derive(Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub(crate) struct SimulateArgs {
    /// Address of the task's server, such as `http://HOST:8888/simulation`
    #[arg(value_name = "URL")]
    url: String,
    /// System that answers: the name of a built-in one, or a configuration file
    #[arg(value_name = "SYSTEM")]
    system: String,
    /// Name of the run, which no team has used before
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    run_id: Name,
    /// What the run is, in a sentence for the organisers
    #[arg(long, value_name = "TEXT")]
    description: String,
    /// Talk with the users for debugging, which nobody judges; this is the default
    #[arg(long, conflicts_with = "run")]
    debug: bool,
    /// Begin a judged run, which counts against the budget
    #[arg(long)]
    run: bool,
    /// Begin a judged run without asking for a confirmation
    #[arg(long, requires = "run")]
    yes: bool,
    /// Continue an interrupted run from the journal beside the output
    #[arg(long)]
    resume: bool,
    /// Topics with the users' statements, for a server that does not tell them; can be repeated
    #[arg(long, value_name = "FILE")]
    topics: Vec<PathBuf>,
    /// Seconds to wait for an answer
    #[arg(long, value_name = "SECONDS", default_value = "120")]
    timeout: NonZeroU32,
    /// How often a request is sent again that the server did not answer
    #[arg(long, value_name = "N", default_value_t = 5)]
    retries: u32,
    /// Run to write, with a record and a journal beside it [default: runs/NAME.jsonl]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    parameters: Parameters,
    #[command(flatten)]
    place: IndexPlace,
}

/// The pause before the first request that is sent again.
const PAUSE: Duration = Duration::from_secs(2);

pub(crate) fn simulate(settings: &Settings, arguments: &SimulateArgs) -> Result<Outcome> {
    let overrides = arguments.parameters.overrides()?;
    if arguments.description.trim().is_empty() {
        bail!("--description", "a sentence", "nothing", "the server refuses a run without one");
    }
    let usual = || Path::new("runs").join(format!("{}.jsonl", arguments.run_id));
    let output = arguments.output.clone().unwrap_or_else(usual);
    if output.as_os_str() == "-" || output.extension().is_some_and(|ending| ending == "gz") {
        let (found, hint) = (output.display(), "a journal is written beside it");
        bail!("--output", "a file that is not packed", "`{found}`", hint);
    }
    let waiting = Waiting {
        timeout: Duration::from_secs(arguments.timeout.get().into()),
        retries: arguments.retries,
        pause: PAUSE.min(Duration::from_secs(arguments.timeout.get().into()) / 60),
    };
    let token = std::env::var(TOKEN).unwrap_or_default();
    let mut client = Client::new(&arguments.url, token.trim(), waiting)?;
    let loaded = settings.load(&arguments.system, &overrides)?;
    let collection = settings.collection_for(slice::from_ref(&loaded))?;
    let session = settings.session(&*collection, Some(&arguments.place))?;
    let team = client.team()?;
    let budget = client.budget()?;
    let budget = budget.iter().map(|(mode, left, unit)| format!("{mode}: {left} {unit}"));
    let budget = budget.collect::<Vec<_>>().join(", ");
    settings.note(&format!("note: team {team}; budget left: {budget}"));
    if arguments.run && !arguments.yes && !arguments.resume {
        confirm(&arguments.run_id, &budget)?;
    }
    let contexts = Contexts::new(&session);
    let system = System::open(&contexts, &loaded)?;
    system.warm_up()?;
    let topics: Vec<Source> = arguments.topics.iter().map(Source::new).collect();
    let asked = Asked {
        is_judged: arguments.run,
        run_id: &arguments.run_id,
        description: &arguments.description,
        topics: &topics,
        team: &team,
        resume: arguments.resume,
    };
    let done = talk(client, &system, &asked, &output)?;
    for difference in &done.differences {
        settings.note(&format!("warning: dump and journal differ: {difference}"));
    }
    Sheet::of([
        ("system", Cell::text(loaded.full_name())),
        ("mode", Cell::text(asked.mode())),
        ("topics", Cell::count(done.topics)),
        ("turns", Cell::count(done.turns)),
        ("differences", Cell::count(done.differences.len())),
        ("run file", Cell::path(&output)),
    ])
    .print(settings.format)?;
    Ok(if done.differences.is_empty() { Outcome::Done } else { Outcome::CheckFailed })
}

/// Asks whether a judged run is to begin.
fn confirm(name: &Name, budget: &str) -> Result<()> {
    let hint = "--yes confirms it beforehand; without --run, nothing is judged";
    let expected = "a confirmation of the judged run";
    if !io::stdin().is_terminal() {
        bail!("--run", expected, "nobody to ask: standard input is no terminal", hint);
    }
    eprint!("Begin the judged run `{name}`? Left: {budget}. [y/N] ");
    let mut reply = String::new();
    io::stdin().read_line(&mut reply).map_err(Error::io("read", "standard input"))?;
    if !matches!(reply.trim(), "y" | "Y" | "yes") {
        bail!("--run", expected, "none", hint);
    }
    Ok(())
}
