//! How a system of several tasks answers: by the best statements of a user, and an extract of the
//! best passages.
//!
//! Such a system has a pipeline for each task (`[tasks.statements]`, `[tasks.passages]`,
//! `[tasks.sentences]`, and `[tasks.chosen]` where the statements that an answer rests on are
//! chosen by scores of their own), and a table `[answer]` that says of which class it is and how an
//! answer is put together.

mod config;
mod sentences;

pub use config::{AnswerConfig, PASSAGES, ResponseRule, STATEMENTS, StatementRule};
pub(crate) use config::{CHOSEN, SENTENCES};
pub(crate) use sentences::Sentences;
