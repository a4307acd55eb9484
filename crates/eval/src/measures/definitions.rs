//! The measures: their names, and their values for a topic.
//!
//! A value is that of one topic: its documents, best first and none twice, against its judgements;
//! 0 where the definition divides by zero.

use super::TopicJudgements;
use super::catalogue::{MeasureParameters, MeasureSpec};
use clariq_core::DocId;

/// All measures, in the order in which they are listed. A new one is a function and an entry here.
pub(super) static CATALOGUE: &[MeasureSpec] = &[
    MeasureSpec {
        alias: Some("Recall"),
        trec_cut: Some("recall"),
        clariq: Some("Recall"),
        needs_cutoff: true,
        definition: "relevant documents among the first k / all relevant documents",
        source: "van Rijsbergen, 1979; trec_eval `recall_k`",
        ..MeasureSpec::new("R", "R@30", recall)
    },
    MeasureSpec {
        alias: Some("Precision"),
        trec_cut: Some("P"),
        clariq_documents: Some("P"),
        needs_cutoff: true,
        definition: "relevant documents among the first k / k",
        source: "van Rijsbergen, 1979; trec_eval `P_k`",
        ..MeasureSpec::new("P", "P@5", precision)
    },
    MeasureSpec {
        alias: Some("NDCG"),
        trec: Some("ndcg"),
        trec_cut: Some("ndcg_cut"),
        clariq_documents: Some("NDCG"),
        takes_rel: false,
        definition: "Σ grade / log₂(rank + 1) over the first k, divided by that of the ideal ranking",
        source: "Järvelin and Kekäläinen, TOIS 2002; trec_eval `ndcg_cut_k` (linear gains)",
        ..MeasureSpec::new("nDCG", "nDCG@10", ndcg)
    },
    MeasureSpec {
        alias: Some("MAP"),
        trec: Some("map"),
        trec_cut: Some("map_cut"),
        definition: "mean precision at the ranks of relevant documents, over all relevant documents",
        source: "Harman, IPM 1992; trec_eval `map`",
        ..MeasureSpec::new("AP", "AP", average_precision)
    },
    MeasureSpec {
        alias: Some("MRR"),
        trec: Some("recip_rank"),
        clariq_documents: Some("MRR"),
        definition: "1 / rank of the first relevant document",
        source: "Kantor and Voorhees, Information Retrieval 2000; trec_eval `recip_rank`",
        ..MeasureSpec::new("RR", "RR@10", reciprocal_rank)
    },
    MeasureSpec {
        trec_cut: Some("success"),
        needs_cutoff: true,
        definition: "1 if a relevant document is among the first k",
        source: "trec_eval `success_k`",
        ..MeasureSpec::new("Success", "Success@5", success)
    },
    MeasureSpec {
        needs_cutoff: true,
        takes_rel: false,
        definition: "judged documents among the first k / documents among the first k",
        source: "`ir_measures`, `Judged@k`",
        ..MeasureSpec::new("Judged", "Judged@10", judged)
    },
    MeasureSpec {
        takes_p: true,
        definition: "(1 − p) Σ p^(rank − 1) over the ranks of relevant documents",
        source: "Moffat and Zobel, TOIS 2008",
        ..MeasureSpec::new("RBP", "RBP(p=0.8,rel=1)", rank_biased_precision)
    },
];

/// The table of all measures, in Markdown.
pub fn table() -> String {
    let head = "| measure | value for a topic | parameters | also called | source |\n|---|---|---|---|---|\n";
    let rows = CATALOGUE.iter().map(|spec| spec.row() + "\n");
    head.to_owned() + &rows.collect::<String>()
}

/// The relevance of each document among the first k.
fn hits(
    by: &MeasureParameters,
    ranking: &[DocId],
    judgements: &TopicJudgements,
) -> impl Iterator<Item = bool> {
    let rel = by.rel;
    ranking.iter().take(by.depth()).map(move |document| judgements.is_relevant(document, rel))
}

fn count_hits(by: &MeasureParameters, ranking: &[DocId], judgements: &TopicJudgements) -> f64 {
    hits(by, ranking, judgements).filter(|hit| *hit).count() as f64
}

/// Recall@k = |relevant ∩ first k| / |relevant|.
///
/// `ClariQ`'s measure of question relevance. Source: van Rijsbergen, *Information Retrieval*, 1979;
/// `trec_eval`'s `recall_k`.
fn recall(by: &MeasureParameters, ranking: &[DocId], judgements: &TopicJudgements) -> f64 {
    match judgements.relevant(by.rel) {
        0 => 0.0,
        relevant => count_hits(by, ranking, judgements) / relevant as f64,
    }
}

/// Precision@k = |relevant ∩ first k| / k, also where the ranking is shorter than k.
///
/// Source: van Rijsbergen, *Information Retrieval*, 1979; `trec_eval`'s `P_k`.
fn precision(by: &MeasureParameters, ranking: &[DocId], judgements: &TopicJudgements) -> f64 {
    count_hits(by, ranking, judgements) / by.depth() as f64
}

/// nDCG@k = DCG@k / ideal DCG@k, with DCG@k = Σ gain / log₂(rank + 1) over the first k ranks.
///
/// The gain of a document is its grade (linear, not 2^grade − 1), 0 if it is not judged or the
/// grade is negative; the ideal ranking is all judged documents by descending grade, retrieved or
/// not. Source: Järvelin and Kekäläinen, *Cumulated gain-based evaluation of IR techniques*, TOIS
/// 2002, in the form of `trec_eval`'s `ndcg` and `ndcg_cut_k`.
fn ndcg(by: &MeasureParameters, ranking: &[DocId], judgements: &TopicJudgements) -> f64 {
    let mut ideal: Vec<i32> = judgements.grades().filter(|grade| *grade > 0).collect();
    if ideal.is_empty() {
        return 0.0;
    }
    ideal.sort_unstable_by(|a, b| b.cmp(a));
    let grades = ranking.iter().map(|document| judgements.grade(document).unwrap_or(0));
    dcg(grades.take(by.depth())) / dcg(ideal.into_iter().take(by.depth()))
}

fn dcg(grades: impl Iterator<Item = i32>) -> f64 {
    let gain = |(next, grade): (u32, i32)| f64::from(grade.max(0)) / f64::from(next).log2();
    (2..).zip(grades).map(gain).sum()
}

/// AP@k = Σ precision at the rank of each relevant document among the first k, by the number of
/// *all* relevant documents.
///
/// Its mean over topics is MAP. Source: Harman, *Evaluation issues in information retrieval*, IPM
/// 1992; `trec_eval`'s `map` and `map_cut_k`.
fn average_precision(
    by: &MeasureParameters,
    ranking: &[DocId],
    judgements: &TopicJudgements,
) -> f64 {
    let relevant = judgements.relevant(by.rel);
    if relevant == 0 {
        return 0.0;
    }
    let found = (1_u32..).zip(hits(by, ranking, judgements)).filter(|(_, hit)| *hit);
    let precision = |(count, (rank, _)): (u32, (u32, bool))| f64::from(count) / f64::from(rank);
    (1..).zip(found).map(precision).sum::<f64>() / relevant as f64
}

/// RR@k = 1 / the rank of the first relevant document, 0 if there is none among the first k.
///
/// Its mean over topics is MRR. Source: Kantor and Voorhees, *The TREC-5 confusion track*,
/// Information Retrieval 2000; `trec_eval`'s `recip_rank`, which knows no cut-off.
///
/// `ir_measures` hands `RR@k` to MS MARCO's script, which breaks ties by *ascending* id.
fn reciprocal_rank(by: &MeasureParameters, ranking: &[DocId], judgements: &TopicJudgements) -> f64 {
    let index = hits(by, ranking, judgements).position(|hit| hit);
    index.map_or(0.0, |index| 1.0 / (index + 1) as f64)
}

/// Success@k = 1 if a relevant document is among the first k, else 0.
///
/// Some call it Recall@k or Hit@k. Source: `trec_eval`'s `success_k`.
fn success(by: &MeasureParameters, ranking: &[DocId], judgements: &TopicJudgements) -> f64 {
    f64::from(u8::from(hits(by, ranking, judgements).any(|hit| hit)))
}

/// Judged@k: the share of the first k documents that were judged, with any grade. If it is low, the
/// other measures are unreliable for a ranking that was not in the pool. Source:
/// `ir_measures`' `Judged@k`; a ranking shorter than k is divided by its length.
fn judged(by: &MeasureParameters, ranking: &[DocId], judgements: &TopicJudgements) -> f64 {
    let first = &ranking[..by.depth().min(ranking.len())];
    if first.is_empty() {
        return 0.0;
    }
    let judged = first.iter().filter(|document| judgements.grade(document).is_some()).count();
    judged as f64 / first.len() as f64
}

/// RBP(p)@k = (1 − p) · Σ p^(rank − 1) over the ranks of the relevant among the first k.
///
/// The gain is 0 or 1, so the value stays within 0 to 1: this is `RBP(rel=1)` of `ir_measures`,
/// whose `RBP` without `rel` adds up grades as they are. The name therefore always contains `rel`.
/// `trec_eval`'s `rbp` (p = 0.9, scaled grades) is another measure and not an alias. Source: Moffat
/// and Zobel, *Rank-biased precision for measurement of retrieval effectiveness*, TOIS 2008.
fn rank_biased_precision(
    by: &MeasureParameters,
    ranking: &[DocId],
    judgements: &TopicJudgements,
) -> f64 {
    let mut reached = 1.0;
    let mut met = 0.0;
    for hit in hits(by, ranking, judgements) {
        if hit {
            met += reached;
        }
        reached *= by.p;
    }
    (1.0 - by.p) * met
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_in_the_documentation_is_that_of_the_catalogue() {
        assert_eq!(include_str!("table.md"), table());
    }
}
