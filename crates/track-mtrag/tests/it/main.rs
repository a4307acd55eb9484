//! The integration tests of MTRAG, a module per subject.

#![allow(clippy::disallowed_methods, reason = "tests read the files that they have written")]

mod asking;
mod common;
mod placed;
mod published;
mod release;
mod released;
mod responses;
mod sample;
mod scores;
mod unjudged;
mod validator;
