//! `clariq oracle`: the run of an oracle that knows the evaluation table.

use crate::arguments::splits;
use crate::failure::{Failure, Outcome};
use crate::output::{Cell, Sheet};
use crate::settings::Settings;
use clap::{Args, ValueEnum};
use clariq_collections::clariq::evaluation::{
    Choice, oracle_of_contexts, oracle_of_topics, table_stem,
};
use clariq_collections::clariq::{ClariQ, EvalTable, NO_QUESTION, Split, put_text_run_line};
use clariq_core::{Location, Problem, ProblemKind, TopicId};
use clariq_experiment::record;
use clariq_experiment::run::folder_of;
use clariq_files::{Staged, Target};
use serde_json::json;
use std::io::Write;
use std::path::{Path, PathBuf};

#[derive(Args)]
pub(crate) struct OracleArgs {
    /// Which question is chosen for each topic or context
    #[arg(value_enum)]
    choice: Oracle,
    /// Topics or contexts that are answered
    #[arg(long, default_value = "dev", value_parser = splits())]
    split: Split,
    /// Contexts of the multi-turn table in place of topics: `multi_turn_<split>_eval.pkl` in place
    /// of the single-turn one
    #[arg(long)]
    multi_turn: bool,
    /// Metric of the table that decides
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
    /// Nothing is asked
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

    fn choice(self) -> Choice {
        if self == Self::Worst { Choice::Worst } else { Choice::Best }
    }
}

pub(crate) fn oracle(settings: &Settings, arguments: &OracleArgs) -> Result<Outcome, Failure> {
    let collection = settings.clariq()?;
    let stem = table_stem(arguments.split, arguments.multi_turn);
    let table = EvalTable::open(&collection.data, &stem)?;
    let lines = if arguments.multi_turn {
        contexts(arguments, &collection, &table)?
    } else {
        topics(arguments, &collection, &table)?
    };
    let turns = if arguments.multi_turn { ".multi-turn" } else { "" };
    let usual = || {
        let file = format!("{}.{}{turns}.run", arguments.choice.name(), arguments.split);
        folder_of(Path::new("runs"), &collection).join(file)
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
        "oracle": arguments.choice.name(),
        "metric": arguments.metric,
        "table": stem,
        "split": arguments.split,
        "bank": { "sha256": collection.bank.checksum(), "questions": collection.bank.len() },
    });
    let files = vec![("run", path.clone(), run)];
    let record = record::stage(&path, made_by, &files)?;
    files.into_iter().map(|(.., file)| file).chain([record]).try_for_each(Staged::commit)?;
    let count = lines.split(|&byte| byte == b'\n').count() - 1;
    let mut sheet = Sheet::new(&["oracle", "split", "lines", "run file"]);
    let (name, split) = (Cell::text(arguments.choice.name()), Cell::text(arguments.split.name()));
    sheet.row(vec![name, split, Cell::count(count), Cell::text(path.display().to_string())]);
    sheet.print(settings.format)?;
    Ok(Outcome::Done)
}

fn topics(
    arguments: &OracleArgs,
    collection: &ClariQ,
    table: &EvalTable,
) -> Result<Vec<u8>, Failure> {
    let labels = collection.labelled(arguments.split)?;
    let chosen = oracle_of_topics(table, &arguments.metric, &labels, arguments.choice.choice());
    let chosen: Vec<(TopicId, String)> = chosen.ok_or_else(|| no_metric(arguments, table))?;
    let mut out = Vec::new();
    for (topic, question) in &chosen {
        let question = if arguments.choice == Oracle::Nothing { NO_QUESTION } else { question };
        writeln!(out, "{topic} 0 {question} 1 1 {}", arguments.choice.name())?;
    }
    Ok(out)
}

fn contexts(
    arguments: &OracleArgs,
    collection: &ClariQ,
    table: &EvalTable,
) -> Result<Vec<u8>, Failure> {
    let chosen = oracle_of_contexts(table, &arguments.metric, arguments.choice.choice());
    let chosen = chosen.ok_or_else(|| no_metric(arguments, table))?;
    let bank = &collection.bank;
    let mut out = Vec::new();
    for (context, question) in &chosen {
        let question = if arguments.choice == Oracle::Nothing { NO_QUESTION } else { question };
        let number = bank.find(question).ok_or_else(|| stranger(arguments, question))?;
        put_text_run_line(&mut out, *context, bank.text(number), 1, 1.0, arguments.choice.name())
            .map_err(Failure::Output)?;
    }
    Ok(out)
}

fn no_metric(arguments: &OracleArgs, table: &EvalTable) -> Problem {
    let names: Vec<String> = table.metrics().map(|name| format!("`{name}`")).collect();
    let expected = format!("a metric of the table, one of {}", names.join(", "));
    Problem::new(
        Location::file("--metric"),
        ProblemKind::Argument,
        expected,
        format!("`{}`", arguments.metric),
    )
    .hint("leave --metric out to choose by MRR100")
}

fn stranger(arguments: &OracleArgs, question: &str) -> Problem {
    let at = Location::file(table_stem(arguments.split, arguments.multi_turn));
    let found = format!("`{question}`");
    Problem::new(at, ProblemKind::UnknownQuestion, "question ids of question_bank.tsv", found)
        .hint("the table and the bank must be of one release")
}
