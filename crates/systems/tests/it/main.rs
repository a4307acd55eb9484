//! The tests of this crate, in one program.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]
#![expect(clippy::needless_raw_string_hashes, reason = "snapbox writes them")]

mod based_on;
mod config;
mod documents;
mod fuzz_corpora;
mod keys;
mod pages;
mod refusals;
mod repository;
mod written;
