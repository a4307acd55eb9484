//! Arguments.

use crate::common::refusals::{Case, NOTHING, case, check};

const BAD_ARGUMENTS: &[Case] = &[
    case(
        "negative k1",
        NOTHING,
        "run bm25 --k1 -1",
        ["command line, bm25.k1=-1.0", "at least 0", "-1"],
    ),
    case("no number", NOTHING, "run bm25 --k1 high", ["--k1", "a number", "`high`"]),
    case(
        "unknown analyser",
        NOTHING,
        "index build --analyzer x",
        ["--analyzer", "nltk, english", "`x`"],
    ),
    case(
        "unknown format",
        NOTHING,
        "data stats --format xml",
        ["--format", "table, tsv, csv, json, jsonl, md", "`xml`"],
    ),
    case("no thread", NOTHING, "run bm25 --threads 0", ["--threads", "1 to 1024", "0"]),
    case(
        "a hundred thousand threads",
        NOTHING,
        "run bm25 --threads 100000",
        ["--threads", "1 to 1024", "100000"],
    ),
    case(
        "many threads",
        NOTHING,
        "run bm25 --threads many",
        ["--threads", "a whole number", "`many`"],
    ),
    case(
        "a depth for several stages",
        NOTHING,
        "run bm25-tuned --depth 7",
        ["--depth", "one stage that has a depth", "`bm25.depth` 30, `cutoff.depth` 30"],
    ),
    case("no size", NOTHING, "run bm25 --memory 3T", ["--memory", "a size", "`3T`"]),
    case(
        "one output for two",
        NOTHING,
        "run bm25 no-question -o x.run",
        ["--output", "one system", "2 systems"],
    ),
    case(
        "one parameter twice",
        NOTHING,
        "tune bm25 --grid bm25.k1=1 --grid bm25.k1=2",
        ["--grid", "every parameter once", "`bm25.k1` twice"],
    ),
    case("an empty file name", NOTHING, "run bm25 -o ", ["--output", "a value", "nothing"]),
];

#[test]
fn bad_arguments_are_refused() {
    check(BAD_ARGUMENTS);
}
