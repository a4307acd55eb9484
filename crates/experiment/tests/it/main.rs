//! The tests of this crate, in one program.

mod fuzz_corpora;
mod systems;
