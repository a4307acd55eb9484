//! Which command does what? One module per subcommand.

mod ask;
mod compare;
mod conversations;
mod convert;
mod data;
mod doctor;
mod eval;
mod explain;
mod fetch;
mod index;
mod need;
mod oracle;
mod report;
mod reproduce;
mod run;
mod synthesize;
mod train;
mod tune;

use crate::cli::{Cli, Command, DataCommand};
use crate::failure::Failure;
use crate::settings::Settings;
pub(crate) use ask::AskArgs;
pub(crate) use compare::CompareArgs;
pub(crate) use eval::EvalArgs;
pub(crate) use need::NeedCommand;
pub(crate) use oracle::OracleArgs;
pub(crate) use report::ReportArgs;
pub(crate) use synthesize::SynthesizeArgs;

/// How a command that printed its results ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Outcome {
    /// As it should.
    Done,
    /// It works, and what it checked does not hold.
    CheckFailed,
}

/// Runs the command that was asked for.
pub(crate) fn dispatch(cli: Cli) -> Result<Outcome, Failure> {
    let settings = Settings::new(&cli)?;
    // Whatever a command writes, it is neither a file that it reads nor one of the data folder.
    clariq_files::protect_inputs();
    settings.data.protect();
    // Scoring takes milliseconds on one thread, and starting others may take longer than that. For the rest, this can
    // only fail if there is a pool already, and it is the first thing that happens.
    if !matches!(cli.command, Command::Eval(_)) {
        let _ = rayon::ThreadPoolBuilder::new().num_threads(settings.threads).build_global();
    }
    match cli.command {
        Command::Data(DataCommand::Check) => data::check(&settings),
        Command::Data(DataCommand::Stats) => data::stats(&settings),
        Command::Data(DataCommand::Convert(arguments)) => convert::convert(&settings, &arguments),
        Command::Data(DataCommand::Synthesize(arguments)) => {
            synthesize::synthesize(&settings, &arguments)
        }
        Command::Data(DataCommand::Fetch(arguments)) => fetch::fetch(&settings, &arguments),
        Command::Index(command) => index::index(&settings, &command),
        Command::Run(arguments) => run::run(&settings, &arguments),
        Command::Train(arguments) => train::train(&settings, &arguments),
        Command::Need(command) => need::need(&settings, &command),
        Command::Tune(arguments) => tune::tune(&settings, &arguments),
        Command::Eval(arguments) => eval::eval(&settings, &arguments),
        Command::Compare(arguments) => compare::compare(&settings, &arguments),
        Command::Report(arguments) => report::report(&settings, &arguments),
        Command::Reproduce(arguments) => reproduce::reproduce(&settings, &arguments),
        Command::Ask(arguments) => ask::ask(&settings, &arguments),
        Command::Oracle(arguments) => oracle::oracle(&settings, &arguments),
        Command::Explain(arguments) => explain::explain(&settings, &arguments),
        Command::Doctor => doctor::doctor(&settings),
    }
}
