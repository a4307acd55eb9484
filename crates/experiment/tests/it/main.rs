//! The tests of this crate, in one program.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod systems;
