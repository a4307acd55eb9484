//! tantivy's block-max path against every posting, over banks of many blocks.

use crate::common::{Built, Numbers, bank, build, tokens, zipf_texts};
use clariq_core::Hit;
use clariq_index::{Bm25, Depth, Path, Query, Scorer, Scratch, Variant};
use proptest::prelude::*;
use std::sync::LazyLock;

/// Built once: a small one, one of long questions, and one where nearly everything ties.
static INDEXES: LazyLock<[Built; 4]> = LazyLock::new(|| {
    [
        build(&bank(zipf_texts(1, 400, 40, 60))),
        build(&bank(zipf_texts(2, 3_000, 12, 500))),
        build(&bank(zipf_texts(3, 5_000, 2, 20))),
        build(&bank(clustered())),
    ]
});

/// Blocks that differ: runs of several hundred questions alike, so that whole blocks can be
/// skipped, with ties across the runs.
fn clustered() -> Vec<String> {
    let mut numbers = Numbers(4);
    let question = |place: usize| {
        let common = "w0 ".repeat(1 + place / 500 % 4);
        format!("{common}w{} {}", numbers.zipf(30), "w99 ".repeat(place / 700 % 3))
    };
    (0..4_000).map(question).collect()
}

fn requests() -> impl Strategy<Value = String> {
    // Low numbers are frequent words; a square makes them frequent in requests, too.
    let word = (0..24_usize).prop_map(|root| format!("w{}", root * root));
    prop::collection::vec(word, 0..10).prop_map(|words| words.join(" "))
}

fn both(index: usize, request: &str, depth: Depth) -> [Vec<(u32, u64)>; 2] {
    let scorer =
        Scorer::new(&INDEXES[index].index, Bm25::default_of(Variant::Lucene)).expect("a scorer");
    assert!(scorer.block_max_applies(), "the path under test must be taken");
    let bits = |hits: Vec<Hit>| hits.iter().map(|hit| (hit.doc.0, hit.score.to_bits())).collect();
    [Path::BlockMax, Path::Exhaustive].map(|path| {
        bits(
            scorer
                .rank(
                    &Query { path, ..Query::new(&tokens(request), depth) },
                    &mut Scratch::default(),
                )
                .expect("hits"),
        )
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn block_max_gives_the_same_hits_and_bits(
        index in 0..4_usize,
        request in requests(),
        limit in prop_oneof![Just(1), 2..40_usize, 100..900_usize, Just(usize::MAX)],
        pad in prop::bool::ANY,
    ) {
        let [fast, exact] = both(index, &request, Depth { limit, pad });
        prop_assert_eq!(fast, exact);
    }
}

#[test]
fn a_tie_at_the_cut_goes_to_the_highest_id() {
    // Thousands of questions tie on one word: tantivy alone would keep the first it meets.
    for limit in [1, 10, 127, 128, 129, 1_000] {
        let [fast, exact] = both(2, "w0", Depth::matching(limit));
        assert_eq!(fast, exact, "{limit}");
        assert_eq!(fast.len(), limit);
    }
}
