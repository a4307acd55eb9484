//! Utterances that were rewritten elsewhere: what they replace, and how a run declares them.

use crate::common::refusals::{case as refusal, check};
use crate::common::{Bench, root};
use serde_json::{Value, json};
use std::fs;

/// iKAT's sample as `data`, BM25 for it without expected figures as an automatic and as a manual
/// system, and the resolved utterances of all turns as rewrites in both forms.
fn bench() -> Bench {
    let bench = Bench::new();
    for entry in fs::read_dir(root().join("data/sample-ikat")).expect("the sample") {
        let path = entry.expect("a file").path();
        let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
        bench.write(&format!("data/{name}"), fs::read(&path).expect("a file"));
    }
    let text = fs::read_to_string(root().join("configs/ikat-bm25.toml")).expect("a system");
    let (system, _) = text.split_once("\n[[expected]]").expect("figures");
    bench.write("auto.toml", system.replace("ikat-bm25", "auto"));
    bench.write("manual.toml", system.replace("\"automatic\"", "\"manual\""));
    let topics: Value =
        serde_json::from_slice(&bench.read("data/2023_test_topics.json")).expect("JSON");
    let mut lines = Vec::new();
    let mut table = Vec::new();
    for topic in topics.as_array().expect("topics") {
        for turn in topic["turns"].as_array().expect("turns") {
            let id = format!("{}_{}", topic["number"].as_str().expect("a number"), turn["turn_id"]);
            let text = turn["resolved_utterance"].as_str().expect("a text");
            lines.push(json!({ "id": id, "text": text }).to_string());
            table.push(format!("{id}\t{text}"));
        }
    }
    bench.write("all.jsonl", lines.join("\n"));
    bench.write("all.tsv", table.join("\n"));
    bench
}

const RUN: &str = "-q run auto.toml --data data --split 2023-test --run-tag x";

#[test]
fn resolved_utterances_as_rewrites_make_the_run_of_a_manual_system() {
    let bench = bench();
    bench
        .succeed(&RUN.replace("auto", "manual").replace(" --run-tag", " -o manual.json --run-tag"));
    for (file, by, class) in [("all.jsonl", "model", "automatic"), ("all.tsv", "people", "manual")]
    {
        bench.succeed(&format!("{RUN} --rewrites {file} --rewritten-by {by} -o {by}.json"));
        let manual = bench.text("manual.json");
        let expected = manual.replacen("\"manual\"", &format!("{class:?}"), 1);
        assert_eq!(bench.text(&format!("{by}.json")), expected);
        for task in ["passages", "statements"] {
            let run = bench.read(&format!("manual.{task}.run"));
            assert!(bench.read(&format!("{by}.{task}.run")) == run, "{by}: {task}");
        }
        let record: Value =
            serde_json::from_slice(&bench.read(&format!("{by}.record.json"))).expect("JSON");
        assert_eq!(record["uses"], json!([format!("rewrites-by-{by}")]));
        assert_eq!(record["answer"]["class"], class);
        assert_eq!(record["rewrites"]["file"], file);
        assert_eq!(record["rewrites"]["sha256"].as_str().map(str::len), Some(64));
    }
}

#[test]
fn a_run_is_named_after_its_rewrites_and_missing_ones_are_counted() {
    let bench = bench();
    bench.edit("all.tsv", |text| text.replacen("1-1_1\t", "other\t", 1));
    let line = "run auto.toml --data data --split 2023-test --format tsv --rewrites all.tsv --rewritten-by";
    let told = bench.succeed(&format!("{line} people"));
    assert!(
        told.stdout.contains("auto-rewrites-all-by-people\tmanual\t2023-test\t46\t"),
        "{}",
        told.stdout
    );
    assert!(told.stdout.contains("\trewrites-by-people\t"), "{}", told.stdout);
    assert!(told.stderr.contains("all.tsv: 1 of 46 requests have no rewrite"), "{}", told.stderr);
    assert!(
        told.stderr
            .contains("all.tsv: 1 ids belong to no request of 2023-test in data, such as `other`"),
        "{}",
        told.stderr
    );
    let submission: Value =
        serde_json::from_slice(&bench.read("runs/ikat/auto-rewrites-all-by-people.2023-test.json"))
            .expect("JSON");
    assert_eq!(
        (&submission["run_name"], &submission["run_type"]),
        (&json!("auto-rewrites-all-by-people"), &json!("manual"))
    );
    bench.succeed(
        "-q validate runs/ikat/auto-rewrites-all-by-people.2023-test.json --data data --split 2023-test",
    );
    bench.write("a b.tsv", bench.read("all.tsv"));
    let named = bench.run(&[
        "run",
        "auto.toml",
        "--data",
        "data",
        "--split",
        "2023-test",
        "--rewrites",
        "a b.tsv",
        "--rewritten-by",
        "model",
        "--format",
        "tsv",
    ]);
    let name =
        named.stdout.lines().nth(1).and_then(|row| row.split('\t').next()).unwrap_or_default();
    assert!(name.starts_with("auto-") && name.len() == "auto-".len() + 12, "{name}");
}

#[test]
fn the_last_utterance_is_replaced_for_splits_files_and_explanations() {
    let bench = Bench::new();
    for name in ["documents.jsonl", "requests.dev.jsonl", "requests.train.jsonl"] {
        let file = fs::read(root().join("data/sample-own").join(name)).expect("the sample");
        bench.write(&format!("data/{name}"), file);
    }
    bench.write("rewrites.tsv", "d3\twhich bicycle fits me\nd1\thow is bread stored\n");
    let by = "--rewrites rewrites.tsv --rewritten-by model";
    bench.succeed(&format!(
        "-q run bm25-english --data data --split dev {by} --run-tag x -o split.run"
    ));
    bench.succeed(&format!(
        "-q run bm25-english --data data --requests data/requests.dev.jsonl {by} --run-tag x -o file.run"
    ));
    let explained = bench.succeed(&format!(
        "-q explain --system bm25-english --data data --split dev --topic d1 bike/1 {by}"
    ));
    bench.edit("data/requests.dev.jsonl", |text| {
        let text = text.replacen("which telescope should i buy", "which bicycle fits me", 1);
        text.replacen("keep bread fresh", "how is bread stored", 1)
    });
    bench.succeed("-q run bm25-english --data data --split dev --run-tag x -o edited.run");
    assert_eq!(bench.text("split.run"), bench.text("edited.run"));
    assert_eq!(bench.text("file.run"), bench.text("edited.run"));
    let edited =
        bench.succeed("-q explain --system bm25-english --data data --split dev --topic d1 bike/1");
    let scores = |text: &str| text.lines().skip(2).map(str::to_owned).collect::<Vec<_>>();
    assert_eq!(scores(&explained.stdout), scores(&edited.stdout));
}

#[test]
fn a_run_and_a_ranking_over_a_file_use_the_same_rewrites() {
    const BY_MODEL: &str = "--data data --rewrites r.tsv --rewritten-by model";
    let bench = Bench::with_sample();
    let line = |id| format!("{{\"id\": \"q{id}\", \"text\": \"tell me about it\"}}\n");
    bench.write("requests.jsonl", (1..4).map(line).collect::<String>());
    bench.write("r.tsv", "q2\ta dog\nq3\tdog heat\n");
    bench.succeed(&format!("-q run bm25 --requests requests.jsonl {BY_MODEL} -o a.run"));
    assert!(bench.text("a.run").ends_with(" bm25-rewrites-r-by-model\n"));
    let record = bench.text("a.run.json");
    assert!(record.contains("\"rewrites-by-model\"") && record.contains("\"file\": \"r.tsv\""));
    let ranked =
        bench.succeed(&format!("rank bm25 --requests requests.jsonl {BY_MODEL} --format trec"));
    assert_eq!(ranked.stdout.replace(" Q0 ", " 0 "), bench.text("a.run"));
    assert!(ranked.stderr.contains("r.tsv: 1 of 3 requests have no rewrite"), "{}", ranked.stderr);
}

#[test]
fn tune_uses_rewrites() {
    let bench = bench();
    let line = "-q tune auto.toml --data data --split 2023-test --grid passages.bm25.k1=0.9 -m nDCG@3 --folds 2 --format tsv";
    let raw = bench.succeed(line).stdout;
    let rewritten =
        bench.succeed(&format!("{line} --rewrites all.tsv --rewritten-by people")).stdout;
    let manual = bench.succeed(&line.replace("auto", "manual")).stdout;
    assert_eq!(rewritten, manual);
    assert_ne!(rewritten, raw);
}

#[test]
fn rewrites_that_do_not_fit_are_refused() {
    const TABLE: &str = "run bm25 --data data -o a.run --rewrites r.tsv --rewritten-by model";
    const LINES: &str = "run bm25 --data data -o a.run --rewrites r.jsonl --rewritten-by model";
    check(&[
        refusal(
            "others",
            |bench| bench.write("r.tsv", "q1\ta\nq2\tb\n"),
            TABLE,
            ["r.tsv", "rewrites of requests of dev in data", "`q1` and others"],
        ),
        refusal(
            "an id twice",
            |bench| bench.write("r.tsv", "101\ta\n101\tb\n"),
            TABLE,
            ["r.tsv:2", "an id that no other request has", "`101`, which is on line 1"],
        ),
        refusal("no tab", |bench| bench.write("r.tsv", "101 a\n"), TABLE, ["r.tsv:1", "", ""]),
        refusal(
            "an empty text",
            |bench| bench.write("r.tsv", "101\t \n"),
            TABLE,
            ["r.tsv:1", "", ""],
        ),
        refusal("an empty file", |bench| bench.write("r.tsv", ""), TABLE, ["r.tsv", "", ""]),
        refusal(
            "a number",
            |bench| bench.write("r.jsonl", "{\"id\": 101, \"text\": 1}\n"),
            LINES,
            ["r.jsonl:1", "a text at `text`", "integer `1`"],
        ),
        refusal(
            "a conversation",
            |bench| bench.write("r.jsonl", "{\"id\": 101, \"said\": [{\"system\": \"a\"}]}\n"),
            LINES,
            ["r.jsonl", "a text for every id", "a conversation, `101`"],
        ),
        refusal(
            "a text",
            |bench| bench.write("r.tsv", "101\ta\n"),
            "explain a Q00001 --data data --rewrites r.tsv --rewritten-by model",
            ["--rewrites", "--topic beside it", "the text of a request"],
        ),
    ]);
    let bench = Bench::with_sample();
    bench.write("r.tsv", "101\ta\n");
    for words in ["--rewrites r.tsv", "--rewritten-by model", "--rewrites r.tsv --rewritten-by me"]
    {
        let line = format!("run bm25 --data data -o a.run {words}");
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{words}");
    }
}
