//! The tests of this crate, in one program.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]
#![expect(clippy::needless_raw_string_hashes, reason = "snapbox writes them")]

mod anserini;
mod chat;
mod common;
mod conversations;
mod document_relevance;
mod ikat;
mod independence;
mod mtrag;
mod needs;
mod public_reports;
mod released;
mod responses;
mod rewrites;
mod runs;
#[path = "../../../net/tests/it/stub.rs"]
mod stub;
mod systems;
mod text_stores;
mod thinking;
#[path = "../../../track-clariq/tests/it/written_table.rs"]
mod written_table;
