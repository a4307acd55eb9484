//! Conversational search with statements of a user: rank the statements, rank passages, answer from
//! them.
//!
//! A system has a pipeline for each of these tasks (`[tasks.statements]`, `[tasks.passages]`,
//! `[tasks.sentences]`, and `[tasks.chosen]` where the statements that an answer rests on are
//! chosen by scores of their own), and a table `[answer]` that says of which class it is and how an
//! answer is put together.

mod answer;
mod by_turn;
mod check;
mod config;
mod evaluate;
mod figures;
mod sentences;
mod write;

pub use answer::{Answers, answer};
pub use by_turn::{Part, columns};
pub use check::check;
pub use config::{AnswerConfig, ResponseRule, StatementRule};
pub use evaluate::{Evaluated, Labels};
pub(crate) use figures::names;
pub use figures::{figures, rankings, sets};
pub use write::{Paths, write};
