//! How good is a run? The measures of the `ClariQ` challenge, exactly as its official scorer computes them, and what
//! equal scores leave open.
//!
//! ```
//! use clariq_collections::clariq::{Labelled, DataDir};
//! use clariq_files::{Source, read_run};
//! use clariq_eval::{Ties, question_relevance};
//!
//! let labels = Labelled::read(&DataDir::Sample.require("dev.tsv")?)?;
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("a.run"), "101 0 Q00001 1 1.0 nothing\n")?;
//! let run = read_run(&Source::new(folder.path().join("a.run")))?;
//! let scores = question_relevance(&run, &labels, Ties::Official);
//! assert_eq!(scores.topics.len(), labels.topics.len(), "a topic without an answer counts 0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod context_relevance;
mod diagnosis;
mod document_relevance;
mod leaderboard;
mod mean;
pub mod measures;
mod need;
mod need_interval;
mod need_report;
mod oracle;
mod python;
mod question_relevance;
mod significance;
#[cfg(test)]
mod testing;
mod tie_interval;
mod ties;

pub use context_relevance::{ContextRelevance, ContextScorer};
pub use diagnosis::{Diagnosis, diagnose};
pub use document_relevance::{
    DocumentRelevance, MetricScores, document_relevance, multi_turn_document_relevance, table_stem,
};
pub use leaderboard::{Entry, Leaderboard, LeaderboardTask, Placement};
pub use mean::exact_mean;
pub use measures::{
    Favour, Measure, MeasureError, Qrels, RankedRun, Scores, evaluate, parse_measure,
    parse_measures,
};
pub use need::{NeedScores, clarification_need};
pub use need_interval::{ReliabilityBin, need_interval, reliability, weighted_f1};
pub use need_report::{NeedClass, NeedReport, need_report};
pub use oracle::{Choice, oracle_of_contexts, oracle_of_topics};
pub use python::python_float;
pub use question_relevance::{CUTOFFS, QuestionRelevance, question_relevance};
pub use significance::{PairedTest, ROUNDS, holm, paired_test};
pub use tie_interval::{RecallInterval, recall_interval};
pub use ties::Ties;
