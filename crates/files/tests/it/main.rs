//! The integration tests of this crate, a module per subject.

mod download;
mod protection;
mod service;
