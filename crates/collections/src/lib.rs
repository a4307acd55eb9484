//! The collections that `clariq` knows, a module each: formats in and out, splits, labels and checks.

pub mod cast;
pub mod clariq;
pub mod ikat;
mod json;
mod validation;

pub use validation::{Validation, Verdict};
