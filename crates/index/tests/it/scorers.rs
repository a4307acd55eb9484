//! The formulas against a second implementation without an index.

use crate::common::naive::{Naive, close, difference};
use crate::common::{bank, build, text, tokens};
use clariq_collections::documents::Bank;
use clariq_core::{Doc, Documents, Hit};
use clariq_index::{Bm25, Depth, Query, Scorer, Variant, WeightingModel};
use proptest::prelude::*;

fn naive(bank: &Bank) -> Naive {
    Naive::new(bank.rows().iter().map(|row| tokens(&row.text)).collect())
}

fn docs(hits: &[Hit]) -> Vec<u32> {
    hits.iter().map(|hit| hit.doc.0).collect()
}

/// Questions of up to `longest` words, the first of them empty.
fn banks(longest: usize) -> impl Strategy<Value = Bank> {
    let question = prop::collection::vec(0..12_usize, 0..=longest);
    prop::collection::vec(question, 0..40).prop_map(|questions| {
        let texts = questions.iter().map(|numbers| text(numbers));
        bank(std::iter::once(String::new()).chain(texts))
    })
}

/// Requests with repeats and with words that no question has.
fn requests() -> impl Strategy<Value = String> {
    let words = prop::collection::vec(0..12_usize, 0..8).prop_map(|numbers| text(&numbers));
    (words, prop::bool::ANY)
        .prop_map(|(words, unknown)| if unknown { format!("zebra {words} zebra") } else { words })
}

/// Parameters over their ranges, the ends included.
fn parameters() -> impl Strategy<Value = (f64, f64, f64)> {
    let k1 = prop_oneof![1 => Just(0.0), 6 => 0.0..3.0_f64];
    let b = prop_oneof![1 => Just(0.0), 1 => Just(1.0), 6 => 0.0..1.0_f64];
    (k1, b, prop_oneof![1 => Just(0.0), 6 => 0.0..2.0_f64])
}

fn models((k1, b, delta): (f64, f64, f64)) -> impl Iterator<Item = WeightingModel> {
    Variant::ALL.into_iter().map(move |variant| {
        let mut model = WeightingModel::usual(variant);
        for (key, value) in [("k1", k1), ("b", b), ("delta", delta)] {
            if let Some(parameter) = model.parameter(key) {
                *parameter = value;
            }
        }
        model
    })
}

/// Compares all variants at several depths with the naive scores.
fn check(
    bank: &Bank,
    requests: &[String],
    parameters: (f64, f64, f64),
) -> Result<(), TestCaseError> {
    let built = build(bank);
    let naive = naive(bank);
    // A thread reuses its buffers: nothing may stay in them.
    for model in models(parameters) {
        let scorer = Scorer::new(&built.index, model).expect("parameters in range");
        for request in requests {
            let request = tokens(request);
            for (limit, pad) in [0, 1, 3, bank.len(), bank.len() + 5, usize::MAX]
                .into_iter()
                .zip([true, false].repeat(3))
            {
                let expected = naive.ranking(model, &request, pad);
                let query = Query::new(&request, Depth { limit, pad });
                let found = scorer.rank(&query).expect("hits");
                let wrong = difference(&found, &expected, limit);
                prop_assert!(wrong.is_none(), "{wrong:?} {model:?} {request:?} {limit} {pad}");
            }
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(25) })]

    #[test]
    fn every_variant_ranks_as_its_formula_says(
        bank in banks(12),
        requests in prop::collection::vec(requests(), 1..6),
        parameters in parameters(),
    ) {
        check(&bank, &requests, parameters)?;
    }

    #[test]
    fn usual_parameters_and_integer_ties_rank_as_the_formula_says(
        bank in banks(3),
        requests in prop::collection::vec(requests(), 1..4),
    ) {
        check(&bank, &requests, (1.2, 0.75, 1.0))?;
    }

    #[test]
    fn long_questions_rank_as_the_formula_says(
        bank in banks(70),
        requests in prop::collection::vec(requests(), 1..3),
        parameters in parameters(),
    ) {
        check(&bank, &requests, parameters)?;
    }
}

#[test]
fn okapi_replaces_a_negative_idf_by_a_quarter_of_the_mean() {
    // "river" is in five of six: ln(1.5) − ln(5.5) is negative.
    let bank = bank(["river stone", "river lamp", "river wolf", "river bread", "river", "copper"]);
    let built = build(&bank);
    let naive = naive(&bank);
    assert!(naive.idf(Variant::Okapi, "river") > 0.0, "the mean over this vocabulary is positive");
    let scorer = Scorer::new(&built.index, Bm25::okapi()).expect("a scorer");
    let hits = scorer.rank(&Query::new(&tokens("river"), Depth::matching(9))).expect("hits");
    // Six questions of ten tokens: the shortest with the word is best, the others tie and go by
    // descending number.
    assert_eq!(docs(&hits), [4, 3, 2, 1, 0]);
    let rare = 5.5_f64.ln() - 1.5_f64.ln();
    let mean = (5.0 * rare + 1.5_f64.ln() - 5.5_f64.ln()) / 6.0;
    let saturation = 2.5 / (1.0 + 1.5 * (0.25 + 0.75 * 0.6));
    assert!(close(hits[0].score, 0.25 * mean * saturation), "{hits:?}");
}

#[test]
fn questions_with_negative_scores_come_after_the_padding() {
    // Both words are in most questions: even the mean idf is negative, and with it its quarter.
    let bank = bank(["", "river stone", "river stone", "river stone", "stone river river"]);
    let built = build(&bank);
    let scorer = Scorer::new(&built.index, Bm25::okapi()).expect("a scorer");
    let top = |depth| scorer.rank(&Query::new(&tokens("river"), depth)).expect("hits");
    let all = top(Depth { limit: 9, pad: true });
    assert_eq!(docs(&all), [0, 3, 2, 1, 4]);
    assert!(all[0].score == 0.0 && all[1].score < 0.0, "{all:?}");
    assert_eq!(top(Depth { limit: 1, pad: true }), all[..1]);
    assert_eq!(top(Depth::matching(9)), all[1..], "a negative score is still a match");
}

#[test]
fn padding_goes_by_descending_id() {
    let bank = bank(["", "river", "stone", "lamp", "river"]);
    let built = build(&bank);
    let scorer = Scorer::new(&built.index, Bm25::lucene()).expect("a scorer");
    let top = |request, limit| {
        let depth = Depth { limit, pad: true };
        docs(&scorer.rank(&Query::new(&tokens(request), depth)).expect("hits"))
    };
    assert_eq!(top("river", 4), [4, 1, 3, 2]);
    assert_eq!(top("nothing known", 3), [4, 3, 2]);
    assert_eq!(top("", 9), [4, 3, 2, 1, 0]);
    assert!(top("river", 0).is_empty());
}

#[test]
fn only_the_candidates_are_ranked() {
    let bank = bank(["a river", "a lamp", "the river", "river river", "a zebra"]);
    let built = build(&bank);
    let scorer = Scorer::new(&built.index, Bm25::lucene()).expect("a scorer");
    let request = tokens("river");
    let ranked = |among: Option<&[Doc]>, pad: bool| -> Vec<u32> {
        let query = Query { among, ..Query::new(&request, Depth { limit: 9, pad }) };
        docs(&scorer.rank(&query).expect("hits"))
    };
    let all = ranked(None, false);
    let among = [Doc(0), Doc(1), Doc(3)];
    let kept: Vec<u32> = all.iter().copied().filter(|doc| [0, 1, 3].contains(doc)).collect();
    assert_eq!(ranked(Some(&among), false), kept);
    assert_eq!(ranked(Some(&among), true), [&kept[..], &[1]].concat());
    assert_eq!(ranked(Some(&[]), true), [] as [u32; 0]);
}

#[test]
fn a_weight_multiplies_the_contribution_of_a_token() {
    let bank = bank(["a river", "a lamp", "the river lamp"]);
    let built = build(&bank);
    let scorer = Scorer::new(&built.index, Bm25::lucene()).expect("a scorer");
    let request = tokens("river lamp");
    let score = |weights: Option<&[f64]>, doc: u32| {
        let query = Query { weights, ..Query::new(&request, Depth::matching(9)) };
        let hits = scorer.rank(&query).expect("hits");
        hits.iter().find(|hit| hit.doc.0 == doc).map(|hit| hit.score).expect("a hit")
    };
    assert_eq!(score(Some(&[1.0, 1.0]), 2), score(None, 2));
    assert_eq!(score(Some(&[0.5, -2.0]), 0), score(None, 0) * 0.5);
    assert_eq!(score(Some(&[0.5, -2.0]), 1), score(None, 1) * -2.0);
}
