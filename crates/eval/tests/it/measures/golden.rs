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
    let topics = scores.topics.iter().map(|(topic, values)| (topic.as_str(), values));
    let ours: Vec<_> = topics.chain([("all", &scores.means)]).collect();
    let theirs: Vec<_> = rows.collect();
    assert_eq!(
        ours.iter().map(|(topic, _)| *topic).collect::<Vec<_>>(),
        theirs.iter().map(|row| row[0]).collect::<Vec<_>>()
    );
    for ((topic, values), row) in ours.iter().zip(&theirs) {
        for (place, value) in values.iter().enumerate() {
            let expected: f64 = row[place + 1].parse().unwrap();
            assert!(
                (value - expected).abs() <= TOLERANCE,
                "{run}, {topic}, {}: {value} {expected}",
                names[place + 1]
            );
        }
    }
}

#[test]
fn values_are_those_of_ir_measures_with_and_without_ties() {
    check("ties");
    check("distinct");
}
