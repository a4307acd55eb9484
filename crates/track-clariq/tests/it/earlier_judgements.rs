//! The judgements that a system may learn from, by the splits of a collection.

use clariq_collections::{EarlierJudgements, Split};
use clariq_core::Surroundings as _;
use clariq_track_clariq::{ClariQ, QUESTIONS, SAMPLE, splits};

#[test]
fn judgements_before_a_split_are_those_of_earlier_splits() {
    let collection = ClariQ::open(SAMPLE).unwrap();
    let sources = |split: Split| {
        let around = EarlierJudgements::new(&collection, QUESTIONS, split);
        let judged = around.judged_before().unwrap();
        assert!(judged.iter().all(|judged| !judged.relevant.is_empty()));
        judged.iter().map(|judged| judged.source.clone()).collect::<Vec<_>>()
    };
    assert!(sources(splits::TRAIN).is_empty());
    assert_eq!(sources(splits::DEV), ["<sample>/train.tsv"]);
    assert_eq!(sources(splits::TEST), ["<sample>/train.tsv", "<sample>/dev.tsv"]);
}

#[test]
fn all_requests_are_unique_and_include_those_of_the_split() {
    let collection = ClariQ::open(SAMPLE).unwrap();
    let around = EarlierJudgements::new(&collection, QUESTIONS, splits::DEV);
    let own = around.own_requests().unwrap();
    let all = around.all_requests().unwrap();
    assert!(own.iter().all(|request| all.contains(request)));
    assert!((1..all.len()).all(|index| !all[..index].contains(&all[index])));
}
