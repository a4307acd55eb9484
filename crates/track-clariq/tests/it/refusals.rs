//! Files of `ClariQ` that are refused: the place, what was expected, and what was found.

use crate::folder::Folder;
use clariq_collections::{DataDir, Split};
use clariq_core::{Problem, ProblemKind};
use clariq_files::Source;
use clariq_track_clariq::evaluation::{Official, OfficialTask};
use clariq_track_clariq::{ClariQ, SAMPLE, splits};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::os::unix::fs::symlink;
use std::path::Path;
use std::process::Command;

const BANK: &str = "data/question_bank.tsv";
const DEV: &str = "data/dev.tsv";
const TEST: &str = "data/test.tsv";

fn assert_says(problem: &Problem, name: &str, [at, expected, found]: [&str; 3]) {
    let title = problem.title();
    assert!(title.contains(at), "{name}: no `{at}` in `{title}`");
    assert!(problem.expected.contains(expected), "{name}: {problem}");
    assert!(problem.found.contains(found), "{name}: {problem}");
    let is_advised = problem.kind == ProblemKind::MissingData;
    assert!(is_advised || !problem.hint.is_empty(), "{name}: {problem}");
}

fn packed(text: &[u8]) -> Vec<u8> {
    let mut packer = GzEncoder::new(Vec::new(), Compression::best());
    packer.write_all(text).expect("packed");
    packer.finish().expect("packed")
}

/// Blank lines as gzip: one member of 1 MiB, repeated.
fn bomb(size: usize) -> Vec<u8> {
    packed("\n".repeat(1 << 20).as_bytes()).repeat(size)
}

fn make_pipe(path: &Path) {
    assert!(Command::new("mkfifo").arg(path).status().expect("mkfifo").success());
}

/// The file with its numbered line, counted from 1, replaced.
fn with_line(text: &str, number: usize, change: impl Fn(&str) -> String) -> String {
    let line = |(place, line): (usize, &str)| {
        if place + 1 == number { change(line) } else { line.to_owned() }
    };
    text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
}

/// A defect, what creates it in a copy of the sample, and the parts of the message about a split.
type Case = (&'static str, fn(&Folder), Split, [&'static str; 3]);

const CASES: &[Case] = &[
    ("missing file", |folder| folder.remove(DEV), splits::DEV, [DEV, "`dev.tsv`", "nothing"]),
    (
        "missing column",
        |folder| folder.edit(DEV, |text| text.replacen("question_id", "qid", 1)),
        splits::DEV,
        ["data/dev.tsv:1", "a column `question_id`", "qid"],
    ),
    (
        "another header",
        |folder| folder.edit(BANK, |text| with_line(&text, 1, |_| "a,b,c".to_owned())),
        splits::DEV,
        ["data/question_bank.tsv:1", "a column `question_id`", "a,b,c"],
    ),
    (
        "not UTF-8",
        |folder| folder.write(BANK, [&folder.read(BANK)[..], b"Q09999\tcaf\xe9\n"].concat()),
        splits::DEV,
        ["data/question_bank.tsv:432", "UTF-8 text", "caf"],
    ),
    (
        "short row",
        |folder| folder.edit(BANK, |text| text + "Q09999\n"),
        splits::DEV,
        ["data/question_bank.tsv:432", "2 tab-separated fields", "1"],
    ),
    (
        "unknown question",
        |folder| {
            folder.edit(DEV, |text| with_line(&text, 3, |line| line.replace("Q00102", "Q77777")));
        },
        splits::DEV,
        ["data/dev.tsv:3", "a question id of question_bank.tsv", "`Q77777`"],
    ),
    (
        "label out of range",
        |folder| {
            folder.edit(DEV, |text| {
                with_line(&text, 4, |line| {
                    let mut fields: Vec<&str> = line.split('\t').collect();
                    fields[3] = "5";
                    fields.join("\t")
                })
            });
        },
        splits::DEV,
        ["data/dev.tsv:4", "from 1 to 4", "`5`"],
    ),
    (
        "duplicate question",
        |folder| folder.edit(BANK, |text| text + "Q00002\tagain\n"),
        splits::DEV,
        ["data/question_bank.tsv:432", "unique", "line 3"],
    ),
    (
        "duplicate topic",
        |folder| {
            folder.remove("data/test_with_labels.tsv");
            folder.edit(TEST, |text| text + "11\tagain\n");
        },
        splits::TEST,
        ["data/test.tsv:17", "unique", "line 2"],
    ),
    (
        "empty file",
        |folder| folder.write(DEV, ""),
        splits::DEV,
        ["data/dev.tsv:1", "a header", "nothing"],
    ),
    (
        "header alone",
        |folder| folder.edit(DEV, |text| text.lines().next().expect("a line").to_owned() + "\n"),
        splits::DEV,
        ["data/dev.tsv:2", "at least one row", "nothing"],
    ),
    (
        "a quote that is never closed",
        |folder| {
            folder.remove("data/test_with_labels.tsv");
            folder.edit(TEST, |text| with_line(&text, 3, |line| line.replacen('\t', "\t\"", 1)));
        },
        splits::TEST,
        ["data/test.tsv:3", "a quoted field that ends", "does not close"],
    ),
    (
        "an id with a blank",
        |folder| folder.edit(BANK, |text| text + "Q 9999\twhich\n"),
        splits::DEV,
        ["data/question_bank.tsv:432", "an id without blanks", "`Q 9999`"],
    ),
    (
        "a pipe as a data file",
        |folder| {
            folder.remove(DEV);
            make_pipe(&folder.path(DEV));
        },
        splits::DEV,
        [DEV, "a regular file", "a pipe"],
    ),
    (
        "a dangling link",
        |folder| {
            folder.remove(DEV);
            symlink("nowhere", folder.path(DEV)).expect("linked");
        },
        splits::DEV,
        [DEV, "a file", "a link to nothing"],
    ),
    (
        "a gzip bomb",
        |folder| folder.write(DEV, bomb(80)),
        splits::DEV,
        [DEV, "at most 64 MiB", "more"],
    ),
    (
        "a directory as file",
        |folder| {
            folder.remove(DEV);
            folder.write("data/dev.tsv/inside", "");
        },
        splits::DEV,
        [DEV, "a file", "a directory"],
    ),
    (
        "a cut archive",
        |folder| {
            folder.write("data/question_bank.tsv.gz", &packed(&folder.read(BANK))[..900]);
            folder.remove(BANK);
        },
        splits::DEV,
        ["data/question_bank.tsv.gz", "a whole archive", "deflate"],
    ),
];

#[test]
fn a_bad_data_folder_is_refused() {
    for (name, arrange, split, says) in CASES {
        let folder = Folder::with_sample();
        arrange(&folder);
        let data = DataDir::Folder(folder.path("data"));
        let opened = ClariQ::open(data).and_then(|clariq| clariq.split(*split).map(drop));
        assert_says(&opened.expect_err(name).to_problem(), name, *says);
    }
}

/// The problem of a file that is scored on dev.
fn refused(task: &OfficialTask, file: &Path) -> Problem {
    let clariq = ClariQ::open(SAMPLE).expect("the sample");
    let scored = Official::new(&clariq, splits::DEV).score_as(task, &Source::new(file));
    scored.err().expect("a refusal").to_problem()
}

#[test]
fn bad_runs_and_need_files_are_refused() {
    let questions = OfficialTask::Questions { ties: None };
    let needs = OfficialTask::Needs;
    let bomb = bomb(400);
    let cases: [(&OfficialTask, &[u8], [&str; 3]); 12] = [
        (&questions, b"\n \n", ["bad:1", "lines of the form", "nothing"]),
        (&questions, b"1 0 Q1 1 5 t\n1 0 Q1 1\n", ["bad:2", "6 fields", "`1 0 Q1 1`"]),
        (&questions, b"1 0 Q1 1 5 t\n\n1 0 Q2 2 nan t\n", ["bad:3", "a finite score", "nan"]),
        (&questions, b"1 0 Q1 1 1e999 t\n", ["bad:1", "a finite score", "1e999"]),
        (&questions, b"1 0 Q1 1 high t\n", ["bad:1", "a finite score", "high"]),
        (&questions, b"1 0 Q1 1 5 caf\xe9\n", ["bad:1", "UTF-8", "caf"]),
        (&questions, b"13 2\n", ["bad:1", "6 fields", "`13 2`"]),
        (&questions, &bomb, ["bad", "at most 384 MiB", "more"]),
        (&needs, b"1 0 Q1 1 5 t\n", ["bad:1", "2 fields", "Q1"]),
        (&needs, b"13 2\n14 high\n", ["bad:2", "a label", "`14 high`"]),
        (&needs, b"13 2.5\n", ["bad:1", "a label", "`13 2.5`"]),
        (&needs, b"13\n", ["bad:1", "2 fields", "`13`"]),
    ];
    let folder = Folder::new();
    for (task, content, says) in cases {
        folder.write("bad", content);
        assert_says(&refused(task, &folder.path("bad")), says[2], says);
    }
    let line = |number| format!("{number} 0 Q1 1 5 t\n");
    let run: String = (0..999).map(line).collect();
    folder.write("cut", &packed(run.as_bytes())[..900]);
    folder.write("folder/file", "");
    symlink("loop", folder.path("loop")).expect("linked");
    for (name, says) in [
        ("missing", ["missing", "a file", "nothing at that path"]),
        ("folder", ["folder", "a file", "a directory"]),
        ("cut", ["cut", "a whole archive", "deflate"]),
        ("loop", ["loop", "", ""]),
        ("/dev/zero", ["/dev/zero", "a regular file", "a device"]),
    ] {
        assert_says(&refused(&questions, &folder.path(name)), name, says);
    }
}
