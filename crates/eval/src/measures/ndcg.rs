//! Normalised discounted cumulative gain, nDCG.

use super::catalogue::spelled;
use super::{Measure, Spec, TopicJudgements};
use clariq_core::QuestionId;

/// nDCG@k = DCG@k / ideal DCG@k, with DCG@k = Σ gain / log₂(rank + 1) over the first k ranks.
///
/// The gain of a document is its grade (linear, not 2^grade − 1), 0 if it is not judged or the
/// grade is negative; the ideal ranking is all judged documents by descending grade, retrieved or
/// not. Source: Järvelin and Kekäläinen, *Cumulated gain-based evaluation of IR techniques*, TOIS
/// 2002, in the form of `trec_eval`'s `ndcg` and `ndcg_cut_k`. Default: the whole ranking.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ndcg {
    cutoff: Option<usize>,
}

pub(super) const SPEC: Spec = Spec {
    name: "nDCG",
    alias: Some("NDCG"),
    trec: Some("ndcg"),
    trec_cut: Some("ndcg_cut"),
    clariq: Some("NDCG"),
    example: "nDCG@10",
    summary: "graded gain, discounted by rank, by that of an ideal ranking",
    build: |parameters| Ok(Box::new(Ndcg { cutoff: parameters.cutoff()? })),
};

impl Measure for Ndcg {
    fn name(&self) -> String {
        spelled(SPEC.name, &[], self.cutoff)
    }

    fn score(&self, ranking: &[QuestionId], judgements: &TopicJudgements) -> f64 {
        let cutoff = self.cutoff.unwrap_or(usize::MAX);
        let mut ideal: Vec<i32> = judgements.grades().filter(|grade| *grade > 0).collect();
        if ideal.is_empty() {
            return 0.0;
        }
        ideal.sort_unstable_by(|a, b| b.cmp(a));
        let grades = ranking.iter().map(|document| judgements.grade(document).unwrap_or(0));
        dcg(grades.take(cutoff)) / dcg(ideal.into_iter().take(cutoff))
    }
}

fn dcg(grades: impl Iterator<Item = i32>) -> f64 {
    (2_u32..)
        .zip(grades)
        .map(|(next, grade)| f64::from(grade.max(0)) / f64::from(next).log2())
        .sum()
}
