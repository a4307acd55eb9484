//! `clariq oracle`: the run of an oracle, the best or the worst that a system could reach.

use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::{Args, ValueEnum};
use clariq_collections::{Choice, OracleAsked, oracle_run};
use clariq_experiment::record;
use clariq_experiment::run::folder_of;
use clariq_files::{Staged, Target};
use serde_json::json;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct OracleArgs {
    /// Which question is chosen for each topic or context
    #[arg(value_enum)]
    choice: Oracle,
    /// Split
    #[arg(long, default_value = "dev", value_name = "SPLIT")]
    split: String,
    /// Use the contexts of the multi-turn table (`multi_turn_<split>_eval.pkl`) instead of topics
    #[arg(long)]
    multi_turn: bool,
    /// Metric of the table to choose by
    #[arg(long, value_name = "NAME", default_value = "MRR100")]
    metric: String,
    /// Run file to write; `-` for standard output [default: runs/<choice>.<split>.run, or
    /// .multi-turn.run]
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Oracle {
    /// The question with the highest figure
    #[value(name = "best-question")]
    Best,
    /// The question with the lowest figure
    #[value(name = "worst-question")]
    Worst,
    /// No question
    #[value(name = "no-question")]
    Nothing,
}

impl Oracle {
    fn name(self) -> &'static str {
        match self {
            Self::Best => "best-question",
            Self::Worst => "worst-question",
            Self::Nothing => "no-question",
        }
    }

    fn choice(self) -> Option<Choice> {
        match self {
            Self::Best => Some(Choice::Best),
            Self::Worst => Some(Choice::Worst),
            Self::Nothing => None,
        }
    }
}

pub(crate) fn oracle(settings: &Settings, arguments: &OracleArgs) -> Result<Outcome, Failure> {
    let collection = settings.collection()?;
    let (name, split) = (arguments.choice.name(), arguments.split.as_str());
    let made = oracle_run(
        &*collection,
        &OracleAsked {
            choice: arguments.choice.choice(),
            name,
            split,
            metric: &arguments.metric,
            multi_turn: arguments.multi_turn,
        },
    )?;
    let lines = made.lines;
    let bank = collection.documents(collection.tasks()[0])?;
    let turns = if arguments.multi_turn { ".multi-turn" } else { "" };
    let usual = || {
        let file = format!("{name}.{split}{turns}.run");
        folder_of(Path::new("runs"), &*collection).join(file)
    };
    let path = arguments.output.clone().unwrap_or_else(usual);
    let target = Target::new(&path);
    if target.is_stream() {
        target.write(|out| out.write_all(&lines))?;
        return Ok(Outcome::Done);
    }
    let run = Staged::new(&path, |out| out.write_all(&lines))?;
    let made_by = json!({
        "clariq": env!("CARGO_PKG_VERSION"),
        "oracle": name,
        "metric": arguments.metric,
        "table": made.table,
        "split": split,
        "bank": { "sha256": bank.checksum(), "questions": bank.len() },
    });
    let files = vec![("run", path.clone(), run)];
    let record = record::stage(&path, made_by, &files)?;
    files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
    let count = lines.split(|&byte| byte == b'\n').count() - 1;
    let mut sheet = Sheet::new(&["oracle", "split", "lines", "run file"]);
    sheet.row(vec![
        Cell::text(name),
        Cell::text(split),
        Cell::count(count),
        Cell::text(path.display().to_string()),
    ]);
    sheet.print(settings.format)?;
    Ok(Outcome::Done)
}
