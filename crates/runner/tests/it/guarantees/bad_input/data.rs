//! Data folders; `crates/track-clariq/tests/it/refusals.rs` has the defects of their files.

use super::RUN;
use crate::common::Bench;
use crate::common::refusals::{Case, NOTHING, case, check};

const DEV: &str = "data/dev.tsv";

const BAD_DATA: &[Case] = &[
    case(
        "missing folder",
        NOTHING,
        "run bm25 --data nowhere",
        ["nowhere", "a folder", "nothing at that path"],
    ),
    case("a file as folder", NOTHING, "run bm25 --data data/dev.tsv", [DEV, "a folder", "a file"]),
    case(
        "missing split",
        |bench| bench.remove(DEV),
        RUN,
        ["--split", "--split train or --split test", "no dev in data"],
    ),
    case(
        "missing column",
        |bench| bench.edit(DEV, |text| text.replacen("question_id", "qid", 1)),
        RUN,
        ["data/dev.tsv:1", "a column `question_id`", "qid"],
    ),
    case(
        "held-out labels",
        |bench| bench.remove("data/test_with_labels.tsv"),
        "eval good.run --data data --split test",
        ["data/test_with_labels.tsv", "the labels of test", "only the requests"],
    ),
];

#[test]
fn a_bad_data_folder_is_refused() {
    check(BAD_DATA);
}

#[test]
fn bad_qrels_that_no_command_reads_are_warnings_of_the_check_of_a_folder() {
    let bench = Bench::with_sample();
    bench.write("data/dev.qrel", "F0001 0 d1 1\nF0001 0 d2 much\n");
    let finished = bench.run(&["data", "check", "--data", "data"]);
    assert_eq!(finished.status, Some(0), "{}", finished.stderr);
    for text in [
        "warning: data/dev.qrel:2",
        "expected: a whole number",
        "found: `F0001 0 d2 much`",
        "hint: ",
    ] {
        assert!(finished.stderr.contains(text), "{}", finished.stderr);
    }
}
