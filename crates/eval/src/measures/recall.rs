//! Recall among the first k, R.

use super::catalogue::{spelled, spelled_rel};
use super::{Measure, Spec, TopicJudgements};
use clariq_core::QuestionId;

/// Recall@k = |relevant ∩ first k| / |relevant|.
///
/// `ClariQ`'s measure of question relevance. Source: van Rijsbergen, *Information Retrieval*, 1979;
/// `trec_eval`'s `recall_k`. Default: `rel=1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Recall {
    cutoff: usize,
    rel: i32,
}

pub(super) const SPEC: Spec = Spec {
    name: "R",
    alias: Some("Recall"),
    trec: None,
    trec_cut: Some("recall"),
    clariq: Some("Recall"),
    example: "R@30",
    summary: "the share of the relevant that is among the first k",
    build: |parameters| {
        Ok(Box::new(Recall { cutoff: parameters.required_cutoff()?, rel: parameters.rel()? }))
    },
};

impl Measure for Recall {
    fn name(&self) -> String {
        spelled(SPEC.name, &spelled_rel(self.rel), Some(self.cutoff))
    }

    fn score(&self, ranking: &[QuestionId], judgements: &TopicJudgements) -> f64 {
        let relevant = judgements.relevant(self.rel);
        if relevant == 0 {
            return 0.0;
        }
        let first = ranking.iter().take(self.cutoff);
        first.filter(|document| judgements.is_relevant(document, self.rel)).count() as f64
            / relevant as f64
    }
}
