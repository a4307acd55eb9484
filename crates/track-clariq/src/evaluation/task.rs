//! The tasks of the official scorer.

use clariq_collections::evaluation::TieRule;
use std::path::PathBuf;

/// A task, by the name that the official scorer gives it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum ScorerTask {
    /// Question relevance.
    #[default]
    Ranking,
    /// Clarification need.
    Need,
    /// Document relevance, looked up in a released table.
    Documents,
}

/// The task that a file is scored for, with its options.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum OfficialTask {
    /// Recall of relevant questions.
    Questions {
        /// The order of equal scores, if it is not the official one.
        ties: Option<TieRule>,
    },
    /// Precision, recall and F1 of clarification need.
    Needs,
    /// The quality of the documents retrieved after the first question.
    Documents(DocumentsTask),
    /// The shares of conversations whose next question is relevant, new and answered.
    Contexts {
        /// The conversations that the file answers.
        conversations: PathBuf,
    },
}

/// How document relevance is looked up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct DocumentsTask {
    /// True if the file is a multi-turn run.
    pub multi_turn: bool,
    /// True to score the documents retrieved without the answer to the question.
    pub no_answer: bool,
}
