//! The built-in systems: their input, their output and their figures.

use super::{released, sample};
use crate::common::Bench;
use crate::common::refusals::{NOTHING, case as refusal, check};
use serde_json::json;
use std::fs;

#[test]
fn a_run_is_written_validated_converted_and_scored() {
    let bench = Bench::new();
    let run = "runs/ikat-sample/ikat-bm25.2023-test.json";
    let finished = bench.succeed("-q run ikat-bm25 --split 2023-test --format tsv");
    assert!(
        finished.stdout.contains("ikat-bm25\tautomatic\t2023-test\t46\t"),
        "{}",
        finished.stdout
    );
    let validated = bench.succeed(&format!("-q validate {run} --split 2023-test --format tsv"));
    assert_eq!(validated.stderr, "", "no error, no warning, no missed problem");
    assert!(validated.stdout.contains("\taccepted\t46\t0\t0\t0\n"), "{}", validated.stdout);
    let converted = bench.succeed(&format!("convert {run} --to trec")).stdout;
    let written = bench.text("runs/ikat-sample/ikat-bm25.2023-test.passages.run");
    let ids = |text: &str, n: usize| -> Vec<String> {
        let lines = text.lines().map(|line| line.split_whitespace().take(3).collect::<Vec<_>>());
        lines.filter(|fields| fields[0] == "1-1_1").map(|f| f[2].to_owned()).take(n).collect()
    };
    assert_eq!(ids(&converted, 100), ids(&written, 100));
    let statements = bench.text("runs/ikat-sample/ikat-bm25.2023-test.statements.run");
    assert_eq!(statements.lines().filter(|line| line.starts_with("1-1_1 ")).count(), 10);
    let scored = bench.succeed(&format!("-q eval {run} --split 2023-test --format tsv"));
    for name in [
        "statements (organisers) nDCG@3",
        "sets (NIST) macro F1",
        "passages R@10",
        "response ROUGE-1",
    ] {
        assert!(scored.stdout.contains(&format!("\n{name}\t0.")), "{name}: {}", scored.stdout);
    }
    let graded =
        bench.succeed(&format!("-q eval {run} --split 2023-test -m P(rel=2)@5 --format tsv"));
    assert!(graded.stdout.contains("passages (graded by NIST) P(rel=2)@5\t"), "{}", graded.stdout);
    let record: serde_json::Value =
        serde_json::from_slice(&bench.read(&run.replace(".json", ".record.json"))).unwrap();
    assert_eq!(record["split"], "2023-test");
    assert_eq!(record["answer"]["class"], "automatic");
}

#[test]
fn a_figure_has_the_same_name_for_every_kind_of_file() {
    let bench = Bench::new();
    bench.succeed("-q run ikat-bm25 --split 2023-test -o mine.json");
    let figures = |line: &str| {
        let text = bench.succeed(&format!("-q {line} --split 2023-test --format tsv")).stdout;
        let rows = text.lines().skip(1).map(|line| line.split_once('\t').unwrap());
        rows.map(|(name, value)| (name.to_owned(), value.to_owned())).collect::<Vec<_>>()
    };
    let submission = figures("eval mine.json -m nDCG@3");
    let ranking = figures("eval mine.statements.run -m nDCG@3");
    assert_eq!(submission[..2], ranking);
    assert!(ranking[0].0 == "statements (organisers) nDCG@3" && ranking[0].1.starts_with("0.384"));
    assert_eq!(submission[2].0, "ptkb_provenance (organisers) nDCG@3");
    assert!(submission[2].1 < submission[0].1, "one statement is handed in");
    // Without the ranking beside it, only what is handed in can be scored.
    fs::copy(bench.path("mine.json"), bench.path("alone.json")).unwrap();
    let alone = figures("eval alone.json");
    assert!(alone.iter().all(|(name, _)| !name.starts_with("statements")), "{alone:?}");
    assert!(alone.contains(&submission[2]), "{alone:?}");
    let refused = bench.run(&["compare", "alone.json", "mine.json", "--task", "statements"]);
    assert!(refused.stderr.contains("found: no alone.statements.run"), "{}", refused.stderr);
    // Rankings of another run are not taken for its own.
    bench.write("alone.statements.run", "1-1_1 Q0 2 1 1.0 other\n");
    bench.write("alone.passages.run", "1-1_1 Q0 p:0 1 1.0 other\n");
    let warned = bench.succeed("eval alone.json --split 2023-test").stderr;
    for task in ["statements", "passages"] {
        let warning = format!("warning: alone.{task}.run belongs to another run and is ignored\n");
        assert!(warned.contains(&warning), "{warned}");
    }
    assert_eq!(figures("eval alone.json"), alone);
}

#[test]
fn folders_are_checked_and_counted() {
    let bench = Bench::new();
    let data = sample();
    let checked = bench.succeed(&format!("data check --data {data}"));
    assert!(!checked.stderr.contains("error"), "{}", checked.stderr);
    let counted = bench.succeed(&format!("data stats --data {data} --format tsv"));
    for row in ["conversations\t6\t", "turns\t46\t", "statements\t60\t"] {
        assert!(counted.stdout.contains(&format!("\n{row}")), "{row}: {}", counted.stdout);
    }
    let Some(folder) = released() else { return };
    let folder = folder.to_str().unwrap();
    let checked = bench.succeed(&format!("data check --data {folder}"));
    assert!(checked.stderr.contains("twice in turn 3-1_5"), "{}", checked.stderr);
    let counted = bench.succeed(&format!("data stats --data {folder} --format tsv"));
    assert!(counted.stdout.contains("\nturns\t95\t332\t218\t188\t"), "{}", counted.stdout);
    assert!(counted.stdout.contains("\npassages\t\t\t\t\t894\n"), "{}", counted.stdout);
}

#[test]
fn systems_and_collections_that_do_not_fit_are_refused() {
    check(&[
        refusal(
            "a system of several tasks on requests of ClariQ",
            NOTHING,
            "rank ikat-bm25 --data data",
            ["--data", "a collection with statements and passages", "with questions"],
        ),
        refusal(
            "conversations of ClariQ",
            NOTHING,
            "run ikat-bm25 --conversations c.jsonl",
            ["--conversations", "a collection with a form of conversations", "iKAT"],
        ),
        refusal(
            "labels that are not there",
            |bench| {
                let topics = json!([{"number": 0, "title": "t", "ptkb": {"1": "a"}, "turns":
                    [{"turn_id": 1, "utterance": "u"}]}]);
                bench.write("ikat/2024_test_topics.json", topics.to_string());
                bench.write("ikat/passages.jsonl", "{\"id\": \"a:0\", \"contents\": \"x\"}\n");
                bench.write("run.json", "{}");
            },
            "eval run.json --split 2024 --data ikat",
            ["ikat", "labels of 2024", "topics without labels"],
        ),
    ]);
}
