//! The command line of `clariq`: arguments, calls of `clariq_experiment`, printed tables.
//!
//! Two programs are made of it: `clariq`, which has no engine for learned models and starts in
//! milliseconds, and `clariq-learned`, which has one and takes over where a model is needed.

mod arguments;
mod cli;
mod commands;
mod failure;
mod interrupt;
mod learned;
mod output;
mod progress;
mod runs;
mod settings;

use clariq_core::Engine;
use failure::{Failure, Outcome};
use std::io;

/// Does what the arguments ask for, and ends the process; `engine` opens and trains learned models.
pub fn main(engine: Option<&'static dyn Engine>) -> ! {
    interrupt::clean_up_on_signals();
    let arguments = cli::parse().map_err(|error| match failure::refused_value(&error) {
        Some(problem) => Failure::from(problem),
        // clap prints everything else, and leaves with status 2, or 0 after help.
        None => error.exit(),
    });
    interrupt::exit(match arguments.and_then(|cli| cli::dispatch(cli, engine)) {
        Ok(Outcome::Done) => 0,
        Ok(Outcome::CheckFailed) => 1,
        // `clariq eval … | head`: whoever reads has seen enough.
        Err(Failure::Output(error)) if error.kind() == io::ErrorKind::BrokenPipe => 0,
        Err(failure) => {
            failure.print();
            2
        }
    })
}
