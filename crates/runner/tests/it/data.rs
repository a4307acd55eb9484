//! `clariq data check`, and contents of files in messages.

use crate::common::Bench;

#[test]
fn warnings_alone_leave_the_status_at_zero_and_errors_set_it_to_one() {
    let bench = Bench::with_sample();
    let finished = bench.succeed("data check --data data");
    for part in ["warning: data/dev.tsv", "expected: the released file"] {
        assert!(finished.stderr.contains(part), "{}", finished.stderr);
    }
    bench.edit("data/dev.tsv", |text| text + "cut\n");
    let finished = bench.run(&["data", "check", "--data", "data", "--format", "tsv"]);
    assert_eq!(finished.status, Some(1));
    assert!(finished.stderr.contains("error: data/dev.tsv:"), "{}", finished.stderr);
    assert!(finished.stdout.contains("data/dev.tsv\t1\t1\n"), "{}", finished.stdout);
}

#[test]
fn a_defect_of_every_row_is_reported_once() {
    let bench = Bench::with_sample();
    bench.edit("data/dev.tsv", |text| text.replace("\tQ", "\tX"));
    let finished = bench.run(&["data", "check", "--data", "data"]);
    assert_eq!(finished.status, Some(1));
    let expected = "expected: a question id of question_bank.tsv";
    assert_eq!(finished.stderr.matches(expected).count(), 1, "{}", finished.stderr);
    assert!(finished.stderr.contains("times"), "{}", finished.stderr);
}

#[test]
fn escapes_of_a_file_do_not_reach_the_terminal() {
    let bench = Bench::with_sample();
    bench.write("bad\u{1b}[2J.run", "13 0 Q1 1 \u{1b}[31mhigh\u{202e} t\n");
    let finished = bench.run(&["eval", "bad\u{1b}[2J.run", "--data", "data"]);
    assert_eq!(finished.status, Some(2));
    assert!(!finished.stderr.contains(['\u{1b}', '\u{202e}']), "{}", finished.stderr);
    assert!(finished.stderr.contains(r"\u{1b}[31mhigh"), "{}", finished.stderr);
}

#[test]
fn an_error_about_ten_megabytes_fits_a_screen() {
    let bench = Bench::with_sample();
    bench.write("mine.toml", format!("name = \"{}\"\n", "x".repeat(900_000)));
    bench.write("bad.run", format!("13 0 Q1 1 {} t\n", "9x".repeat(5_000_000)));
    bench.edit("data/question_bank.tsv", |text| {
        format!("{text}Q00002\t{}\n", "y ".repeat(5_000_000))
    });
    let lines = ["run mine.toml --data data", "eval bad.run --data data", "data check --data data"];
    for line in lines {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_ne!(finished.status, Some(0), "{line}");
        assert!(finished.stderr.len() < 20_000, "{line}: {} bytes", finished.stderr.len());
    }
}
