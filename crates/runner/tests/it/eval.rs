//! Does `clariq eval` print what the official scorer prints, byte for byte? On files that are odd in every way it allows;
//! `scripts/make-official-golden` writes them and what is expected of them.

use crate::common::{Bench, root};
use std::fs;

fn golden(extension: &str, task: &str) {
    let (bench, data) = (Bench::with_sample(), root().join("crates/runner/tests/data/official"));
    let mut cases = 0;
    for entry in fs::read_dir(data).expect("the golden files") {
        let path = entry.expect("an entry").path();
        if path.extension().is_none_or(|found| found != extension) {
            continue;
        }
        cases += 1;
        let file = path.to_str().expect("UTF-8");
        let expected = fs::read_to_string(format!("{file}.out")).expect("what is expected");
        let flags = [
            "eval",
            "--eval_task",
            task,
            "--data_dir",
            "data",
            "--experiment_type",
            "dev",
            "--run_file",
            file,
        ];
        let finished = bench.run(&flags);
        assert_eq!(
            (finished.status, finished.stdout),
            (Some(0), expected),
            "{file}: {}",
            finished.stderr
        );
    }
    assert!(cases >= 3, "{cases} files");
}

#[test]
fn question_relevance_is_printed_as_the_official_scorer_prints_it() {
    golden("run", "question_relevance");
}

#[test]
fn clarification_need_is_printed_as_the_official_scorer_prints_it() {
    golden("need", "clarification_need");
}
