//! Trouble that people reported in public with tools of this kind, where it is the command's;
//! `crates/experiment/tests/it/public_reports.rs` has the others and their sources.

use crate::common::Bench;

#[test]
fn ids_are_written_as_they_are() {
    let bench = Bench::new();
    bench.write("data/documents.jsonl", "{\"id\":\"a\\u001bb\\u202e\",\"text\":\"tea\"}\n");
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
