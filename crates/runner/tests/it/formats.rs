//! `--format`: every command prints in the requested form, or refuses it.

use crate::common::Bench;
use serde_json::Value;

const NEED_TRAIN: &str = "need train bm25-tuned --data data --folds 2 --repeats 1";
const NEED_EXPLAIN: &str = "need explain jaguar --data data";
const EXPLAIN: &str = "explain Saturn Q00002 --data data";

#[test]
fn tsv_is_one_table() {
    let bench = Bench::with_sample();
    for (line, first) in [(NEED_TRAIN, "cross-validation on train\t"), (NEED_EXPLAIN, "feature\t")]
    {
        let finished = bench.succeed(&format!("{line} --format tsv"));
        assert!(finished.stdout.starts_with(first), "{}", finished.stdout);
        assert!(finished.stderr.contains("TSV is one table"), "{}", finished.stderr);
        let columns: Vec<usize> =
            finished.stdout.lines().map(|line| line.split('\t').count()).collect();
        assert!(columns.len() > 2 && columns.iter().all(|count| *count == columns[0]), "{line}");
    }
}

#[test]
fn rows_of_several_tables_as_json_lines_name_their_table() {
    let bench = Bench::with_sample();
    for (line, tables) in [
        (NEED_TRAIN, &["cross_validation", "dev", "classes", "reliability"][..]),
        (NEED_EXPLAIN, &["labels", "features"]),
    ] {
        let printed = bench.succeed(&format!("{line} --format jsonl")).stdout;
        let parse = |line: &str| serde_json::from_str::<Value>(line).expect("an object a line");
        let mut named: Vec<String> = printed
            .lines()
            .map(|line| parse(line)["table"].as_str().expect("a name").to_owned())
            .collect();
        named.dedup();
        assert_eq!(named, tables, "{line}");
    }
}

#[test]
fn explain_prints_in_every_format() {
    let bench = Bench::with_sample();
    let print = |form: &str| bench.succeed(&format!("{EXPLAIN} --format {form}")).stdout;
    let object: Value = serde_json::from_str(&print("json")).expect("JSON");
    let stages = object["stages"].as_array().expect("stages");
    let tsv = print("tsv");
    let rows: Vec<Vec<&str>> = tsv.lines().map(|line| line.split('\t').collect()).collect();
    assert_eq!((rows.len(), &*rows[0]), (stages.len() + 1, &["stage", "rank", "of", "score"][..]));
    assert_eq!(Some(rows[1][0]), stages[0]["stage"].as_str());
    assert_eq!(print("jsonl").lines().count(), stages.len());
    assert!(print("md").starts_with("| stage | rank | of | score |"));
    assert!(print("latex").contains("\\begin{tabular}"));
    assert!(print("table").starts_with("stage"));
    assert!(bench.succeed(EXPLAIN).stdout.starts_with("request   Saturn"));
}

#[test]
fn an_unsupported_format_is_refused() {
    let bench = Bench::with_sample();
    for line in [
        "ask Saturn --data data --system bm25-conversation --format json",
        "need predict bm25-tuned --data data --format tsv",
        "data stats --data data --format trec",
    ] {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!((finished.status, &*finished.stdout), (Some(2), ""), "{line}");
        for part in ["error: --format", "expected: ", "hint: "] {
            assert!(finished.stderr.contains(part), "{line}: {}", finished.stderr);
        }
    }
}

#[test]
fn escapes_of_the_question_bank_do_not_reach_the_terminal() {
    let bench = Bench::with_sample();
    bench.edit("data/question_bank.tsv", |bank| {
        bank.replace("saturn", "saturn \u{1b}[2J\u{9b}31m")
            .replace("do you", "do \u{1b}]0;x\u{7} you")
    });
    bench.write("r.jsonl", "{\"id\": 1, \"text\": \"Tell me about Saturn\"}\n");
    for line in [
        "ask Saturn --data data --system bm25-conversation",
        "ask Saturn --data data --system bm25-conversation --explain",
        "explain Saturn Q00177 --data data",
        "index stats --data data",
    ] {
        let finished = bench.succeed(line);
        for printed in [&finished.stdout, &finished.stderr] {
            let control = |c: char| c.is_control() && !matches!(c, '\n' | '\t');
            assert!(!printed.contains(control), "{line}: {printed:?}");
        }
        let is_shown = ["\\u{1b}", "\\u001b"].iter().any(|it| finished.stdout.contains(it));
        assert!(line.starts_with("index") || is_shown, "{line}");
    }
}
