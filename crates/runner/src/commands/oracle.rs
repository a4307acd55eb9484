//! `clariq oracle`: the best or the worst run that a system could reach.

use crate::arguments::{NamedValues, one_of};
use crate::failure::Outcome;
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use crate::target::open_collection;
use clap::Args;
use clariq_core::{Result, SplitRole};
use clariq_experiment::record::{self, RecordedOutput};
use clariq_experiment::run::folder_of;
use clariq_files::{StagedFile, Target, refuse_input};
use clariq_track_clariq::evaluation::{Choice, OracleRequest, oracle_run};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct OracleArgs {
    /// Question to choose for each topic or context
    #[arg(value_parser = one_of(ORACLES))]
    choice: Oracle,
    /// Split that the run is for [default: dev, or the only split]
    #[arg(long, value_name = "SPLIT")]
    split: Option<String>,
    /// Use the contexts of the multi-turn table (`multi_turn_<split>_eval.pkl`) instead of topics
    #[arg(long)]
    multi_turn: bool,
    /// Metric of the table to choose by
    #[arg(long, value_name = "NAME", default_value = "MRR100")]
    metric: String,
    /// Run file to write; `-` for standard output [default: runs/<collection>/<choice>.<split>.run,
    /// or .multi-turn.run]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

/// The name of an oracle and its choice; `None` for the empty question.
type Oracle = (&'static str, Option<Choice>);

const BEST: &str = "best-question";
const WORST: &str = "worst-question";
const NONE: &str = "no-question";
const ORACLES: NamedValues<Oracle> = &[
    (BEST, (BEST, Some(Choice::Best)), "The question with the highest score"),
    (WORST, (WORST, Some(Choice::Worst)), "The question with the lowest score"),
    (NONE, (NONE, None), "No question"),
];

pub(crate) fn oracle(settings: &Settings, arguments: &OracleArgs) -> Result<Outcome> {
    let collection = open_collection(settings)?;
    let (name, choice) = arguments.choice;
    let split = collection.find_split_or(arguments.split.as_deref(), SplitRole::Tune)?;
    let metric = &*arguments.metric;
    let multi_turn = arguments.multi_turn;
    let request = OracleRequest { choice, name, split, metric, multi_turn };
    let made = oracle_run(&*collection, &request)?;
    let lines = made.lines;
    let bank = collection.documents(collection.tasks()[0])?;
    let turns = if arguments.multi_turn { ".multi-turn" } else { "" };
    let path = match &arguments.output {
        Some(path) => path.clone(),
        None => {
            folder_of(Path::new("runs"), &*collection).join(format!("{name}.{split}{turns}.run"))
        }
    };
    refuse_input(&path)?;
    let target = Target::new(&path);
    if target.is_stream() {
        target.write(|out| out.write_all(&lines))?;
        return Ok(Outcome::Done);
    }
    let file = StagedFile::new(&path, |out| out.write_all(&lines))?;
    let made_by = json!({
        "clariq": env!("CARGO_PKG_VERSION"),
        "oracle": name,
        "metric": arguments.metric,
        "table": made.table,
        "split": split.name(),
        "bank": { "sha256": bank.checksum(), "questions": bank.len() },
    });
    let run = RecordedOutput { kind: "run", path: path.clone(), file };
    record::put(&path, made_by, vec![run])?;
    let count = lines.split(|&byte| byte == b'\n').count() - 1;
    Sheet::of([
        ("oracle", Cell::text(name)),
        ("split", Cell::text(split.name())),
        ("lines", Cell::count(count)),
        ("run file", Cell::path(&path)),
    ])
    .print(settings.format)
}
