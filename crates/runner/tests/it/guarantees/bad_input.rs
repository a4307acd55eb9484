//! Bad input of every kind: the command ends with status 2, says where, what was expected, what was found and what to do
//! next, prints no results, and leaves every file as it was.

use crate::common::Bench;
use crate::common::refusals::{Case, NOTHING, case, check};

const RUN: &str = "run bm25 --data data -o out/old.run";

/// The file with its numbered line, counted from 1, replaced.
fn with_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let line = |(place, line): (usize, &str)| {
        if place + 1 == number { change(line) } else { line.to_owned() }
    };
    text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

fn gzip_cut(bench: &Bench, from: &str, to: &str) {
    let packed = bench
        .shell(&["sh"], &format!("gzip -c {from} > {to}.whole && head -c 900 {to}.whole > {to}"));
    assert_eq!(packed.status, Some(0), "{}", packed.stderr);
}

/// So many MiB of blank lines, packed.
fn bomb(bench: &Bench, name: &str, size: usize) {
    let script = format!("yes '' | head -c {size}M | gzip -9 > {name}");
    assert_eq!(bench.shell(&["sh"], &script).status, Some(0));
}

const BANK: &str = "data/question_bank.tsv";
const DEV: &str = "data/dev.tsv";
const NOT_UTF8: fn(&Bench) = |bench| {
    let mut bytes = bench.read(BANK);
    bytes.extend(b"Q09999\tcaf\xe9\n");
    bench.write(BANK, bytes);
};
const DIRECTORY: fn(&Bench) = |bench| {
    bench.remove(DEV);
    bench.write("data/dev.tsv/inside", "");
};
const CUT: fn(&Bench) = |bench| {
    gzip_cut(bench, BANK, "data/question_bank.tsv.gz");
    bench.remove(BANK);
};
const TWICE: fn(&Bench) = |bench| {
    bench.remove("data/test_with_labels.tsv");
    bench.edit("data/test.tsv", |text| text + "11\tagain\n");
};
const LABEL: fn(&Bench) = |bench| {
    bench.edit(DEV, |text| {
        with_line(&text, 4, |line| {
            line.split('\t')
                .enumerate()
                .map(|(n, f)| if n == 3 { "5" } else { f })
                .collect::<Vec<_>>()
                .join("\t")
        })
    });
};

const BAD_DATA: &[Case] = &[
    case(
        "missing folder",
        NOTHING,
        "run bm25 --data nowhere",
        ["nowhere", "a folder", "nothing at that path"],
    ),
    case("a file as folder", NOTHING, "run bm25 --data data/dev.tsv", [DEV, "a folder", "a file"]),
    case("missing file", |bench| bench.remove(DEV), RUN, [DEV, "`dev.tsv`", "nothing"]),
    case(
        "missing column",
        |bench| bench.edit(DEV, |text| text.replacen("question_id", "qid", 1)),
        RUN,
        ["data/dev.tsv:1", "a column `question_id`", "qid"],
    ),
    case(
        "another header",
        |bench| bench.edit(BANK, |text| with_line(&text, 1, |_| "a,b,c".to_owned())),
        RUN,
        ["data/question_bank.tsv:1", "a column `question_id`", "a,b,c"],
    ),
    case("not UTF-8", NOT_UTF8, RUN, ["data/question_bank.tsv:432", "UTF-8 text", "caf"]),
    case(
        "short row",
        |bench| bench.edit(BANK, |text| text + "Q09999\n"),
        RUN,
        ["data/question_bank.tsv:432", "2 tab-separated fields", "1"],
    ),
    case(
        "unknown question",
        |bench| {
            bench.edit(DEV, |text| with_line(&text, 3, |line| line.replace("Q00102", "Q77777")));
        },
        RUN,
        ["data/dev.tsv:3", "a question id of question_bank.tsv", "`Q77777`"],
    ),
    case("label out of range", LABEL, RUN, ["data/dev.tsv:4", "from 1 to 4", "`5`"]),
    case(
        "duplicate question",
        |bench| bench.edit(BANK, |text| text + "Q00002\tagain\n"),
        RUN,
        ["data/question_bank.tsv:432", "unique", "line 3"],
    ),
    case(
        "duplicate topic",
        TWICE,
        "run bm25 --data data --split test -o out/old.run",
        ["data/test.tsv:17", "unique", "line 2"],
    ),
    case(
        "empty file",
        |bench| bench.write(DEV, ""),
        RUN,
        ["data/dev.tsv:1", "a header", "nothing"],
    ),
    case(
        "header alone",
        |bench| bench.edit(DEV, |text| text.lines().next().unwrap_or_default().to_owned() + "\n"),
        RUN,
        ["data/dev.tsv:2", "at least one row", "nothing"],
    ),
    case(
        "a quote that is never closed",
        |bench| {
            bench.remove("data/test_with_labels.tsv");
            bench.edit("data/test.tsv", |text| {
                with_line(&text, 3, |line| line.replacen('\t', "\t\"", 1))
            });
        },
        "run bm25 --data data --split test -o out/old.run",
        ["data/test.tsv:3", "a quoted field that ends", "does not close"],
    ),
    case(
        "an id with a blank",
        |bench| bench.edit(BANK, |text| text + "Q 9999\twhich\n"),
        RUN,
        ["data/question_bank.tsv:432", "an id without blanks", "`Q 9999`"],
    ),
    #[cfg(unix)]
    case(
        "a pipe as a data file",
        |bench| {
            bench.remove(DEV);
            assert_eq!(bench.shell(&["sh"], "mkfifo data/dev.tsv").status, Some(0));
        },
        RUN,
        [DEV, "a regular file", "a pipe"],
    ),
    #[cfg(unix)]
    case(
        "a dangling link",
        |bench| {
            bench.remove(DEV);
            assert_eq!(bench.shell(&["sh"], "ln -s nowhere data/dev.tsv").status, Some(0));
        },
        RUN,
        [DEV, "a file", "a link to nothing"],
    ),
    case("a gzip bomb as data", |bench| bomb(bench, DEV, 80), RUN, [DEV, "at most 64 MiB", "more"]),
    case("directory as file", DIRECTORY, RUN, [DEV, "a file", "a directory"]),
    case("cut archive", CUT, RUN, ["data/question_bank.tsv.gz", "a whole gzip file", "deflate"]),
    case(
        "held-out labels",
        |bench| bench.remove("data/test_with_labels.tsv"),
        "eval good.run --data data --split test",
        ["data/test_with_labels.tsv", "the labels of test", "requests alone"],
    ),
];

#[test]
fn a_bad_data_folder_is_refused() {
    check(BAD_DATA);
}

#[test]
fn bad_qrels_are_named_by_the_check_of_a_folder() {
    let bench = Bench::with_sample();
    bench.write("data/dev.qrel", "F0001 0 d1 1\nF0001 0 d2 much\n");
    let finished = bench.run(&["data", "check", "--data", "data"]);
    assert_eq!(finished.status, Some(1), "a check that failed");
    for text in [
        "error: data/dev.qrel:2: ",
        "expected: a whole number",
        "found: `F0001 0 d2 much`",
        "hint: ",
    ] {
        assert!(finished.stderr.contains(text), "{}", finished.stderr);
    }
}

const CONFIG: &str =
    "name = \"mine\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\nk1 = 1.5\ndepth = 30\n";
const CLEAR: &str =
    "name = \"mine\"\n[[stages]]\nstage = \"no_question\"\nrank = 1\nwhen_need = 1\n";
const STOP: &str = "name = \"mine\"\n[[stages]]\nstage = \"stop\"\nneed = 7\n";
const MINE: &str = "run mine.toml --data data -o out/old.run";

const FUSE_ONE: &str = "name = \"mine\"\n[[stages]]\nstage = \"fuse\"\nmethod = \"reciprocal-rank\"\ndepth = 9\n\
    [[stages.inputs]]\n[[stages.inputs.stages]]\nstage = \"no_question\"\nrank = 1\n";

macro_rules! changed {
    ($from:literal to $to:literal) => {
        |bench| bench.write("mine.toml", CONFIG.replace($from, $to))
    };
}

const BAD_CONFIGURATIONS: &[Case] = &[
    case(
        "no such system",
        NOTHING,
        "run bm52 -o out/old.run",
        ["bm52", "one of `no-question`, `bm25`", "nothing"],
    ),
    case("unknown key", changed!("depth" to "depht"), MINE, ["mine.toml:7", "`depth`", "`depht`"]),
    case(
        "unknown stage",
        changed!("bm25" to "bm52"),
        MINE,
        ["mine.toml:4", "one of `bm25`", "`bm52`"],
    ),
    case("wrong type", changed!("1.5" to "'high'"), MINE, ["mine.toml:6", "a number", "\"high\""]),
    case("bad value", changed!("1.5" to "-1"), MINE, ["mine.toml:6", "at least 0", "-1"]),
    case("depth 0", changed!("30" to "0"), MINE, ["mine.toml:7", "at least 1", "`0`"]),
    case(
        "no depth",
        changed!("depth = 30" to ""),
        MINE,
        ["mine.toml:3", "a key `depth`", "without it"],
    ),
    case(
        "unknown analyser",
        changed!("nltk" to "klingon"),
        MINE,
        ["mine.toml:5", "`nltk`", "`klingon`"],
    ),
    case("not TOML", changed!("[[stages]]" to "[[stages"), MINE, ["mine.toml:3", "`]", "unclosed"]),
    case(
        "unknown need model",
        |bench| bench.write("mine.toml", format!("{CONFIG}\n[need]\nmodel = \"oracle\"\n")),
        MINE,
        ["mine.toml:10", "`majority`", "`oracle`"],
    ),
    case(
        "no weights",
        changed!("\"bm25\"\nanalyzer = \"nltk\"\nk1 = 1.5" to "\"dense\"\nspace = { characters = 1.0 }\nrepeat = 0.9"),
        MINE,
        ["mine.toml:6", "a table `weights`", "without it"],
    ),
    case(
        "no need",
        |bench| bench.write("mine.toml", format!("{STOP}\n[need]\nmodel = \"lexical\"\n")),
        MINE,
        ["mine.toml:4", "need from 1 to 4", "7"],
    ),
    case(
        "nothing predicts the need",
        |bench| bench.write("mine.toml", CLEAR),
        MINE,
        ["mine.toml:5", "[need]", "without"],
    ),
    case(
        "nothing predicts the need, which the command line looks at",
        NOTHING,
        "run no-question --set no_question.when_need=2",
        ["command line, no_question.when_need=2", "[need]", "without"],
    ),
    case("bad name", changed!("mine" to "a/b"), MINE, ["mine.toml:1", "letters, digits", "`a/b`"]),
    case(
        "a gzip bomb as configuration",
        |bench| bomb(bench, "mine.toml", 2),
        MINE,
        ["mine.toml", "at most 1 MiB", "more"],
    ),
    case(
        "no stages",
        |bench| bench.write("mine.toml", "name = \"x\"\n"),
        MINE,
        ["mine.toml:1", "[[stages]]", "none"],
    ),
    case(
        "not UTF-8",
        |bench| bench.write("mine.toml", b"\nname='\xe9'"),
        MINE,
        ["mine.toml:2", "UTF-8", "0xe9"],
    ),
    case(
        "fuse of one input",
        |bench| bench.write("mine.toml", FUSE_ONE),
        MINE,
        ["mine.toml:6", "at least two inputs", "1 with stages"],
    ),
    case(
        "two systems of one name",
        |bench| bench.write("mine.toml", CONFIG.replace("mine", "bm25")),
        "run bm25 mine.toml --data data",
        ["CONFIG", "different names", "`bm25` twice"],
    ),
];

#[test]
fn a_bad_configuration_is_refused() {
    check(BAD_CONFIGURATIONS);
}

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
        ["--format", "table, tsv, json, jsonl, md", "`xml`"],
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
        "unknown question",
        NOTHING,
        "explain request Q9",
        ["QUESTION_ID", "the id of a document", "`Q9`"],
    ),
];

#[test]
fn bad_arguments_are_refused() {
    check(BAD_ARGUMENTS);
}

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
    case("too many fields", file!("1 0 Q1 1 5 t a\n"), EVAL, ["bad:1", "6 fields", "t a`"]),
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
        ["bad", "a whole gzip file", "deflate"],
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

#[cfg(unix)]
#[test]
fn a_pipe_in_place_of_a_record_is_not_waited_for() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25 --data data -o a.run");
    bench.remove("a.run.json");
    let made = std::process::Command::new("mkfifo").arg(bench.path("a.run.json")).status();
    assert!(made.expect("mkfifo").success());
    let finished = bench.succeed("eval a.run --data data");
    assert!(finished.stderr.contains("no record beside a.run"), "{}", finished.stderr);
}
