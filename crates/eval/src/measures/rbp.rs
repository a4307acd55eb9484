//! Rank-biased precision, RBP.

use super::catalogue::spelled;
use super::{Measure, Spec, TopicJudgements};
use clariq_core::QuestionId;

/// RBP(p)@k = (1 − p) · Σ p^(rank − 1) over the ranks of the relevant among the first k.
///
/// The gain is 0 or 1, so the value stays within 0 to 1: this is `RBP(rel=1)` of `ir_measures`,
/// whose `RBP` without `rel` adds up grades as they are. The name therefore always says `rel`.
/// `trec_eval`'s `rbp` (p = 0.9, scaled grades) is another measure and not an alias. Source: Moffat
/// and Zobel, *Rank-biased precision for measurement of retrieval effectiveness*, TOIS 2008.
/// Default: `p=0.8`, the whole ranking, `rel=1`.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct RankBiasedPrecision {
    p: f64,
    cutoff: Option<usize>,
    rel: i32,
}

pub(super) const SPEC: Spec = Spec {
    name: "RBP",
    alias: None,
    trec: None,
    trec_cut: None,
    clariq: None,
    example: "RBP(p=0.8,rel=1)",
    summary: "the rate at which a persistent reader meets the relevant",
    build: |parameters| {
        let p = parameters.fraction("p", 0.8)?;
        Ok(Box::new(RankBiasedPrecision {
            p,
            cutoff: parameters.cutoff()?,
            rel: parameters.rel()?,
        }))
    },
};

impl Measure for RankBiasedPrecision {
    fn name(&self) -> String {
        spelled(SPEC.name, &[format!("p={:?}", self.p), format!("rel={}", self.rel)], self.cutoff)
    }

    fn score(&self, ranking: &[QuestionId], judgements: &TopicJudgements) -> f64 {
        let (mut reached, mut met) = (1.0, 0.0);
        for document in ranking.iter().take(self.cutoff.unwrap_or(usize::MAX)) {
            if judgements.is_relevant(document, self.rel) {
                met += reached;
            }
            reached *= self.p;
        }
        (1.0 - self.p) * met
    }
}
