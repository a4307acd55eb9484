//! The integration tests of MTRAG, a module per subject.

mod asking;
mod common;
mod released;
mod sample;
mod scores;
mod validator;
