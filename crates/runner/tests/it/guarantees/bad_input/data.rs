//! Data folders.

use super::{RUN, bomb, gzip_cut};
use crate::common::Bench;
use crate::common::refusals::{Case, NOTHING, case, check};

/// The file with its numbered line, counted from 1, replaced.
fn with_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let line = |(place, line): (usize, &str)| {
        if place + 1 == number { change(line) } else { line.to_owned() }
    };
    text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
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
                .map(|(column, field)| if column == 3 { "5" } else { field })
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
    case(
        "missing split",
        |bench| bench.remove(DEV),
        RUN,
        ["--split", "--split train or --split test", "no dev in data"],
    ),
    case(
        "missing file",
        |bench| bench.remove(DEV),
        "run bm25 --data data --split dev -o out/old.run",
        [DEV, "`dev.tsv`", "nothing"],
    ),
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
    case(
        "a pipe as a data file",
        |bench| {
            bench.remove(DEV);
            assert_eq!(bench.shell(&["sh"], "mkfifo data/dev.tsv").status, Some(0));
        },
        RUN,
        [DEV, "a regular file", "a pipe"],
    ),
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
    case("cut archive", CUT, RUN, ["data/question_bank.tsv.gz", "a whole archive", "deflate"]),
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
