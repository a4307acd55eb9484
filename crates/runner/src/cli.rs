//! The command line: its subcommands, and which module does each.

use crate::arguments::Common;
use crate::commands::{
    ask, compare, completions, convert_run, data, doctor, eval, explain, index, need, oracle, rank,
    report, reproduce, run, setup, train, tune, validate,
};
use crate::failure::{Failure, Outcome};
use crate::learned;
use crate::output::Format;
use crate::settings::Settings;
use clap::{CommandFactory, FromArgMatches, Parser, Subcommand};
use clariq_core::{Engine, Problem};

/// Baselines, rankings and scores for conversational search: ClariQ and the tracks of TREC.
///
/// Without --data, commands work on data/clariq if that folder exists, and else on a small sample
/// collection that is part of the program. Results go to standard output, everything else to
/// standard error. Exit status: 0 success, 1 a check failed, 2 bad input or usage.
#[derive(Parser)]
#[command(name = "clariq", version, max_term_width = 100, arg_required_else_help = true)]
pub(crate) struct Cli {
    #[command(flatten)]
    common: Common,
    #[command(subcommand)]
    command: Command,
}

/// What the command can be asked to do, one variant per subcommand.
#[derive(Subcommand)]
enum Command {
    /// Look at, check or download a data folder
    #[command(subcommand)]
    Data(data::DataCommand),
    /// Build or look at the index over the question bank
    #[command(subcommand)]
    Index(index::IndexCommand),
    /// Make the run file (and need file) of systems
    Run(run::arguments::RunArgs),
    /// Rank documents for requests as they come, as JSON lines
    Rank(rank::RankArgs),
    /// Fine-tune the models that a system needs on train.tsv
    Train(train::TrainArgs),
    /// Train, apply and explain models of clarification need
    #[command(subcommand)]
    Need(need::NeedCommand),
    /// Try parameters of a system on a labelled split
    Tune(tune::TuneArgs),
    /// Score a run or need file as the official scorer does
    Eval(eval::EvalArgs),
    /// Check a run: the official verdict, and what the official program lets through
    ///
    /// Findings go to standard error: the file's line, what was expected, what was found, and a
    /// hint. First come the errors and warnings of the collection's official program, then, marked
    /// `let through`, what that program does not see. The exit status is 1 if the verdict is an
    /// error.
    Validate(validate::ValidateArgs),
    /// Write an iKAT run in another form
    ///
    /// The year is recognised by the form of the run.
    Convert(convert_run::ConvertRunArgs),
    /// Compare runs: means, differences and which of them are significant
    Compare(compare::CompareArgs),
    /// Write a page that shows runs side by side
    Report(report::ReportArgs),
    /// Make, score and check systems against their expected figures
    Reproduce(reproduce::arguments::ReproduceArgs),
    /// Hold a conversation: should it ask back, and what?
    Ask(ask::AskArgs),
    /// Make the run of an oracle that knows the evaluation table
    Oracle(oracle::OracleArgs),
    /// Show where the score of a question comes from
    Explain(explain::ExplainArgs),
    /// Check the installation: what was found, what is missing, and how to fix it
    Doctor,
    /// Install libtorch and the weights that learned stages need
    ///
    /// They are fetched by Python's pip (0.9 GB on Linux x86-64, 0.2 GB elsewhere) into the user's
    /// cache. What is there already is verified and kept.
    Setup(setup::SetupArgs),
    /// Print the completions of a shell
    Completions(completions::CompletionsArgs),
    /// Print the manual page, or write one for every command
    Man(completions::ManArgs),
}

/// What short help says of the flags that it leaves out.
const COMMON: &str =
    "Options of every command, such as --data, --format and --threads, are in --help";

/// Parses the command line.
pub(crate) fn parse() -> Result<Cli, clap::Error> {
    fn mention_common(command: clap::Command) -> clap::Command {
        command.after_help(COMMON).after_long_help("").mut_subcommands(mention_common)
    }
    let matches = mention_common(Cli::command()).try_get_matches()?;
    Cli::from_arg_matches(&matches)
}

impl Command {
    /// Whether learned models are needed, as far as the arguments tell.
    fn needs_models(&self) -> bool {
        match self {
            Self::Run(arguments) => arguments.needs_models(),
            Self::Rank(arguments) => arguments.needs_models(),
            Self::Train(_) => true,
            Self::Need(command) => command.needs_models(),
            Self::Tune(arguments) => learned::is_needed_by(&arguments.config, &[]),
            Self::Reproduce(arguments) => arguments.needs_models(),
            Self::Ask(arguments) => arguments.needs_models(),
            Self::Explain(arguments) => arguments.needs_models(),
            Self::Doctor => doctor::needs_models(),
            Self::Data(command) => command.needs_models(),
            Self::Index(_)
            | Self::Eval(_)
            | Self::Validate(_)
            | Self::Convert(_)
            | Self::Compare(_)
            | Self::Report(_)
            | Self::Oracle(_)
            | Self::Setup(_)
            | Self::Completions(_)
            | Self::Man(_) => false,
        }
    }
}

impl Command {
    /// Refuses a form that a command does not print in: it would be ignored.
    fn check_format(&self, format: Option<Format>) -> Result<(), Problem> {
        let problem = |expected: &str, found: &str| Problem::at("--format", expected, found);
        let prints_no_table = match self {
            Self::Ask(_) => Some("`clariq ask --json` answers in JSON lines"),
            Self::Need(need::NeedCommand::Predict(_)) => {
                Some("need files have one form, that of the official scorer")
            }
            Self::Convert(_) | Self::Completions(_) | Self::Man(_) => {
                Some("leave --format out: this command prints no table")
            }
            _ => None,
        };
        match (format, prints_no_table) {
            (Some(_), Some(hint)) => {
                Err(problem("a command that prints a table", "one that prints none").hint(hint))
            }
            (Some(Format::Trec), None) if !matches!(self, Self::Rank(_)) => {
                Err(problem("a form of tables", "`trec`")
                    .hint("`clariq rank` alone prints runs; `clariq run -o -` does too"))
            }
            _ => Ok(()),
        }
    }
}

/// Runs the command that was asked for.
pub(crate) fn dispatch(cli: Cli, engine: Option<&'static dyn Engine>) -> Result<Outcome, Failure> {
    let settings = Settings::new(cli.common, engine)?;
    if cli.command.needs_models() {
        learned::take_over(engine.is_some(), settings.isa)?;
    }
    // Whatever a command writes, it is neither a file that it reads nor one of the data folder.
    clariq_files::protect_inputs();
    settings.data.protect();
    // Scoring takes milliseconds on one thread, and starting others may take longer than that. For
    // the rest, this can only fail if there is a pool already, and it is the first thing that
    // happens.
    if !matches!(cli.command, Command::Eval(_)) {
        let _ = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build_global();
    }
    cli.command.check_format(settings.format)?;
    match cli.command {
        Command::Data(command) => data::data(&settings, &command),
        Command::Index(command) => index::index(&settings, &command),
        Command::Run(arguments) => run::run(&settings, &arguments),
        Command::Rank(arguments) => rank::rank(&settings, &arguments),
        Command::Train(arguments) => train::train(&settings, &arguments),
        Command::Need(command) => need::need(&settings, &command),
        Command::Tune(arguments) => tune::tune(&settings, &arguments),
        Command::Eval(arguments) => eval::eval(&settings, &arguments),
        Command::Validate(arguments) => validate::validate(&settings, &arguments),
        Command::Convert(arguments) => convert_run::convert_run(&arguments),
        Command::Compare(arguments) => compare::compare(&settings, &arguments),
        Command::Report(arguments) => report::report(&settings, &arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(&settings, &arguments),
        Command::Ask(arguments) => ask::ask(&settings, &arguments),
        Command::Oracle(arguments) => oracle::oracle(&settings, &arguments),
        Command::Explain(arguments) => explain::explain(&settings, &arguments),
        Command::Doctor => doctor::doctor(&settings),
        Command::Setup(arguments) => setup::setup(&arguments),
        Command::Completions(arguments) => completions::completions(Cli::command(), &arguments),
        Command::Man(arguments) => completions::man(Cli::command(), &arguments),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_arguments_are_consistent() {
        Cli::command().debug_assert();
    }
}
