//! Precision among the first k, P.

use super::catalogue::{spelled, spelled_rel};
use super::{Measure, Spec, TopicJudgements};
use clariq_core::QuestionId;

/// Precision@k = |relevant ∩ first k| / k, also where the ranking is shorter than k.
///
/// Source: van Rijsbergen, *Information Retrieval*, 1979; `trec_eval`'s `P_k`. Default: `rel=1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Precision {
    cutoff: usize,
    rel: i32,
}

pub(super) const SPEC: Spec = Spec {
    name: "P",
    alias: Some("Precision"),
    trec: None,
    trec_cut: Some("P"),
    clariq: Some("P"),
    example: "P@5",
    summary: "the share of the first k that is relevant",
    build: |parameters| {
        Ok(Box::new(Precision { cutoff: parameters.required_cutoff()?, rel: parameters.rel()? }))
    },
};

impl Measure for Precision {
    fn name(&self) -> String {
        spelled(SPEC.name, &spelled_rel(self.rel), Some(self.cutoff))
    }

    fn score(&self, ranking: &[QuestionId], judgements: &TopicJudgements) -> f64 {
        let first = ranking.iter().take(self.cutoff);
        first.filter(|document| judgements.is_relevant(document, self.rel)).count() as f64
            / self.cutoff as f64
    }
}
