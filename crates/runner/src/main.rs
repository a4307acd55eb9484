//! `clariq`: baselines, rankings and scores for conversational search. It never loads libtorch.

fn main() {
    clariq_command::main(None)
}
