//! Arguments.

use crate::common::refusals::{Case, NOTHING, case, check};

const BAD_ARGUMENTS: &[Case] = &[
    case(
        "negative k1",
        NOTHING,
        "run bm25 --k1 -1",
        ["command line, bm25.k1=-1.0", "at least 0", "-1"],
    ),
    case("b above 1", NOTHING, "run bm25 --b 2", ["command line, bm25.b=2.0", "from 0 to 1", "2"]),
    case("nan", NOTHING, "run bm25 --k1 nan", ["command line, bm25.k1=nan", "at least 0", "NaN"]),
    case(
        "infinity",
        NOTHING,
        "run bm25 --set bm25.k1=inf",
        ["command line, bm25.k1=inf", "at least 0", "inf"],
    ),
    case("no number", NOTHING, "run bm25 --k1 high", ["--k1", "a number", "`high`"]),
    case("not stage.key", NOTHING, "run bm25 --set k1=3", ["--set", "stage.key=value", "`k1=3`"]),
    case(
        "no value",
        NOTHING,
        "run bm25 --set bm25.k1=",
        ["--set", "stage.key=value", "`bm25.k1=`"],
    ),
    case(
        "no number set",
        NOTHING,
        "run bm25 --set bm25.k1=x",
        ["command line, bm25.k1=x", "a number", "\"x\""],
    ),
    case(
        "unknown key",
        NOTHING,
        "run bm25 --set bm25.kk=1",
        ["command line, bm25.kk=1", "`k1`", "`kk`"],
    ),
    case(
        "no such stage",
        NOTHING,
        "run bm25 --set dense.k=3",
        ["command line, dense.k=3", "`dense`", "without"],
    ),
    case(
        "k1 of no stage",
        NOTHING,
        "run no-question --k1 2",
        ["command line, bm25.k1=2.0", "`bm25`", "without"],
    ),
    case(
        "unknown split",
        NOTHING,
        "run bm25 --split valid",
        ["--split", "train, dev, test", "`valid`"],
    ),
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
    case("no size", NOTHING, "run bm25 --memory 3T", ["--memory", "a size", "`3T`"]),
    case(
        "one output for two",
        NOTHING,
        "run bm25 no-question -o x.run",
        ["--output", "one system", "2 systems"],
    ),
    case(
        "no grid",
        NOTHING,
        "tune bm25 --grid bm25.k1",
        ["--grid", "stage.key=value", "`bm25.k1`"],
    ),
    case(
        "many folds",
        NOTHING,
        "tune bm25 --grid bm25.k1=1 --folds 99",
        ["--folds", "from 2 to 29", "99"],
    ),
    case(
        "one parameter twice",
        NOTHING,
        "tune bm25 --grid bm25.k1=1 --grid bm25.k1=2",
        ["--grid", "every parameter once", "`bm25.k1` twice"],
    ),
    case(
        "a measure without its cut-off",
        NOTHING,
        "eval good.run -m R@",
        ["a measure", "a whole number from 1", "``"],
    ),
    case(
        "a digit of another script",
        NOTHING,
        "eval good.run -m P@٣",
        ["a measure", "a whole number from 1", "`٣`"],
    ),
    case(
        "a number beyond all doubles",
        NOTHING,
        "run bm25 --set bm25.k1=1e400",
        ["bm25.k1=1e400", "valid TOML", "overflowed"],
    ),
    case("an empty file name", NOTHING, "run bm25 -o ", ["--output", "a value", "nothing"]),
    case(
        "unknown question",
        NOTHING,
        "explain request Q9",
        ["DOCUMENT_ID", "the id of a document", "`Q9`"],
    ),
];

#[test]
fn bad_arguments_are_refused() {
    check(BAD_ARGUMENTS);
}
