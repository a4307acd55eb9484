//! The integration tests of the command: a module per subcommand, and `guarantees` for properties
//! of all of them.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]
#![expect(clippy::needless_raw_string_hashes, reason = "snapbox writes them")]

mod advisories;
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
mod gate;
mod guarantees;
mod ikat;
#[cfg(feature = "bert")]
mod learned;
mod mtrag;
mod narrow;
mod need;
mod own;
#[path = "../../../systems/tests/it/pages.rs"]
mod pages;
mod printed;
mod public_reports;
mod rank;
#[cfg(target_os = "linux")]
mod records;
mod report;
mod rewrites;
mod run;
mod run_conversations;
mod setup;
mod several;
mod shared_cases;
#[cfg(feature = "bert")]
mod sparse;
#[path = "../../../net/tests/it/stub.rs"]
mod stub;
mod systems;
mod tune;
mod typing_errors;
mod without_learned;
#[path = "../../../track-clariq/tests/it/written_table.rs"]
mod written_table;
