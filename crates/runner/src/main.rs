//! `clariq`: baselines, rankings and scores for the `ClariQ` benchmark. Arguments, calls, output; no algorithm
//! lives here.

mod cli;
mod commands;
mod configs;
mod failure;
mod output;
mod progress;
mod record;
mod settings;

use clap::Parser;
use failure::Failure;
use std::io;
use std::process::ExitCode;

fn main() -> ExitCode {
    // clap prints usage errors itself and leaves with status 2.
    let arguments = cli::Cli::parse();
    match commands::dispatch(arguments) {
        Ok(commands::Outcome::Done) => ExitCode::SUCCESS,
        Ok(commands::Outcome::CheckFailed) => ExitCode::from(1),
        // `clariq eval … | head`: whoever reads has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => ExitCode::SUCCESS,
        Err(failure) => {
            failure.print();
            ExitCode::from(2)
        }
    }
}
