//! Success among the first k.

use super::catalogue::{spelled, spelled_rel};
use super::{Measure, Spec, TopicJudgements};
use clariq_core::QuestionId;

/// Success@k = 1 if a relevant document is among the first k, else 0.
///
/// Some call it Recall@k or Hit@k. Source: `trec_eval`'s `success_k`. Default: `rel=1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Success {
    cutoff: usize,
    rel: i32,
}

pub(super) const SPEC: Spec = Spec {
    name: "Success",
    alias: None,
    trec: None,
    trec_cut: Some("success"),
    clariq: None,
    example: "Success@5",
    summary: "whether anything relevant is among the first k",
    build: |parameters| {
        Ok(Box::new(Success { cutoff: parameters.required_cutoff()?, rel: parameters.rel()? }))
    },
};

impl Measure for Success {
    fn name(&self) -> String {
        spelled(SPEC.name, &spelled_rel(self.rel), Some(self.cutoff))
    }

    fn score(&self, ranking: &[QuestionId], judgements: &TopicJudgements) -> f64 {
        let any = ranking
            .iter()
            .take(self.cutoff)
            .any(|document| judgements.is_relevant(document, self.rel));
        f64::from(u8::from(any))
    }
}
