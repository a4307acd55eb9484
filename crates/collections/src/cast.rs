//! The files of TREC `CAsT`, 2019 to 2022: topics with resolved utterances, and the
//! mixed-initiative task of 2022.
//!
//! The mixed-initiative task is question ranking as in `ClariQ`: for every user turn, rank a pool
//! of clarifying questions.

mod collection;
mod pool;
mod resolved;
mod run;
mod topics;

pub use collection::Cast;
pub(crate) use collection::KIND;
pub use pool::{NO_QUESTION, parse_pool, read_pool};
pub(crate) use resolved::{check_training_files, resolved_turns};
pub use run::{QuestionRun, QuestionTurn};
pub use topics::{Conversation, Said, Topics, Turn};
