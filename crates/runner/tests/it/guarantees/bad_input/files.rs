//! Configurations, runs, need models, indexes, and places that cannot be written.
//! `crates/track-clariq/tests/it/refusals.rs` has the defects of runs and need files.

use super::{RUN, bomb};
use crate::common::Bench;
use crate::common::refusals::{Case, NOTHING, case, check};

const BAD_FILES: &[Case] = &[
    case(
        "a run that is not there",
        NOTHING,
        "eval bad --data data --out-file out/old.json",
        ["bad", "a file", "nothing at that path"],
    ),
    case(
        "a need file without labels",
        |bench| bench.write("bad", "13 2\n14 high\n"),
        "eval bad --data data --task clarification_need",
        ["bad:2", "a label", "`14 high`"],
    ),
    case(
        "a gzip bomb as configuration",
        |bench| bomb(bench, "mine.toml", 2),
        "run mine.toml --data data -o out/old.run",
        ["mine.toml", "at most 1 MiB", "more"],
    ),
    case(
        "two systems of one name",
        |bench| {
            let text = "name = \"bm25\"\n[[stages]]\nstage = \"no_question\"\nrank = 1\n";
            bench.write("mine.toml", text);
        },
        "run bm25 mine.toml --data data",
        ["CONFIG", "different names", "`bm25` twice"],
    ),
    case(
        "a gzip bomb as judgements",
        |bench| bomb(bench, "bad", 80),
        "eval good.run --qrels bad",
        ["bad", "at most 64 MiB", "more"],
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
];

#[test]
fn bad_files_are_refused() {
    check(BAD_FILES);
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
    case("foreign folder, forced", FOREIGN, "index build --force --data data --index idx", KEPT),
    case(
        "damaged index",
        DAMAGED,
        WITH_INDEX,
        ["idx", "the files as they were written with the index", "not as it was written"],
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
