//! Measures of runs by name, after `trec_eval`, of sets and of texts; orders of equal scores,
//! significance tests, and counts of lines and topics that scores ignore. The definitions of an
//! official scorer are in the crate of its track.
//!
//! Measures follow the definitions of `trec_eval`, and those that it lacks, `ir_measures`.
//!
//! ```
//! use clariq_eval::{Qrels, RankedRun, evaluate, parse_measures};
//! use clariq_files::{Judgement, Run, RunLine};
//!
//! let judged = Judgement { topic: "1".into(), document: "d1".into(), relevance: 2 };
//! let unanswered = Judgement { topic: "2".into(), document: "d1".into(), relevance: 1 };
//! let qrels = Qrels::from_judgements("a.qrels", &[judged, unanswered])?;
//! let line = RunLine { topic: "1".into(), document: "d1".into(), score: 1.0, line: 1 };
//! let run = Run { lines: vec![line], ..Run::default() };
//! let scores = evaluate(&parse_measures("nDCG@10 AP")?, &RankedRun::new(&run), &qrels)?;
//! assert_eq!([scores[0].value(), scores[1].value()], [0.5, 0.5], "topic 2 counts 0");
//! # Ok::<(), clariq_core::Error>(())
//! ```

#![deny(missing_docs)]

mod comparison;
mod decisions;
mod diagnosis;
mod gate;
mod mean;
pub mod measures;
mod need_interval;
mod rouge;
mod sets;
mod side_by_side;
mod significance;
#[cfg(test)]
mod tests;
mod ties;

pub use comparison::{
    Aggregate, BaselineTest, Score, keep_common, sort_by_topic, test_against_baseline,
};
pub use decisions::{Decision, DecisionReport, best_threshold, ratio};
pub use diagnosis::{Diagnosis, diagnose};
pub use gate::{GateRow, GateRule, gate, keep_common_topics};
pub use mean::exact_mean;
pub use measures::{
    Measure, Qrels, RankedRun, evaluate, parse_measure, parse_measures, table as measure_table,
};
pub use need_interval::{
    ReliabilityBin, SAMPLES, mean_interval, need_interval, reliability, weighted_f1,
};
pub use rouge::{rouge_f1, rouge_l};
pub use sets::{SetAverage, Unjudged, micro_average, set_values};
pub use side_by_side::{DocumentRanks, side_by_side};
pub use significance::{PairedTest, ROUNDS, holm, paired_test};
pub use ties::{Favour, Ties, double, lines_by_topic, ordered_lines, sort_with_favour};
