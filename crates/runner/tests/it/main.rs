//! The integration tests of the command: a module per subcommand, and `guarantees` for properties
//! of all of them.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod anserini;
mod ask;
mod chat;
mod common;
mod compare;
mod completions;
mod data;
mod documents;
mod endpoints;
mod eval;
mod formats;
mod guarantees;
mod ikat;
mod independence;
#[cfg(feature = "bert")]
mod learned;
#[cfg(feature = "bert")]
mod learned_conversations;
#[cfg(feature = "bert")]
mod learned_rewriting;
mod mtrag;
#[cfg(feature = "bert")]
mod need;
mod own;
mod public_reports;
mod rank;
mod real_data;
mod report;
mod rewrites;
mod run;
mod run_conversations;
mod setup;
mod several;
#[cfg(feature = "bert")]
mod sparse;
#[path = "../../../net/tests/it/stub.rs"]
mod stub;
mod systems;
mod thinking;
#[path = "../../../track-ikat/tests/it/validator_cases.rs"]
mod validator_cases;
mod without_learned;
