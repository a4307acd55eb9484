//! `clariq`: baselines, rankings and scores for the `ClariQ` benchmark. It never loads libtorch.

use std::process::ExitCode;

fn main() -> ExitCode {
    clariq_command::main(None)
}
