//! Measures of runs: by name after `trec_eval`, and those of the `ClariQ` challenge exactly as its
//! official scorer computes them. With them come the orders of equal scores, measures of sets,
//! and significance tests.
//!
//! ```
//! use clariq_collections::{Collection, DataDir};
//! use clariq_eval::{RankedRun, evaluate, parse_measures};
//! use clariq_files::{Source, read_run};
//!
//! let collection = clariq_collections::open(&DataDir::Sample)?;
//! let qrels = collection.qrels("dev", "questions")?.expect("the labels of dev");
//! let folder = tempfile::tempdir()?;
//! std::fs::write(folder.path().join("a.run"), "13 0 Q00001 1 1.0 nothing\n")?;
//! let run = RankedRun::new(&read_run(&Source::new(folder.path().join("a.run")))?)?;
//! let scores = evaluate(&parse_measures("nDCG@10 AP")?, &run, &qrels);
//! assert_eq!(scores.missing, scores.topics.len() - 1, "a topic without an answer counts 0");
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod clariq;
mod comparison;
mod mean;
pub mod measures;
mod rouge;
mod sets;
mod significance;
#[cfg(test)]
mod testing;
mod ties;
mod topics;

pub use comparison::{Column, Tested, test_against_baseline};
pub use mean::exact_mean;
pub use measures::{
    Measure, MeasureError, Qrels, RankedRun, Scores, evaluate, parse_measure, parse_measures,
};
pub use rouge::rouge_f1;
pub use sets::{SetAverage, SetReport, Unjudged, score_sets, set_values};
pub use significance::{PairedTest, ROUNDS, holm, paired_test};
pub use ties::{Favour, Ties};
