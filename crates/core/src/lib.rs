//! The types and traits that every crate of `clariq` speaks in.
//!
//! A [`Problem`] names the file and line of whatever is wrong, what was expected there, what was found, and a hint; a
//! [`Report`] is the same for any error of any crate. No engine, no format and no collection is known here.

mod checksum;
mod examples;
mod findings;
mod id;
mod name;
mod need;
mod printable;
mod problem;
mod recipe;
mod training;

pub use checksum::{Checksum, hex, sha256, sha256_hex, sha256_of_file};
pub use examples::Examples;
pub use findings::{Finding, Findings};
pub use id::{FacetId, QuestionId, TopicId};
pub use name::{BadName, Name};
pub use need::Need;
pub use printable::printable;
pub use problem::{Error, Location, Problem, ProblemKind, Report, Severity};
pub use recipe::{Objective, Recipe, Schedule};
pub use training::{
    ModelKind, ModelOptions, Precision, Trained, Training, TrainingEvent, training_key,
};
