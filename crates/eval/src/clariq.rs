//! The measures of the `ClariQ` challenge, as its official scorer computes them, and what goes
//! with them: oracles, published leaderboards, and reports of runs and need files.

mod clarification_need;
mod context_relevance;
mod diagnosis;
mod document_relevance;
mod first_questions;
mod leaderboard;
mod need_interval;
mod need_report;
mod oracle;
mod question_relevance;
mod recall_interval;
#[cfg(test)]
mod testing;

pub use clarification_need::{NeedScores, clarification_need};
pub use context_relevance::{ContextRelevance, ContextScorer};
pub use diagnosis::{Diagnosis, diagnose};
pub use document_relevance::{
    DocumentRelevance, MetricScores, document_relevance, multi_turn_document_relevance, table_stem,
};
pub use leaderboard::{Entry, Leaderboard, LeaderboardTask, Placement};
pub use need_interval::{ReliabilityBin, need_interval, reliability, weighted_f1};
pub use need_report::{NeedClass, NeedReport, need_report};
pub use oracle::{Choice, oracle_of_contexts, oracle_of_topics};
pub use question_relevance::{CUTOFFS, QuestionRelevance, question_relevance};
pub use recall_interval::{RecallInterval, recall_interval};
