//! Measures of rankings by name, after `trec_eval`'s definitions.
//!
//! Names are spelled as `ir_measures` spells them,
//! [`NAME(parameter=value)@cut-off`](parse_measure); the names of `trec_eval` and of the `ClariQ`
//! challenge are understood as well:
//!
//! | name | value for a topic | also called |
//! |---|---|---|
//! | `R@k` | share of the relevant among the first k | `recall_k`, `Recallk` |
//! | `P@k` | share of the first k that is relevant | `P_k`, `Pk` |
//! | `nDCG`, `nDCG@k` | discounted gain, divided by that of an ideal ranking | `ndcg`, `ndcg_cut_k`, `NDCGk` |
//! | `AP`, `AP@k` | mean precision at the ranks of the relevant | `map`, `map_cut_k`, `MAP` |
//! | `RR`, `RR@k` | 1 / rank of the first relevant | `recip_rank`, `MRRk`, `MRR` |
//! | `Success@k` | 1 if anything relevant is among the first k | `success_k` |
//! | `Judged@k` | share of the first k that is judged | |
//! | `RBP(p=…)`, `RBP@k` | share of the relevant among the documents that a persistent reader reads | |
//!
//! Without `@k` the whole ranking counts. The `p` of RBP is 0.8 unless given. All but nDCG and
//! Judged take `rel=`, the lowest grade that counts as relevant: `P(rel=2)@5`. It is 1 unless
//! given.
//!
//! Measures compare a [`RankedRun`], made of any TREC run, with [`Qrels`].

mod catalogue;
mod definitions;
mod evaluate;
mod parse;
mod ranked_run;

pub use clariq_files::{Qrels, TopicJudgements};
pub use evaluate::{Scores, evaluate};
pub use parse::{parse_measure, parse_measures};
pub use ranked_run::RankedRun;

use clariq_core::DocId;
use std::fmt;

/// A measure with its parameters; [`parse_measure`] makes it from its name.
pub trait Measure: fmt::Debug + Send + Sync {
    /// The name in the spelling of `ir_measures`; [`parse_measure`] of it gives the same measure.
    fn name(&self) -> String;

    /// The value for one topic: its documents, best first and none twice, against its judgements.
    /// 0 where the definition divides by zero.
    fn score(&self, ranking: &[DocId], judgements: &TopicJudgements) -> f64;
}

impl PartialEq for dyn Measure {
    fn eq(&self, other: &Self) -> bool {
        self.name() == other.name()
    }
}
