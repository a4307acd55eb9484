//! The measures: their names, and their values for a topic.
//!
//! A value is that of one topic: its documents, best first and none twice, against its judgements;
//! 0 where the definition divides by zero.

use super::catalogue::{CutoffRule, JudgedRanking, MeasureSpec};
use super::parameters::{
    BETA, DCG, EVERY_REL, GAINS, Gain, JUDGED_ONLY, MeasureParameters, PERSISTENCE, REL,
};

/// All measures, in the order in which they are listed. A new one is a function and an entry here.
pub(super) static CATALOGUE: &[MeasureSpec] = &[
    MeasureSpec {
        alias: Some("Recall"),
        trec_cut: Some("recall"),
        clariq: Some("Recall"),
        cutoff: CutoffRule::Needed,
        definition: "relevant documents among the first k / all relevant documents",
        source: "van Rijsbergen, 1979; trec_eval `recall_k`",
        ..MeasureSpec::new("R", "R@30", recall)
    },
    MeasureSpec {
        alias: Some("Precision"),
        trec_cut: Some("P"),
        clariq_documents: Some("P"),
        cutoff: CutoffRule::Needed,
        definition: "relevant documents among the first k / k",
        source: "van Rijsbergen, 1979; trec_eval `P_k`",
        ..MeasureSpec::new("P", "P@5", precision)
    },
    MeasureSpec {
        alias: Some("NDCG"),
        trec: Some("ndcg"),
        trec_cut: Some("ndcg_cut"),
        clariq_documents: Some("NDCG"),
        parameters: &[&DCG, &GAINS, &JUDGED_ONLY],
        definition: "Σ grade / log₂(rank + 1) over the first k, divided by that of the ideal ranking; with \
                     `dcg='exp-log2'`, 2^grade − 1 in place of the grade, with `gains={1:3,2:7}`, what it names",
        source: "Järvelin and Kekäläinen, TOIS 2002; trec_eval `ndcg_cut_k`; exponential: Burges et al., ICML \
                 2005, gdeval `ndcg@k`",
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
        ranx: Some("hit_rate"),
        cutoff: CutoffRule::Needed,
        definition: "1 if a relevant document is among the first k",
        source: "trec_eval `success_k`",
        ..MeasureSpec::new("Success", "Success@5", success)
    },
    MeasureSpec {
        cutoff: CutoffRule::Needed,
        parameters: &[],
        worth: |_, grade| i32::from(grade.is_some()),
        definition: "judged documents among the first k / documents among the first k",
        source: "`ir_measures`, `Judged@k`",
        ..MeasureSpec::new("Judged", "Judged@10", judged)
    },
    MeasureSpec {
        parameters: &[&PERSISTENCE, &EVERY_REL],
        definition: "(1 − p) Σ p^(rank − 1) over the ranks of relevant documents",
        source: "Moffat and Zobel, TOIS 2008",
        ..MeasureSpec::new("RBP", "RBP(p=0.8,rel=1)", rank_biased_precision)
    },
    MeasureSpec {
        parameters: &[],
        cutoff: CutoffRule::Needed,
        highest_grade: Some(HIGHEST_OF_ERR),
        definition: "Σ 1 / rank × the chance that a reader stops there: r = (2^grade − 1) / 16, and not before",
        source: "Chapelle et al., CIKM 2009; gdeval `err@k`, grades up to 4",
        ..MeasureSpec::new("ERR", "ERR@20", expected_reciprocal_rank)
    },
    MeasureSpec {
        alias: Some("RPrec"),
        cutoff: CutoffRule::Never,
        definition: "relevant documents among the first R / R, with R the number of all relevant documents",
        source: "trec_eval `Rprec`",
        ..MeasureSpec::new("Rprec", "Rprec", precision_at_relevant)
    },
    MeasureSpec {
        alias: Some("BPref"),
        trec: Some("bpref"),
        cutoff: CutoffRule::Never,
        parameters: &[&REL],
        definition: "mean over all R relevant documents of 1 − (irrelevant ones ranked above it, up to R) / (the \
                     smaller of R and all irrelevant ones); documents that are not judged do not count",
        source: "Buckley and Voorhees, SIGIR 2004; trec_eval `bpref`",
        ..MeasureSpec::new("Bpref", "Bpref", binary_preference)
    },
    MeasureSpec {
        trec: Some("set_P"),
        cutoff: CutoffRule::Never,
        definition: "relevant documents of the ranking / documents of the ranking",
        source: "trec_eval `set_P`",
        ..MeasureSpec::new("SetP", "SetP", set_precision)
    },
    MeasureSpec {
        trec: Some("set_recall"),
        cutoff: CutoffRule::Never,
        parameters: &[&REL],
        definition: "relevant documents of the ranking / all relevant documents",
        source: "trec_eval `set_recall`",
        ..MeasureSpec::new("SetR", "SetR", recall)
    },
    MeasureSpec {
        trec: Some("set_F"),
        cutoff: CutoffRule::Never,
        parameters: &[&BETA, &REL, &JUDGED_ONLY],
        definition: "(1 + β) P R / (β P + R), with P and R of the whole ranking",
        source: "trec_eval `set_F`, whose β is not squared",
        ..MeasureSpec::new("SetF", "SetF", set_f)
    },
];

/// The table of all measures, in Markdown.
pub fn table() -> String {
    let head = "| measure | value for a topic | parameters | also called | source |\n|---|---|---|---|---|\n";
    let rows = CATALOGUE.iter().map(|spec| spec.row() + "\n");
    head.to_owned() + &rows.collect::<String>()
}

/// Recall@k = |relevant ∩ first k| / |relevant|.
///
/// `ClariQ`'s measure of question relevance. Source: van Rijsbergen, *Information Retrieval*, 1979;
/// `trec_eval`'s `recall_k`.
fn recall(of: &JudgedRanking) -> f64 {
    match of.judgements.relevant(of.by.rel) {
        0 => 0.0,
        relevant => of.count_hits() / relevant as f64,
    }
}

/// Precision@k = |relevant ∩ first k| / k, also where the ranking is shorter than k.
///
/// Source: van Rijsbergen, *Information Retrieval*, 1979; `trec_eval`'s `P_k`.
fn precision(of: &JudgedRanking) -> f64 {
    of.count_hits() / of.by.depth() as f64
}

/// nDCG@k = DCG@k / ideal DCG@k, with DCG@k = Σ gain / log₂(rank + 1) over the first k ranks.
///
/// The gain of a document is its grade, 2^grade − 1 with `dcg='exp-log2'`, or what `gains` puts in place of
/// its grade; 0 if it is not judged or that is negative. The ideal ranking is all judged documents by
/// descending gain, retrieved or not. Sources: Järvelin and Kekäläinen, *Cumulated gain-based evaluation of
/// IR techniques*, TOIS 2002, in the form of `trec_eval`'s `ndcg` and `ndcg_cut_k`; the exponential gain is
/// that of Burges et al., *Learning to rank using gradient descent*, ICML 2005, as in `gdeval`.
fn ndcg(of: &JudgedRanking) -> f64 {
    let gain = |grade: i32| match of.by.gain {
        Gain::Exponential => exponential_gain(grade),
        Gain::Grade | Gain::Mapped(_) => f64::from(of.by.grade(grade).max(0)),
    };
    let mut ideal: Vec<f64> = of.judgements.grades().map(gain).filter(|gain| *gain > 0.0).collect();
    if ideal.is_empty() {
        return 0.0;
    }
    ideal.sort_unstable_by(|a, b| b.total_cmp(a));
    let gains = of.ranking.iter().map(|document| of.judgements.grade(document).map_or(0.0, gain));
    dcg(gains.take(of.by.depth())) / dcg(ideal.into_iter().take(of.by.depth()))
}

fn dcg(gains: impl Iterator<Item = f64>) -> f64 {
    (2_u32..).zip(gains).map(|(next, gain)| gain / f64::from(next).log2()).sum()
}

/// 2^grade − 1; 0 for negative grades.
fn exponential_gain(grade: i32) -> f64 {
    f64::from(grade.max(0)).exp2() - 1.0
}

/// AP@k = Σ precision at the rank of each relevant document among the first k, by the number of
/// *all* relevant documents.
///
/// Its mean over topics is MAP. Source: Harman, *Evaluation issues in information retrieval*, IPM
/// 1992; `trec_eval`'s `map` and `map_cut_k`.
fn average_precision(of: &JudgedRanking) -> f64 {
    let relevant = of.judgements.relevant(of.by.rel);
    if relevant == 0 {
        return 0.0;
    }
    let found = (1_u32..).zip(of.hits()).filter(|(_, hit)| *hit);
    let precision = |(count, (rank, _)): (u32, (u32, bool))| f64::from(count) / f64::from(rank);
    (1..).zip(found).map(precision).sum::<f64>() / relevant as f64
}

/// RR@k = 1 / the rank of the first relevant document, 0 if there is none among the first k.
///
/// Its mean over topics is MRR. Source: Kantor and Voorhees, *The TREC-5 confusion track*,
/// Information Retrieval 2000; `trec_eval`'s `recip_rank`, which knows no cut-off.
///
/// `ir_measures` hands `RR@k` to MS MARCO's script, which breaks ties by *ascending* id.
fn reciprocal_rank(of: &JudgedRanking) -> f64 {
    let index = of.hits().position(|hit| hit);
    index.map_or(0.0, |index| 1.0 / (index + 1) as f64)
}

/// Success@k = 1 if a relevant document is among the first k, else 0.
///
/// Some call it Recall@k or Hit@k. Source: `trec_eval`'s `success_k`.
fn success(of: &JudgedRanking) -> f64 {
    f64::from(u8::from(of.hits().any(|hit| hit)))
}

/// Judged@k: the share of the first k documents that were judged, with any grade. If it is low, the
/// other measures are unreliable for a ranking that was not in the pool. Source:
/// `ir_measures`' `Judged@k`; a ranking shorter than k is divided by its length.
fn judged(of: &JudgedRanking) -> f64 {
    let first = &of.ranking[..of.by.depth().min(of.ranking.len())];
    if first.is_empty() {
        return 0.0;
    }
    let judged = first.iter().filter(|document| of.judgements.grade(document).is_some()).count();
    judged as f64 / first.len() as f64
}

/// RBP(p)@k = (1 − p) · Σ p^(rank − 1) over the ranks of the relevant among the first k.
///
/// The gain is 0 or 1, so the value stays within 0 to 1: this is `RBP(rel=1)` of `ir_measures`,
/// whose `RBP` without `rel` adds up grades as they are. The name therefore always contains `rel`.
/// `trec_eval`'s `rbp` (p = 0.9, scaled grades) is another measure and not an alias. Source: Moffat
/// and Zobel, *Rank-biased precision for measurement of retrieval effectiveness*, TOIS 2008.
fn rank_biased_precision(of: &JudgedRanking) -> f64 {
    let mut reached = 1.0;
    let mut met = 0.0;
    for hit in of.hits() {
        if hit {
            met += reached;
        }
        reached *= of.by.p;
    }
    (1.0 - of.by.p) * met
}

/// The highest grade of the Web tracks, for which `gdeval` is written.
const HIGHEST_OF_ERR: i32 = 4;

/// ERR@k = Σ 1 / rank · r · Π (1 − r of the documents above), over the first k, with r = (2^grade − 1) /
/// 2^4 the chance that the document at a rank satisfies a reader.
///
/// Source: Chapelle, Metzler, Zhang and Grinspan, *Expected reciprocal rank for graded relevance*, CIKM
/// 2009, with the highest grade of `gdeval`.
fn expected_reciprocal_rank(of: &JudgedRanking) -> f64 {
    let mut reached = 1.0;
    let mut sum = 0.0;
    for (rank, document) in (1_u32..).zip(of.ranking.iter().take(of.by.depth())) {
        let grade = of.judgements.grade(document).unwrap_or(0);
        let satisfied = exponential_gain(grade) / f64::from(HIGHEST_OF_ERR).exp2();
        sum += reached * satisfied / f64::from(rank);
        reached *= 1.0 - satisfied;
    }
    sum
}

/// R-precision: the precision, and the recall, at rank R = |relevant|. Source: `trec_eval`'s `Rprec`.
fn precision_at_relevant(of: &JudgedRanking) -> f64 {
    match of.judgements.relevant(of.by.rel) {
        0 => 0.0,
        relevant => {
            let by = MeasureParameters { cutoff: Some(relevant), ..of.by.clone() };
            precision(&JudgedRanking { by: &by, ..*of })
        }
    }
}

/// Bpref = 1 / R · Σ over the ranked relevant documents of 1 − min(irrelevant above, R) / min(R, N), with
/// N judged irrelevant documents, that is those with a grade from 0 below `rel`.
///
/// Source: Buckley and Voorhees, *Retrieval evaluation with incomplete information*, SIGIR 2004, in the
/// form of `trec_eval`'s `bpref`.
fn binary_preference(of: &JudgedRanking) -> f64 {
    let relevant = of.judgements.relevant(of.by.rel);
    let is_irrelevant = |grade: i32| (0..of.by.rel).contains(&grade);
    let irrelevant = of.judgements.grades().filter(|&grade| is_irrelevant(grade)).count();
    let most = relevant.min(irrelevant);
    let mut above = 0;
    let mut sum = 0.0;
    for grade in of.ranking.iter().filter_map(|document| of.judgements.grade(document)) {
        if is_irrelevant(grade) {
            above += 1;
        } else if grade >= of.by.rel {
            sum += 1.0 - if above == 0 { 0.0 } else { above.min(relevant) as f64 / most as f64 };
        }
    }
    if relevant == 0 { 0.0 } else { sum / relevant as f64 }
}

/// The precision of the whole ranking. Source: `trec_eval`'s `set_P`.
fn set_precision(of: &JudgedRanking) -> f64 {
    if of.ranking.is_empty() { 0.0 } else { of.count_hits() / of.ranking.len() as f64 }
}

/// F of the whole ranking, (1 + β) P R / (β P + R). Source: `trec_eval`'s `set_F`, whose parameter stands
/// for β² of van Rijsbergen's F.
fn set_f(of: &JudgedRanking) -> f64 {
    let precision = set_precision(of);
    let recall = recall(of);
    if precision + recall == 0.0 {
        return 0.0;
    }
    (1.0 + of.by.beta) * precision * recall / (of.by.beta * precision + recall)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_in_the_documentation_is_that_of_the_catalogue() {
        assert_eq!(include_str!("table.md"), table());
    }
}
