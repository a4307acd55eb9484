//! The tests of this crate, in one program.

mod config;
mod fuzz_corpora;
