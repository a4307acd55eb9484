//! `clariq`: baselines, rankings and scores for the `ClariQ` benchmark. Arguments, calls, output; no algorithm
//! lives here.

mod cli;
mod commands;
mod configs;
mod failure;
mod interrupt;
mod models;
mod output;
mod progress;
mod record;
mod runs;
mod settings;
mod usage;

use clap::Parser;
use failure::Failure;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::clean_up_on_signals();
    let arguments = cli::Cli::try_parse().map_err(|error| match usage::refused_value(&error) {
        Some(problem) => Failure::from(problem),
        // clap prints everything else itself and leaves with status 2, or 0 after help that was asked for.
        None => error.exit(),
    });
    match arguments.and_then(commands::dispatch) {
        Ok(commands::Outcome::Done) => ExitCode::SUCCESS,
        Ok(commands::Outcome::CheckFailed) => ExitCode::from(1),
        // `clariq eval … | head`: whoever reads has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => {
            ExitCode::SUCCESS
        }
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}
