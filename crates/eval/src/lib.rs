//! Measures of runs: by name after `trec_eval`, and those of the `ClariQ` challenge exactly as its
//! official scorer computes them. With them come the orders of equal scores, measures of sets,
//! and significance tests.
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

mod clariq;
mod mean;
pub mod measures;
mod rouge;
mod sets;
mod significance;
#[cfg(test)]
mod testing;
mod ties;
mod topics;

pub use clariq::{
    CUTOFFS, Choice, ContextRelevance, ContextScorer, Diagnosis, DocumentRelevance, Entry,
    Leaderboard, LeaderboardTask, MetricScores, NeedClass, NeedReport, NeedScores, Placement,
    QuestionRelevance, RecallInterval, ReliabilityBin, clarification_need, diagnose,
    document_relevance, multi_turn_document_relevance, need_interval, need_report,
    oracle_of_contexts, oracle_of_topics, question_relevance, recall_interval, reliability,
    table_stem, weighted_f1,
};
pub use mean::exact_mean;
pub use measures::{
    Measure, MeasureError, Qrels, RankedRun, Scores, evaluate, parse_measure, parse_measures,
};
pub use rouge::rouge_f1;
pub use sets::{SetAverage, SetReport, Unjudged, score_sets};
pub use significance::{PairedTest, ROUNDS, holm, paired_test};
pub use ties::{Favour, Ties};
