//! Reciprocal rank, RR.

use super::catalogue::{spelled, spelled_rel};
use super::{Measure, Spec, TopicJudgements};
use clariq_core::QuestionId;

/// RR@k = 1 / the rank of the first relevant document, 0 if there is none among the first k.
///
/// Its mean over topics is MRR. Source: Kantor and Voorhees, *The TREC-5 confusion track*,
/// Information Retrieval 2000; `trec_eval`'s `recip_rank`, which knows no cut-off. Default: the
/// whole ranking, `rel=1`.
///
/// `ir_measures` hands `RR@k` to the script of MS MARCO, which breaks ties by *ascending* id; here
/// they are broken as everywhere.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ReciprocalRank {
    cutoff: Option<usize>,
    rel: i32,
}

pub(super) const SPEC: Spec = Spec {
    name: "RR",
    alias: Some("MRR"),
    trec: Some("recip_rank"),
    trec_cut: None,
    clariq: Some("MRR"),
    example: "RR@10",
    summary: "one by the rank of the first relevant",
    build: |parameters| {
        Ok(Box::new(ReciprocalRank { cutoff: parameters.cutoff()?, rel: parameters.rel()? }))
    },
};

impl Measure for ReciprocalRank {
    fn name(&self) -> String {
        spelled(SPEC.name, &spelled_rel(self.rel), self.cutoff)
    }

    fn score(&self, ranking: &[QuestionId], judgements: &TopicJudgements) -> f64 {
        let mut first = ranking.iter().take(self.cutoff.unwrap_or(usize::MAX));
        let index = first.position(|document| judgements.is_relevant(document, self.rel));
        index.map_or(0.0, |index| 1.0 / (index + 1) as f64)
    }
}
