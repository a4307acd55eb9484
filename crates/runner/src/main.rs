//! `clariq`: baselines, rankings and scores for the `ClariQ` benchmark. It never loads libtorch.

fn main() {
    clariq_command::main(None)
}
