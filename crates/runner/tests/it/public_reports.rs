//! Trouble that people reported in public with tools of this kind, where it is the command's;
//! `crates/experiment/tests/it/public_reports.rs` has the others and their sources.

use crate::common::Bench;
use std::fmt::Write as _;

fn bench(files: &[(&str, &str)]) -> Bench {
    let bench = Bench::new();
    for (name, text) in files {
        bench.write(&format!("data/{name}"), text);
    }
    bench
}

/// A run over the sample of `ClariQ` with one line for each topic of dev: its spelling, and the form of
/// the other fields.
fn dev_run(bench: &Bench, topic: impl Fn(&str) -> String, rest: &str, end: &str) -> String {
    let mut run = String::new();
    let mut known = Vec::new();
    for row in bench.text("data/dev.tsv").lines().skip(1) {
        let fields: Vec<&str> = row.split('\t').collect();
        if !known.contains(&fields[0].to_owned()) {
            known.push(fields[0].to_owned());
            let question = fields[6];
            let _ = write!(run, "{}{}{end}", topic(fields[0]), rest.replace("QUESTION", question));
        }
    }
    run
}

#[test]
fn topics_are_read_as_numbers_and_lines_may_end_with_a_carriage_return() {
    let bench = Bench::with_sample();
    let plain = |topic: &str| topic.to_owned();
    let rest = " 0 QUESTION 1 2.5 t";
    bench.write("plain.run", dev_run(&bench, plain, rest, "\n"));
    let expected = bench.succeed("eval plain.run --data data --split dev").stdout;
    assert!(!expected.starts_with("Recall5: 0.0\n"));
    for (name, run) in [
        ("float", dev_run(&bench, |topic| format!("{topic}.0"), rest, "\n")),
        ("padded", dev_run(&bench, |topic| format!("000{topic}"), rest, "\n")),
        (
            "quoted",
            dev_run(&bench, |topic| format!("\"{topic}\""), " 0 \"QUESTION\" 1 \"2.5\" t", "\n"),
        ),
        ("returns", dev_run(&bench, plain, rest, "\r")),
        ("both", dev_run(&bench, plain, rest, "\r\n")),
    ] {
        bench.write("a.run", run);
        for command in ["eval", "compare plain.run", "report"] {
            let finished = bench.succeed(&format!("{command} a.run --data data --split dev"));
            assert!(
                command != "eval" || finished.stdout == expected,
                "{name}: {}",
                finished.stdout
            );
        }
        bench.succeed("validate a.run --data data --split dev");
    }
}

#[test]
fn the_validator_refuses_what_the_official_scorer_cannot_read() {
    let bench = Bench::with_sample();
    let plain = |topic: &str| topic.to_owned();
    for (name, rest) in [
        ("tabs.run", "\t0\tQUESTION\t1\t2\tt"),
        ("blanks.run", "  0  QUESTION  1  2  t"),
        ("tabs.need", "\t3"),
    ] {
        bench.write(name, dev_run(&bench, plain, rest, "\n"));
        let finished = bench.run(&["validate", name, "--data", "data", "--split", "dev"]);
        assert_eq!(finished.status, Some(1), "{name}: {}", finished.stderr);
    }
    let warned = bench.succeed("eval blanks.run --data data --split dev");
    assert!(warned.stderr.contains("not as the official scorer needs them"), "{}", warned.stderr);
}

#[test]
fn ids_are_written_as_they_are() {
    let bench = bench(&[("documents.jsonl", "{\"id\":\"a\\u001bb\\u202e\",\"text\":\"tea\"}\n")]);
    bench.write("q.jsonl", "{\"id\":\"q\",\"text\":\"tea\"}\n");
    for format in ["trec", "tsv"] {
        let line = format!("rank bm25-english --data data --requests q.jsonl --format {format}");
        let last = bench.succeed(&line).stdout.lines().last().expect("a line").to_owned();
        assert_eq!(last.split([' ', '\t']).nth(2), Some("a\u{1b}b\u{202e}"), "{format}");
    }
}

#[test]
fn standard_input_and_output_have_one_meaning_each() {
    let bench = Bench::with_sample();
    bench.write("q.jsonl", "{\"id\":\"q\",\"text\":\"tea\"}\n");
    let twice = "rank bm25 --data data --requests - --rewrites - --rewritten-by people <q.jsonl";
    let finished = bench.shell(&["bash"], &format!("\"$0\" {twice}"));
    assert_eq!(finished.status, Some(2));
    assert!(
        finished.stderr.contains("standard input for one of the inputs"),
        "{}",
        finished.stderr
    );
    bench.succeed("run bm25 --data data --split dev -o a.run");
    bench.succeed("eval a.run --data data --split dev --out-file a.json");
    let printed = bench.succeed("eval a.run --data data --split dev --out-file -").stdout;
    assert_eq!(printed, bench.text("a.json"));
    assert!(!bench.path("-").exists());
    for line in ["data export --data data -o -", "report a.run --data data --charts -"] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}");
        assert!(finished.stderr.contains("a folder, which `-` is not"), "{}", finished.stderr);
    }
}
