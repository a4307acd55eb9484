//! The values are those of `ir_measures` and `pytrec_eval`. `scripts/make-golden measures` makes
//! the files: graded labels with negative ones, topics without anything relevant, missing and
//! unknown topics, and runs with and without ties.

use clariq_eval::{Qrels, RankedRun, evaluate, parse_measure};
use clariq_files::{Source, read_qrels, read_run};
use std::path::PathBuf;

/// The order of summation is different there.
const TOLERANCE: f64 = 1e-9;

fn file(name: &str) -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/data/measures").join(name)
}

fn check(run: &str) {
    let judgements = read_qrels(&Source::new(file("graded.qrels"))).unwrap();
    let qrels = Qrels::from_judgements("graded.qrels", &judgements).unwrap();
    let ranked = RankedRun::new(&read_run(&Source::new(file(&format!("{run}.run")))).unwrap());
    let table = std::fs::read_to_string(file(&format!("{run}.tsv"))).unwrap();
    let mut rows = table.lines().map(|line| line.split('\t').collect::<Vec<_>>());
    let names = rows.next().unwrap();
    let measures: Vec<_> = names[1..].iter().map(|name| parse_measure(name).unwrap()).collect();

    let scores = evaluate(&measures, &ranked, &qrels).unwrap();
    let theirs: Vec<_> = rows.collect();
    for (column, score) in (1..).zip(&scores) {
        let topics = score.values.iter().map(|(topic, value)| (topic.as_str(), *value));
        let ours: Vec<_> = topics.chain([("all", score.value())]).collect();
        assert_eq!(ours.len(), theirs.len());
        for ((topic, value), row) in ours.into_iter().zip(&theirs) {
            assert_eq!(topic, row[0]);
            let expected: f64 = row[column].parse().unwrap();
            let name = names[column];
            assert!(
                (value - expected).abs() <= TOLERANCE,
                "{run}, {topic}, {name}: {value} {expected}"
            );
        }
    }
}

#[test]
fn values_are_those_of_ir_measures_with_and_without_ties() {
    check("ties");
    check("distinct");
}
