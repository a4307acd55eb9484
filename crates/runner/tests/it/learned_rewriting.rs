//! Systems with models of other people: a T5 that rewrites utterances, and a cross-encoder over the
//! passages of another engine. All models are tiny and random.

use crate::common::here::{Work, printed};
use crate::common::{Bench, root};
use clariq_core::Error;
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A bench with a BERT in `bert`, a T5 in `t5`, two systems over the BERT, and in `data` two
/// conversations of iKAT's sample.
fn bench() -> Bench {
    let bench = Bench::new();
    let models = root().join("crates/bert/tests/data");
    let copy = |from: &Path, to: &str| {
        for entry in fs::read_dir(from).expect("a model") {
            let path = entry.expect("a file").path();
            let name = path.file_name().and_then(|name| name.to_str()).expect("a name");
            bench.write(&format!("{to}/{name}"), fs::read(&path).expect("a file"));
        }
    };
    copy(&models.join("tiny"), "bert");
    copy(&models.join("t5/t5-1.1"), "t5");
    bench.write("bert/sentence_bert_config.json", "{\"max_seq_length\": 96}");
    for name in ["ikat-rewritten", "ikat-reranked", "ikat-organisers-2023"] {
        let text =
            fs::read_to_string(root().join(format!("configs/{name}.toml"))).expect("a system");
        let bert = bench.path("bert").display().to_string();
        bench.write(&format!("{name}.toml"), text.replace("all-MiniLM-L6-v2", &bert));
    }
    bench.write_ikat("data", |topics| topics.truncate(2));
    bench
}

fn record(bench: &Bench, run: &str) -> Value {
    serde_json::from_slice(&bench.read(&run.replace(".json", ".record.json"))).expect("JSON")
}

const TURNS: usize = 15;

/// Runs a system of the bench, with another value of a key of a stage.
fn run(bench: &Bench, system: &str, [stage, key, value]: [&str; 3]) -> Result<String, Error> {
    let max = [["rewrite", "max_tokens", "256"], ["rewrite", "max_length", "12"]];
    let rest = if stage == "rewrite" { &max[..] } else { &[] };
    let set = [&[[stage, key, value]], rest].concat();
    Work::on(bench, "data", "2023-test").run(&format!("{system}.toml"), &set, "a.json")
}

fn validate(bench: &Bench, run: &str) {
    let line = format!("-q validate {run} --data data --split 2023-test --format tsv");
    let validated = bench.succeed(&line).stdout;
    assert!(validated.contains(&format!("\taccepted\t{TURNS}\t0\t0\t0\n")), "{validated}");
}

#[test]
fn a_t5_rewrites_the_utterances_of_users() {
    let bench = bench();
    let t5 = bench.path("t5").display().to_string();
    let rewritten = || run(&bench, "ikat-rewritten", ["rewrite", "model", &t5]).expect("a run");
    rewritten();
    validate(&bench, "a.json");
    let (made_by, first) = (record(&bench, "a.json"), bench.read("a.json"));
    assert_eq!(made_by["answer"]["class"], "automatic");
    assert_eq!(made_by["tasks"]["passages"][0]["stage"], "rewrite");
    assert_eq!(made_by["tasks"]["passages"][0]["max_length"], 12);
    let label = format!("{t5} {{\"max_tokens\":256}}");
    assert_eq!(made_by["models"][label].as_str().map(str::len), Some(64));
    // All tasks share one rewrite; it is read from the cache, and damage is noticed.
    let entries = || fs::read_dir(bench.path("cache/rewrites")).expect("a cache").count();
    assert_eq!(entries(), 1);
    let told = rewritten();
    assert!(!told.contains("damaged"), "{told}");
    let entry = fs::read_dir(bench.path("cache/rewrites")).unwrap().next().unwrap().unwrap();
    fs::write(entry.path(), "[]").unwrap();
    let told = rewritten();
    assert!(told.contains("note: 1 generated texts in"), "{told}");
    assert!(bench.read("a.json") == first);
    assert_eq!(record(&bench, "a.json")["models"], made_by["models"]);
    let explained = bench.succeed(
        "-q explain --system ikat-rewritten.toml --data data --split 2023-test --set rewrite.model=t5 \
         --set rewrite.max_tokens=256 --set rewrite.max_length=12 --topic 1-1_2 1"
    );
    assert!(explained.stdout.contains("rewrite: not among"), "{}", explained.stdout);
    assert!(explained.stdout.contains("the utterance as \""), "{}", explained.stdout);
    // It reads what its class sees: no resolved utterance.
    bench.write_ikat("data", |topics| {
        topics.truncate(2);
        for turn in topics.iter_mut().flat_map(|topic| topic["turns"].as_array_mut().unwrap()) {
            turn["resolved_utterance"] = "scrambled".into();
        }
    });
    rewritten();
    assert!(bench.read("a.json") == first);
}

#[test]
fn rewrites_are_not_rewritten_and_models_are_of_their_kind() {
    let bench = bench();
    bench.write("llm.tsv", "1-1_2\tIs running bad for a knee?\n");
    let line = "-q run ikat-rewritten.toml --data data --split 2023-test --set rewrite.model=t5 \
                --rewrites llm.tsv --rewritten-by model";
    let finished = bench.run(&line.split_whitespace().collect::<Vec<_>>());
    assert_eq!(finished.status, Some(2), "{}", finished.stderr);
    assert!(finished.stderr.contains("the rewrites would be rewritten"), "{}", finished.stderr);
    let [bert, t5] = ["bert", "t5"].map(|name| bench.path(name).display().to_string());
    for (system, set, says) in [
        ("ikat-rewritten", ["rewrite", "model", &bert], "model_type `t5`"),
        ("ikat-rewritten", ["rewrite", "model", "encoder"], "`rewrite` the folder of a T5"),
        ("ikat-rewritten", ["rewrite", "max_length", "12"], "model `t5-base-canard`"),
        ("ikat-reranked", ["rerank", "model", &t5], "the tokens `▁true` and `▁false`"),
    ] {
        let error = printed(&run(&bench, system, set).expect_err(says));
        assert!(error.contains(says), "{says}: {error}");
    }
}

#[test]
fn a_run_of_another_engine_rewrites_and_a_cross_encoder_make_a_submission() {
    let bench = bench();
    let topics: Value =
        serde_json::from_slice(&bench.read("data/2023_test_topics.json")).expect("JSON");
    let mut rewrites = Vec::new();
    for topic in topics.as_array().expect("topics") {
        for turn in topic["turns"].as_array().expect("turns") {
            let (number, text) = (topic["number"].as_str(), turn["resolved_utterance"].as_str());
            let (number, text) = (number.unwrap(), text.unwrap());
            rewrites.push(format!("{number}_{}\t{text}\n", turn["turn_id"]));
        }
    }
    bench.write("llm.tsv", rewrites.concat());
    bench.succeed("-q run ikat-bm25 --data data --split 2023-test -o first.json");
    bench.succeed(
        "-q run ikat-reranked.toml --data data --split 2023-test --candidates first.passages.run \
         --passages data/passages.jsonl \
         --rewrites llm.tsv --rewritten-by model --set rerank.model=bert --set rerank.query=last \
         --set rerank.depth=10 -o mine.json",
    );
    validate(&bench, "mine.json");
    let made_by = record(&bench, "mine.json");
    assert_eq!(made_by["uses"], serde_json::json!(["rewrites-by-model"]));
    let reranked = &made_by["tasks"]["passages"][1]["inputs"][1]["stages"][1];
    assert_eq!((&reranked["stage"], &reranked["query"]), (&"rerank".into(), &"last".into()));
}

#[test]
fn a_t5_summarises_the_passages_of_a_response() {
    let bench = bench();
    let t5 = bench.path("t5").display().to_string();
    let run = |shortest: &str| {
        let set = [
            ["rewrite", "model", &t5],
            ["rewrite", "max_tokens", "256"],
            ["rewrite", "max_length", "12"],
            ["answer", "summary.model", &t5],
            ["answer", "summary.max_tokens", "64"],
            ["answer", "summary.min_length", shortest],
            ["answer", "summary.max_length", "40"],
        ];
        let work = Work::on(&bench, "data", "2023-test");
        work.run("ikat-organisers-2023.toml", &set, "a.json").expect("a run");
        let validated =
            bench.succeed("-q validate a.json --data data --split 2023-test --format tsv");
        assert!(validated.stdout.contains(&format!("\taccepted\t{TURNS}\t0\t")), "{validated:?}");
        let run: Value = serde_json::from_slice(&bench.read("a.json")).expect("JSON");
        let turns = run["turns"].as_array().expect("turns").iter();
        turns.map(|turn| turn["responses"][0].clone()).collect::<Vec<Value>>()
    };
    let responses = run("10");
    // BM25 finds nothing by some of the texts that a random T5 writes.
    let mut summaries = 0;
    for response in &responses {
        let used = response["passage_provenance"].as_array().expect("passages").iter();
        let used = used.filter(|passage| passage["used"] == true).count();
        let is_empty = response["text"].as_str().expect("a text").is_empty();
        assert_eq!((used, is_empty), if is_empty { (0, true) } else { (3, false) });
        summaries += usize::from(!is_empty);
    }
    assert_eq!(summaries, 12);
    assert_ne!(run("30"), responses);
}
