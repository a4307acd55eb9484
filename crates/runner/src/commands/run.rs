//! `clariq run`: ranks every request of a split or of a file, by one or several systems.

mod load;
mod over;
mod table;
mod written;

use crate::arguments::{IndexPlace, ParameterArguments, RewriteArguments, parse_tag, refuse_given};
use crate::commands::calls::CallArgs;
use crate::failure::Outcome;
use crate::settings::Settings;
use crate::several::{SEVERAL, folder_names};
use clap::Args;
use clariq_core::{Hint, Result, bail};
use clariq_experiment::run::RequestFileKind;
pub(super) use load::load_as_run;
use load::load_systems;
use over::run_over;
use std::num::NonZeroUsize;
use std::path::{MAIN_SEPARATOR, Path, PathBuf};
use table::RunTable;
use written::WrittenRuns;

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
    #[arg(long, short, value_name = "FILE", alias = "out")]
    output: Option<PathBuf>,
    /// File of conversations to answer instead of a split: a pickle, JSON lines or the
    /// human-generated table; `-` for standard input [default output: as for a split, with the name
    /// of the file]
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    conversations: Option<PathBuf>,
    /// File of requests to answer instead of a split, as JSON lines in the format of `clariq rank`;
    /// `-` for standard input [default output: as for a split, with the name of the file]
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["split", "conversations"],
        aliases = ["topics", "queries"]
    )]
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
    #[arg(long, value_name = "K", short_alias = 'k', aliases = ["k", "top-k", "topk", "hits"])]
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
    let mut runs = WrittenRuns::new(RunTable::new(input, &systems, arguments));
    run_over(settings, arguments, &systems, &mut runs)?;
    runs.table.print(settings, arguments)
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
    refuse_given(&refused, SEVERAL)?;
    let systems = load_systems(&all[0], arguments)?;
    let mut runs = WrittenRuns::new(RunTable::new("split", &systems, arguments));
    for (settings, name) in all.iter().zip(folder_names(all)) {
        // The usual depth is that of the collection.
        let systems = load_systems(settings, arguments)?;
        // Two folders of one name keep their paths, and are refused.
        runs.folder = (!name.contains(MAIN_SEPARATOR)).then_some(name);
        run_over(settings, arguments, &systems, &mut runs)?;
    }
    runs.table.print(&all[0], arguments)
}

fn check_arguments(arguments: &RunArgs) -> Result<()> {
    if arguments.configs.len() > 1 && arguments.output.is_some() {
        let found = format!("{} systems", arguments.configs.len());
        let hint = "without --output every system gets a file of its own below runs/";
        bail!("--output", "one system", found, hint);
    }
    if arguments.skip_bad && arguments.file().is_none() {
        let expected = "--conversations or --requests beside it";
        let hint = Hint::from("a split without its bad rows would have other scores; ")
            .and(Hint::on_data("data check"))
            .and(" lists them");
        bail!("--skip-bad", expected, "a run over a split", hint);
    }
    Ok(())
}
