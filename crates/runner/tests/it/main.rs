//! The integration tests of the command: a module per subcommand, and `guarantees` for what holds of all of them.

mod ask;
mod common;
mod compare;
mod completions;
mod data;
mod eval;
mod formats;
mod guarantees;
#[cfg(feature = "bert")]
mod learned;
#[cfg(feature = "bert")]
mod learned_conversations;
mod need;
mod rank;
mod readme;
mod real_data;
mod report;
mod run_conversations;
mod without_learned;
