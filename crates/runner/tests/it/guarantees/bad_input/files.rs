//! Runs, need files, indexes, and places that cannot be written.

use super::{RUN, bomb, gzip_cut};
use crate::common::Bench;
use crate::common::refusals::{Case, NOTHING, case, check};

macro_rules! file {
    ($text:expr) => {
        |bench| bench.write("bad", $text)
    };
}
const EVAL: &str = "eval bad --data data --out-file out/old.json";
const NEED: &str = "eval bad --data data --task clarification_need";

const BAD_RUNS: &[Case] = &[
    case("missing run", NOTHING, EVAL, ["bad", "a file", "nothing at that path"]),
    case("directory", |bench| bench.write("bad/file", ""), EVAL, ["bad", "a file", "a directory"]),
    case("empty run", file!("\n \n"), EVAL, ["bad:1", "lines of the form", "nothing"]),
    case(
        "too few fields",
        file!("1 0 Q1 1 5 t\n1 0 Q1 1\n"),
        EVAL,
        ["bad:2", "6 fields", "`1 0 Q1 1`"],
    ),
    case(
        "nan",
        file!("1 0 Q1 1 5 t\n\n1 0 Q2 2 nan t\n"),
        EVAL,
        ["bad:3", "a finite score", "nan"],
    ),
    case("infinite", file!("1 0 Q1 1 1e999 t\n"), EVAL, ["bad:1", "a finite score", "1e999"]),
    case("no score", file!("1 0 Q1 1 high t\n"), EVAL, ["bad:1", "a finite score", "high"]),
    case("not UTF-8", file!(b"1 0 Q1 1 5 caf\xe9\n"), EVAL, ["bad:1", "UTF-8", "caf"]),
    case(
        "cut archive",
        |bench| gzip_cut(bench, "good.run", "bad"),
        EVAL,
        ["bad", "a whole archive", "deflate"],
    ),
    case(
        "a gzip bomb as run",
        |bench| bomb(bench, "bad", 400),
        EVAL,
        ["bad", "at most 384 MiB", "more"],
    ),
    case(
        "a gzip bomb as judgements",
        |bench| bomb(bench, "bad", 80),
        "eval good.run --qrels bad",
        ["bad", "at most 64 MiB", "more"],
    ),
    case(
        "a device as run",
        NOTHING,
        "eval /dev/zero --data data",
        ["/dev/zero", "a regular file", "a device"],
    ),
    case(
        "a pipe as need model",
        |bench| {
            assert_eq!(bench.shell(&["sh"], "mkfifo pipe.json").status, Some(0));
        },
        "need predict pipe.json --data data",
        ["pipe.json", "a regular file", "a pipe"],
    ),
    case(
        "a gzip bomb as need model",
        |bench| bomb(bench, "bad.json", 80),
        "need predict bad.json --data data",
        ["bad.json", "at most 64 MiB", "more"],
    ),
    case(
        "a link to itself as run",
        |bench| {
            assert_eq!(bench.shell(&["sh"], "ln -s bad bad").status, Some(0));
        },
        EVAL,
        ["bad", "", ""],
    ),
    case("a need file as run", file!("13 2\n"), EVAL, ["bad:1", "6 fields", "`13 2`"]),
    case("a run as need file", file!("1 0 Q1 1 5 t\n"), NEED, ["bad:1", "2 fields", "Q1"]),
    case("no number", file!("13 2\n14 high\n"), NEED, ["bad:2", "a label", "`14 high`"]),
    case("no whole number", file!("13 2.5\n"), NEED, ["bad:1", "a label", "`13 2.5`"]),
    case("no label", file!("13\n"), NEED, ["bad:1", "2 fields", "`13`"]),
];

#[test]
fn bad_runs_and_need_files_are_refused() {
    check(BAD_RUNS);
}

const DAMAGED: fn(&Bench) = |bench| {
    bench.succeed("index build --data data --index idx");
    let terms = std::fs::read_dir(bench.path("idx"))
        .expect("an index")
        .map(|file| file.expect("a file").path());
    let terms = terms.into_iter().find(|path| path.extension().is_some_and(|name| name == "term"));
    std::fs::write(terms.expect("terms"), "short").expect("written");
};
const FOREIGN: fn(&Bench) = |bench| bench.write("idx/thesis.txt", "years of work");
const WITH_INDEX: &str = "run bm25 --data data --index idx -o out/old.run";
const KEPT: [&str; 3] = ["idx", "a new folder", "`thesis.txt`"];

const BAD_INDEXES: &[Case] = &[
    case("foreign folder", FOREIGN, WITH_INDEX, KEPT),
    case("foreign folder, forced", FOREIGN, "index build --force --data data --index idx", KEPT),
    case(
        "damaged index",
        DAMAGED,
        WITH_INDEX,
        ["idx", "as `clariq index build` wrote them", "not as it was written"],
    ),
    case("a file", |bench| bench.write("idx", ""), WITH_INDEX, ["idx", "a new folder", "a file"]),
    case(
        "below a file",
        |bench| bench.write("idx", ""),
        "run bm25 --data data --index idx/below -o out/old.run",
        ["idx/below", "a folder", ""],
    ),
];

#[test]
fn folders_that_are_no_index_or_a_damaged_one_are_refused_and_kept() {
    check(BAD_INDEXES);
}

const EVAL_INTO: &str = "eval good.run --data data --out-file good.run/x.json";

const BAD_PLACES: &[Case] = &[
    case(
        "below a file",
        NOTHING,
        "run bm25 -o good.run/x.run",
        ["good.run/x.run", "can be written", ""],
    ),
    case("figures below a file", NOTHING, EVAL_INTO, ["good.run/x.json", "can be written", ""]),
    case("a directory", NOTHING, "run bm25 -o out", ["out", "can be written", "directory"]),
    case(
        "a link to itself",
        |bench| {
            assert_eq!(bench.shell(&["sh"], "ln -s loop loop").status, Some(0));
        },
        "run bm25 --data data -o loop/x.run",
        ["loop/x.run", "can be written", ""],
    ),
    case(
        "a directory as need file",
        |bench| {
            bench.remove("out/old.need");
            bench.write("out/old.need/file", "");
        },
        RUN,
        ["out/old.need", "can be written", "directory"],
    ),
    case(
        "a directory as record",
        |bench| {
            bench.remove("out/old.run.json");
            bench.write("out/old.run.json/file", "");
        },
        RUN,
        ["out/old.run.json", "can be written", "directory"],
    ),
];

#[test]
fn places_that_cannot_be_written_are_refused() {
    check(BAD_PLACES);
}

#[test]
fn a_pipe_in_place_of_a_record_is_not_waited_for() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25 --data data -o a.run");
    bench.remove("a.run.json");
    let made = std::process::Command::new("mkfifo").arg(bench.path("a.run.json")).status();
    assert!(made.expect("mkfifo").success());
    let finished = bench.succeed("-v eval a.run --data data");
    assert!(finished.stderr.contains("no record beside it"), "{}", finished.stderr);
}

#[test]
fn a_gzip_bomb_on_standard_input_is_refused() {
    let bench = Bench::with_sample();
    bomb(&bench, "bad", 400);
    let finished = bench.shell(&["sh"], "\"$0\" eval - --data data < bad");
    assert_eq!(finished.status, Some(2));
    assert!(finished.stderr.contains("at most 384 MiB"), "{}", finished.stderr);
}
