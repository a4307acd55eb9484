//! The measures of the `ClariQ` challenge, as its official scorer computes them, and what goes
//! with them: oracles, published leaderboards, and reports of runs and need files.

mod clarification_need;
mod context_relevance;
mod document_relevance;
mod facet_requests;
mod leaderboard;
mod named_documents;
mod need_report;
mod official;
mod oracle;
mod question_relevance;
mod task;
#[cfg(test)]
mod tests;

pub use clarification_need::{NeedScores, clarification_need};
pub use context_relevance::{ContextRelevance, ContextScorer};
pub use document_relevance::{
    DocumentRelevance, document_relevance, multi_turn_document_relevance, table_stem,
};
pub use facet_requests::{FacetRequests, facet_requests};
pub use leaderboard::{Leaderboard, LeaderboardEntry, Placement, RELEASED_BANK};
pub use need_report::{NeedClass, NeedReport, need_report};
pub(crate) use official::names;
pub use official::{DOCUMENT_MEASURES, Official, OfficialScores, leaderboard_row};
pub use oracle::{Choice, OracleRequest, OracleRun, oracle_run};
pub use question_relevance::{CUTOFFS, question_relevance, recall, recall_interval};
pub use task::{DocumentsTask, OfficialTask, ScorerTask};
