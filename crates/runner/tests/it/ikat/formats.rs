//! `validate`, `convert` and `data segment`.

use crate::common::Bench;
use crate::common::refusals::{Case as Refusal, NOTHING, case as refusal, check};
use serde_json::json;

/// A run over the first conversation of the sample alone.
fn small_run() -> serde_json::Value {
    let statement = "I work shifts as a nurse, often at night.";
    let turn = |id: &str| {
        json!({"turn_id": id, "responses": [{"rank": 1, "text": "t",
            "ptkb_provenance": [{"id": "1", "text": statement, "score": 1.0}],
            "passage_provenance": [{"id": "clueweb22-en0000-00-00000:0", "score": 1.0, "used": true}]}]})
    };
    json!({"run_name": "r", "run_type": "automatic", "turns": [turn("1-1_1"), turn("1-1_1")]})
}

#[test]
fn problems_that_the_official_validator_misses_are_listed_separately() {
    let bench = Bench::new();
    let mut run = small_run();
    // Words of two tokens each.
    run["turns"][0]["responses"][0]["text"] = json!("don't ".repeat(126));
    bench.write("run.json", serde_json::to_vec_pretty(&run).unwrap());
    let finished = bench.run(&["validate", "run.json", "--split", "2023-test"]);
    assert_eq!(finished.status, Some(1), "the sample has more turns");
    let official = finished.stderr.find("error: run.json\n").expect("official");
    let beyond = finished.stderr.find("not checked officially: run.json\n").expect("listed");
    assert!(official < beyond, "{}", finished.stderr);
    for part in ["expected: every turn once", "about 252 in turn 1-1_1", "built-in iKAT sample"] {
        assert!(finished.stderr.contains(part), "no `{part}` in\n{}", finished.stderr);
    }
    let mut empty = small_run();
    empty["turns"] = json!([]);
    bench.write("empty.json", empty.to_string());
    let told = bench.succeed("validate empty.json --split 2023-test --format tsv").stdout;
    assert!(told.contains("empty.json\tnothing to validate\t"), "{told}");
}

#[test]
fn clariq_files_are_checked_too() {
    let bench = Bench::with_sample();
    bench.succeed("run bm25-tuned --data data -o good.run");
    for file in ["good.run", "good.need"] {
        let finished = bench.succeed(&format!("validate {file} --split dev --data data"));
        assert_eq!(finished.stderr, "", "{file}");
        assert!(finished.stdout.contains("accepted        15"), "{}", finished.stdout);
    }
    let pair = bench.succeed("validate good.run good.need --split dev --data data --format tsv");
    assert_eq!(pair.stdout.matches("\taccepted\t15\t").count(), 2, "{}", pair.stdout);
    bench.write("multi.run", "968 0 \"\" 0 5 t\n969 0 \"\" 0 5 t\n");
    let multi = bench.succeed("validate multi.run --split dev --data data --format tsv");
    assert!(multi.stdout.contains("\taccepted\t2\t0\t0\t0"), "{}", multi.stdout);
    bench.edit("good.run", |text| text.split_inclusive('\n').flat_map(|line| [line; 2]).collect());
    let finished = bench.succeed("validate good.run --split dev --data data");
    let facts =
        finished.stderr.lines().filter(|line| *line == "not checked officially: good.run:2");
    assert_eq!(facts.count(), 2, "equal scores and equal questions: {}", finished.stderr);
    bench.write("bad.need", "13 high\n");
    let finished = bench.run(&["validate", "bad.need", "--split", "dev", "--data", "data"]);
    assert_eq!(finished.status, Some(1));
    assert!(finished.stderr.contains("error: bad.need:1"), "{}", finished.stderr);
}

fn page(number: usize, sentences: usize) -> String {
    let text: Vec<String> = (0..sentences).map(|n| format!("Sentence {n} ends.")).collect();
    json!({"ClueWeb22-ID": format!("clueweb22-en0000-00-{number:05}"),
        "URL": "https://example.org/\n", "Clean-Text": format!("A title\n{}", text.join(" "))})
    .to_string()
        + "\n"
}

#[test]
fn pages_are_cut_into_passages() {
    let bench = Bench::new();
    bench.write("pages.jsonl", page(0, 12) + &page(1, 3));
    let finished = bench.succeed("data segment pages.jsonl -o cut --format tsv");
    let bytes = bench.read("pages.jsonl").len();
    let expected = format!("pages\tpassages\tbytes read\tfolder\n2\t3\t{bytes}\tcut\n");
    assert_eq!(finished.stdout, expected);
    for (name, count) in [("passages.jsonl", 3), ("passages.trecweb", 2), ("hashes.tsv", 3)] {
        let text = bench.text(&format!("cut/{name}"));
        let mark = if name == "passages.trecweb" { "<DOC>" } else { "\n" };
        assert_eq!(text.matches(mark).count(), count, "{name}");
    }
}

const CUT_PAGE: fn(&Bench) = |bench| bench.write("pages.jsonl", page(0, 12) + "{\"URL\": \"x\"}\n");
const RUN: fn(&Bench) =
    |bench| bench.write("run.json", small_run().to_string().replacen("1-1_1", "1-1_2", 1));

const REFUSALS: &[Refusal] = &[
    refusal(
        "no run",
        NOTHING,
        "validate gone.json --split 2023-test",
        ["gone.json", "a file", "nothing"],
    ),
    refusal("no such split", RUN, "validate run.json --split 2026", ["--split", "2025", "`2026`"]),
    refusal(
        "topics that are not there",
        RUN,
        "validate run.json --split 2024 --data data",
        ["--split", "train, dev, test", "`2024`"],
    ),
    refusal(
        "a folder that is not there",
        RUN,
        "validate run.json --split 2024 --data nowhere",
        ["nowhere", "`2024_test_topics.json`", "nothing at that path"],
    ),
    refusal(
        "a run that is no JSON",
        |bench| bench.write("run.json", "{\"run_name\": True}"),
        "convert run.json --to trec -o out/old.run",
        ["run.json:1", "", ""],
    ),
    refusal(
        "a TREC run to convert",
        NOTHING,
        "convert good.run --to trec -o out/old.run",
        ["good.run", "an iKAT submission, as JSON", "a run"],
    ),
    refusal(
        "a conversion onto itself",
        RUN,
        "convert run.json --to trec -o run.json",
        ["run.json", "an output apart from", "one of them"],
    ),
    refusal(
        "a line that is no page",
        CUT_PAGE,
        "data segment pages.jsonl -o cut",
        ["pages.jsonl:2", "ClueWeb22-ID", ""],
    ),
    refusal(
        "no page at all",
        |bench| bench.write("pages.jsonl", "\n"),
        "data segment pages.jsonl -o cut",
        ["pages.jsonl", "web pages", "no line"],
    ),
    refusal(
        "pages that would be replaced",
        |bench| bench.write("cut/passages.jsonl", page(0, 12)),
        "data segment cut/passages.jsonl -o cut",
        ["cut/passages.jsonl", "an output apart from", "one of them"],
    ),
];

#[test]
fn bad_input_is_refused() {
    check(REFUSALS);
}
