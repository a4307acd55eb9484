//! Average precision, AP.

use super::catalogue::{spelled, spelled_rel};
use super::{Measure, Spec, TopicJudgements};
use clariq_core::QuestionId;

/// AP@k = Σ precision at the rank of each relevant document among the first k, by the number of
/// *all* relevant documents.
///
/// Its mean over topics is MAP. Source: Harman, *Evaluation issues in information retrieval*, IPM
/// 1992; `trec_eval`'s `map` and `map_cut_k`. Default: the whole ranking, `rel=1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct AveragePrecision {
    cutoff: Option<usize>,
    rel: i32,
}

pub(super) const SPEC: Spec = Spec {
    name: "AP",
    alias: Some("MAP"),
    trec: Some("map"),
    trec_cut: Some("map_cut"),
    clariq: None,
    example: "AP",
    summary: "the mean precision at the ranks of the relevant",
    build: |parameters| {
        Ok(Box::new(AveragePrecision { cutoff: parameters.cutoff()?, rel: parameters.rel()? }))
    },
};

impl Measure for AveragePrecision {
    fn name(&self) -> String {
        spelled(SPEC.name, &spelled_rel(self.rel), self.cutoff)
    }

    fn score(&self, ranking: &[QuestionId], judgements: &TopicJudgements) -> f64 {
        let relevant = judgements.relevant(self.rel);
        if relevant == 0 {
            return 0.0;
        }
        let ranks = (1_u32..).zip(ranking).take(self.cutoff.unwrap_or(usize::MAX));
        let found = ranks.filter(|(_, document)| judgements.is_relevant(document, self.rel));
        (1_u32..)
            .zip(found)
            .map(|(count, (rank, _))| f64::from(count) / f64::from(rank))
            .sum::<f64>()
            / relevant as f64
    }
}
