//! Measures of rankings by name, after `trec_eval`'s definitions.
//!
//! Names are spelled as `ir_measures` spells them,
//! [`NAME(parameter=value)@cut-off`](parse_measure); the names of `trec_eval` and of the `ClariQ`
//! challenge are understood as well:
//!
#![doc = include_str!("measures/table.md")]
//!
//! Without `@k` the whole ranking counts. The parameter `rel` is the lowest grade that counts as
//! relevant, 1 unless given: `P(rel=2)@5`; `p` is 0.8 and `beta` 1 unless given; `judged_only=True` takes
//! documents that are not judged out of the ranking first.
//!
//! Measures compare a [`RankedRun`], made of any TREC run, with [`Qrels`].

mod catalogue;
mod definitions;
mod evaluate;
mod parameters;
mod parse;
mod ranked_run;

pub use catalogue::Measure;
pub use clariq_files::{Qrels, TopicJudgements};
pub use definitions::table;
pub use evaluate::evaluate;
pub use parse::{parse_measure, parse_measures};
pub use ranked_run::RankedRun;
