//! The arguments of `clariq run`.

use crate::arguments::{IndexPlace, Parameters, Rewritten, parse_name};
use clap::Args;
use clariq_core::Name;
use std::path::PathBuf;

#[derive(Args)]
pub(crate) struct RunArgs {
    /// Systems: names of built-in ones, or configuration files
    #[arg(required_unless_present = "merge", value_name = "CONFIG")]
    pub(crate) configs: Vec<String>,
    /// Split to answer [default: dev, or the only one of the collection]
    #[arg(long, value_name = "SPLIT")]
    pub(crate) split: Option<String>,
    /// Run file to write; the need file, the TREC runs of a submission and the record are written
    /// beside it; `-` for standard output (not with --shard and --merge) [default:
    /// runs/<system>.<split>.run, or .json for submissions; in runs/<collection>/ for all but the
    /// released collections]
    #[arg(long, short, value_name = "FILE")]
    pub(crate) output: Option<PathBuf>,
    /// File of conversations to answer instead of a split: a pickle, JSON lines or the
    /// human-generated table; `-` for standard input [default output: as for a split, with the name
    /// of the file]
    #[arg(long, value_name = "FILE", conflicts_with = "split")]
    pub(crate) conversations: Option<PathBuf>,
    /// File of requests to answer instead of a split, as JSON lines in the format of `clariq rank`;
    /// `-` for standard input [default output: as for a split, with the name of the file]
    #[arg(long, value_name = "FILE", conflicts_with_all = ["split", "conversations"])]
    pub(crate) requests: Option<PathBuf>,
    /// Rank, for each request, only the documents that this TREC run lists for it; any engine can
    /// have made the run [default: all documents]
    #[arg(long, value_name = "RUN",
          conflicts_with_all = ["conversations", "requests", "shard", "merge"])]
    pub(crate) candidates: Option<PathBuf>,
    /// File of passages to use instead of those in the data folder, or folder of such files, as
    /// JSON lines or `TrecWeb`; can be repeated; with --candidates, only the passages in that run
    /// are read
    #[arg(long, value_name = "FILE",
          conflicts_with_all = ["conversations", "requests", "shard", "merge"])]
    pub(crate) passages: Vec<PathBuf>,
    /// Continue an interrupted run; only runs of more than 4,096 requests leave something to continue
    #[arg(long)]
    pub(crate) resume: bool,
    /// Skip bad conversations or lines, and report how many
    #[arg(long)]
    pub(crate) skip_bad: bool,
    /// Rank one shard of a plan of `clariq data shard`, counted from 0
    /// [default output: <system>.part-<I>.run beside the plan]
    #[arg(
        long,
        value_name = "PLAN:I",
        conflicts_with_all = ["split", "conversations", "requests", "resume", "run_tag"]
    )]
    pub(crate) shard: Option<String>,
    /// Merge the parts of a plan; if they are of one system, it need not be named
    #[arg(
        long,
        value_name = "PLAN",
        requires = "output",
        conflicts_with_all =
            ["split", "conversations", "requests", "resume", "run_tag", "shard", "need_model"]
    )]
    pub(crate) merge: Option<PathBuf>,
    /// Run tag, the last field of every line [default: the system's name]
    #[arg(long, value_name = "NAME", value_parser = parse_name)]
    pub(crate) run_tag: Option<Name>,
    /// Need model that `clariq need train -o` wrote, instead of the one that the system declares
    #[arg(long, value_name = "FILE")]
    pub(crate) need_model: Option<PathBuf>,
    #[command(flatten)]
    pub(crate) rewritten: Rewritten,
    #[command(flatten)]
    pub(crate) parameters: Parameters,
    #[command(flatten)]
    pub(crate) place: IndexPlace,
}

impl RunArgs {
    /// Whether a file is answered, and no split.
    pub(crate) fn is_of_a_file(&self) -> bool {
        self.conversations.is_some() || self.requests.is_some()
    }
}
