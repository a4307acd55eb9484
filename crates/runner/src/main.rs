//! `clariq`: baselines, rankings and scores for the `ClariQ` benchmark. Arguments, calls, output; no algorithm
//! lives here.

mod arguments;
mod cli;
mod commands;
mod engine;
mod failure;
mod interrupt;
mod output;
mod progress;
mod runs;
mod settings;
mod usage;

use clap::Parser;
use failure::{Failure, Outcome};
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    interrupt::clean_up_on_signals();
    let arguments = cli::Cli::try_parse().map_err(|error| match usage::refused_value(&error) {
        Some(problem) => Failure::from(problem),
        // clap prints everything else itself and leaves with status 2, or 0 after help that was asked for.
        None => error.exit(),
    });
    match arguments.and_then(cli::dispatch) {
        Ok(Outcome::Done) => ExitCode::SUCCESS,
        Ok(Outcome::CheckFailed) => ExitCode::from(1),
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
