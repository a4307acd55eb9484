//! Systems with models of other people by the real binary: a T5 that rewrites utterances, and a
//! cross-encoder over the passages of another engine. All models are tiny and random.

use crate::common::{Bench, root};
use serde_json::Value;
use std::fs;
use std::path::Path;

/// A bench with a BERT in `bert`, a T5 in `t5`, and two systems over the BERT.
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
    for name in ["ikat-rewritten", "ikat-reranked"] {
        let text =
            fs::read_to_string(root().join(format!("configs/{name}.toml"))).expect("a system");
        bench.write(&format!("{name}.toml"), text.replace("all-MiniLM-L6-v2", "bert"));
    }
    bench
}

fn record(bench: &Bench, run: &str) -> Value {
    serde_json::from_slice(&bench.read(&format!("{run}.json"))).expect("JSON")
}

const REWRITTEN: &str = "-q run ikat-rewritten.toml --split 2023-test --set rewrite.model=t5 \
    --set rewrite.max_tokens=256 --set rewrite.max_length=12";

#[test]
fn a_t5_rewrites_what_users_say() {
    let bench = bench();
    bench.succeed(&format!("{REWRITTEN} -o a.json"));
    let validated = bench.succeed("-q validate a.json --split 2023-test --format tsv").stdout;
    assert!(validated.contains("\taccepted\t46\t0\t0\t0\n"), "{validated}");
    let made_by = record(&bench, "a.json");
    assert_eq!(made_by["answer"]["class"], "automatic");
    assert_eq!(made_by["tasks"]["passages"][0]["stage"], "rewrite");
    assert_eq!(made_by["tasks"]["passages"][0]["max_length"], 12);
    assert_eq!(made_by["models"]["t5 {\"max_tokens\":256}"].as_str().map(str::len), Some(64));
    // All tasks share what is written once; it is read again from the cache, and damage is noticed.
    let entries = || fs::read_dir(bench.path("cache/rewrites")).expect("a cache").count();
    assert_eq!(entries(), 1);
    let again = format!("{} -o b.json --threads 1", REWRITTEN.trim_start_matches("-q "));
    let told = bench.succeed(&again);
    assert!(!told.stderr.contains("damaged"), "{}", told.stderr);
    let entry = fs::read_dir(bench.path("cache/rewrites")).unwrap().next().unwrap().unwrap();
    fs::write(entry.path().join("texts.json"), "[]").unwrap();
    let told = bench.succeed(&again.replace("b.json", "c.json"));
    assert!(told.stderr.contains("note: the rewrites in"), "{}", told.stderr);
    for other in ["b.json", "c.json"] {
        assert!(bench.read(other) == bench.read("a.json"));
        assert_eq!(record(&bench, other)["models"], made_by["models"]);
    }
    // It reads what its class sees: no resolved utterance.
    let sample = root().join("data/sample-ikat");
    let topics = fs::read_to_string(sample.join("2023_test_topics.json")).expect("topics");
    let mut topics: Value = serde_json::from_str(&topics).expect("JSON");
    for topic in topics.as_array_mut().expect("topics") {
        for turn in topic["turns"].as_array_mut().expect("turns") {
            turn["resolved_utterance"] = "scrambled".into();
        }
    }
    bench.write("data/2023_test_topics.json", topics.to_string());
    bench.write("data/passages.jsonl", fs::read(sample.join("passages.jsonl")).expect("passages"));
    bench.succeed(&format!("{REWRITTEN} --data data -o d.json"));
    assert!(bench.read("d.json") == bench.read("a.json"));
    let explain = REWRITTEN.replace("run ikat-rewritten", "explain --system ikat-rewritten");
    let explained = bench.succeed(&format!("{explain} --topic 1-1_2 1"));
    assert!(explained.stdout.contains("rewrite: not among"), "{}", explained.stdout);
    assert!(explained.stdout.contains("the utterance as \""), "{}", explained.stdout);
}

#[test]
fn rewrites_are_not_rewritten_and_models_are_of_their_kind() {
    let bench = bench();
    bench.write("llm.tsv", "1-1_2\tIs running bad for a knee?\n");
    let refused = |line: &str, says: &str| {
        let finished = bench.run(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(finished.status, Some(2), "{line}");
        assert!(finished.stderr.contains(says), "{says}: {}", finished.stderr);
    };
    refused(
        &format!("{REWRITTEN} --rewrites llm.tsv --rewritten-by model"),
        "the rewrites would be rewritten",
    );
    let line = "-q run ikat-rewritten.toml --split 2023-test --set rewrite.model";
    refused(&format!("{line}=bert"), "model_type `t5`");
    refused(&format!("{line}=encoder"), "`rewrite` the folder of a T5");
    refused("-q run ikat-rewritten --split 2023-test", "model `t5-base-canard`");
    refused("-q run ikat-reranked.toml --split 2023-test --set rerank.model=t5", "model_type");
}

#[test]
fn a_run_of_another_engine_rewrites_and_a_cross_encoder_make_a_submission() {
    let bench = bench();
    let topics = root().join("data/sample-ikat/2023_test_topics.json");
    let topics: Value = serde_json::from_slice(&fs::read(topics).expect("a file")).expect("JSON");
    let mut rewrites = Vec::new();
    for topic in topics.as_array().expect("topics") {
        for turn in topic["turns"].as_array().expect("turns") {
            let (number, text) = (topic["number"].as_str(), turn["resolved_utterance"].as_str());
            let (number, text) = (number.unwrap(), text.unwrap());
            rewrites.push(format!("{number}_{}\t{text}\n", turn["turn_id"]));
        }
    }
    bench.write("llm.tsv", rewrites.concat());
    bench.succeed("-q run ikat-bm25 --split 2023-test -o first.json");
    let passages = fs::read(root().join("data/sample-ikat/passages.jsonl")).expect("passages");
    bench.write("passages.jsonl", passages);
    bench.succeed(
        "-q run ikat-reranked.toml --split 2023-test --candidates first.passages.run --passages passages.jsonl \
         --rewrites llm.tsv --rewritten-by model --set rerank.model=bert --set rerank.query=last \
         --set rerank.depth=10 -o mine.json",
    );
    let validated = bench.succeed("-q validate mine.json --split 2023-test --format tsv").stdout;
    assert!(validated.contains("\taccepted\t46\t0\t0\t0\n"), "{validated}");
    let made_by = record(&bench, "mine.json");
    assert_eq!(made_by["uses"], serde_json::json!(["rewrites-by-model"]));
    let reranked = &made_by["tasks"]["passages"][1]["inputs"][1]["stages"][1];
    assert_eq!((&reranked["stage"], &reranked["query"]), (&"rerank".into(), &"last".into()));
}
