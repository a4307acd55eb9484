//! An explanation adds up to the score it explains.

use crate::common::naive::close;
use crate::common::{bank, build, tokens};
use clariq_core::{Doc, Explanation};
use clariq_index::{Bm25, Depth, Query, Scorer, Variant, WeightingModel};

const TEXTS: [&str; 6] =
    ["", "river stone", "river river lamp", "lamp", "river wolf bread", "river copper"];

fn product(explanation: &Explanation) -> f64 {
    explanation.parts.iter().map(|part| part.value).product()
}

#[test]
fn values_multiply_and_add_up_to_the_hits_score() {
    let built = build(&bank(TEXTS));
    let request = tokens("river lamp unknown river");
    for variant in Variant::ALL.into_iter().filter(|variant| *variant != Variant::Ql) {
        let model = WeightingModel::usual(variant);
        let scorer = Scorer::new(&built.index, model).expect("a scorer");
        let hits = scorer.rank(&Query::new(&request, Depth { limit: 9, pad: true })).expect("hits");
        assert_eq!(hits.len(), TEXTS.len());
        for hit in hits {
            let explanation = scorer.explain(&request, hit.doc).expect("an explanation");
            assert_eq!(
                explanation.value.to_bits(),
                hit.score.to_bits(),
                "{variant:?} {hit:?}\n{explanation}"
            );
            assert_eq!(
                explanation.parts.len(),
                request.len(),
                "a part for each token, repeats included"
            );
            let sum: f64 = explanation.parts.iter().map(|part| part.value).sum();
            assert!(close(sum, explanation.value), "{explanation}");
            for part in explanation.parts.iter().filter(|part| !part.parts.is_empty()) {
                assert!(close(product(part), part.value), "{explanation}");
            }
        }
    }
}

#[test]
fn counts_are_those_of_the_bank() {
    let built = build(&bank(TEXTS));
    let scorer = Scorer::new(&built.index, Bm25::okapi()).expect("a scorer");
    let explanation = scorer.explain(&tokens("river"), Doc(2)).expect("an explanation");
    let [idf, saturation] = &explanation.parts[0].parts[..] else {
        panic!("two factors:\n{explanation}")
    };
    let values = |of: &Explanation| of.parts.iter().map(|part| part.value).collect::<Vec<_>>();
    assert_eq!(values(idf), [4.0, 6.0], "df and N");
    assert_eq!(values(saturation), [2.0, 3.0, 11.0 / 6.0, 1.5, 0.75], "tf, dl, avgdl, k1 and b");
}

#[test]
fn absent_tokens_and_documents_are_explained() {
    let built = build(&bank(TEXTS));
    let scorer = Scorer::new(&built.index, Bm25::okapi()).expect("a scorer");
    let explain = |request, question| {
        scorer.explain(&tokens(request), Doc(question)).expect("an explanation").to_string()
    };
    assert!(explain("zebra", 1).contains("`zebra` is in no document"));
    assert!(explain("lamp", 1).contains("`lamp` is not in this document"));
    assert!(explain("river", 6).contains("no such document"));
}
