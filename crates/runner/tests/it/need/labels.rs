//! Predicted labels, the report about them, and explanations.

use super::{QUICK, predicted, relabel};
use crate::common::Bench;
use clariq_collections::DataDir;
use clariq_systems::SystemConfig;
use clariq_track_clariq::{ClariQ, ClariqSplit};
use serde_json::Value;

#[test]
fn every_topic_of_a_split_gets_a_line_in_file_order() {
    let bench = Bench::with_sample();
    let collection = ClariQ::open(DataDir::Folder(bench.path("data"))).expect("the sample");
    for split in ClariqSplit::ALL {
        let printed = predicted(&bench, "bm25-tuned", split.name(), "");
        let lines: Vec<(&str, &str)> =
            printed.lines().map(|line| line.split_once(' ').expect("two fields")).collect();
        let topics = collection.split(split).expect("topics").topics;
        let ids: Vec<&str> = topics.iter().map(|topic| topic.id.as_str()).collect();
        assert_eq!(lines.iter().map(|(id, _)| *id).collect::<Vec<_>>(), ids, "{split}");
        assert!(lines.iter().all(|(_, label)| ["1", "2", "3", "4"].contains(label)), "{printed}");
    }
}

#[test]
fn a_saved_model_a_configuration_and_a_run_give_the_same_labels() {
    let bench = Bench::with_sample();
    bench.succeed(&format!("need train bm25-tuned --data data {QUICK} -o need.json"));
    bench.succeed("run bm25-tuned --data data -o a.run");
    let saved = predicted(&bench, "need.json", "dev", "");
    assert_eq!(saved, predicted(&bench, "bm25-tuned", "dev", ""));
    assert_eq!(saved, bench.text("a.need"));
    bench.succeed("need predict need.json --data data -o b.need");
    assert_eq!(saved, bench.text("b.need"));
}

#[test]
fn a_named_model_predicts_beside_any_system_or_is_refused() {
    let bench = Bench::with_sample();
    bench.succeed(&format!("need train bm25-tuned --data data {QUICK} -o need.json"));
    let saved = predicted(&bench, "need.json", "dev", "");
    bench.write(
        "own.toml",
        "name = \"own\"\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"english\"\ndepth = 30\n",
    );
    bench.succeed("run own.toml --data data -o alone.run");
    assert!(!bench.path("alone.need").exists());
    for system in ["own.toml", "ql", "no-question", "bm25"] {
        bench.succeed(&format!("run {system} --data data -o a.run --need-model need.json"));
        assert_eq!(saved, bench.text("a.need"), "{system}");
        let missing = format!("run {system} --data data -o b.run --need-model none.json");
        let missing = bench.run(&missing.split(' ').collect::<Vec<_>>());
        assert_eq!(missing.status, Some(2), "{system}");
        assert!(missing.stderr.contains("error: none.json: missing file"), "{}", missing.stderr);
        // Standard output has one file, the run.
        let stream = format!("run {system} --data data -o - --need-model need.json");
        let stream = bench.run(&stream.split(' ').collect::<Vec<_>>());
        assert_eq!((stream.status, &*stream.stdout), (Some(2), ""), "{system}");
        assert!(stream.stderr.contains("it would change nothing"), "{}", stream.stderr);
    }
}

#[test]
fn every_system_of_the_challenge_writes_both_files() {
    let without: Vec<String> = clariq_systems::built_in::names()
        .map(|name| SystemConfig::open_any(name, &[]).expect("a system"))
        .filter(|system| system.expected.iter().any(|it| it.collection == "clariq"))
        .filter(|system| system.need.is_none())
        .map(|system| system.name)
        .collect();
    assert!(without.is_empty(), "{without:?}");
}

#[test]
fn the_same_seed_gives_the_same_bytes_on_any_number_of_threads() {
    let bench = Bench::with_sample();
    let train = |more: &str| {
        let line = format!("need train bm25-tuned --data data {QUICK} -o a.json {more}");
        (bench.succeed(&line).stdout, bench.read("a.json"))
    };
    assert!(train("--threads 1") == train("--threads 4"));
    let [(one, first), (other, second)] = ["--seed 1", "--seed 2"].map(train);
    assert_ne!(one, other, "folds are drawn from the seed");
    assert!(first == second, "a regression is convex: nothing of the model is drawn");
}

#[test]
fn the_report_has_the_official_figure_first_and_everything_behind_it() {
    let bench = Bench::with_sample();
    let report = bench
        .succeed(&format!("need train bm25-tuned --data data {QUICK} --format json -o need.json"));
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let (repeats, folds) = (&report["cross_validation"][0], &report["cross_validation"][1]);
    assert_eq!((&repeats["values"], &folds["values"]), (&2.into(), &10.into()));
    assert!(repeats["weighted F1"].as_f64().is_some_and(|f1| 0.0 < f1 && f1 < 1.0), "{repeats}");
    assert!(
        folds["standard deviation"].as_f64().is_some_and(|deviation| deviation > 0.0),
        "{folds}"
    );
    let dev = &report["dev"][0];
    let [f1, from, to] =
        ["weighted F1", "95 % from", "to"].map(|name| dev[name].as_f64().expect("a figure"));
    assert!(from <= f1 && f1 <= to && from < to, "{dev}");
    bench.write("dev.need", predicted(&bench, "need.json", "dev", ""));
    let official = bench.succeed("eval dev.need --data data --task clarification_need").stdout;
    assert!(official.contains(&format!("F1: {f1}")), "{official} and {f1}");
    let counts = |rows: &Value, names: &[&str]| -> Vec<u64> {
        let rows = rows.as_array().expect("rows");
        rows.iter()
            .map(|row| names.iter().map(|name| row[*name].as_u64().expect("a count")).sum())
            .collect()
    };
    let support = counts(&report["classes"], &["topics"]);
    assert_eq!(
        support,
        counts(&report["classes"], &["as 1", "as 2", "as 3", "as 4"]),
        "the confusion matrix"
    );
    assert_eq!(
        support.iter().sum::<u64>(),
        counts(&report["reliability"], &["topics"]).iter().sum::<u64>()
    );
    let table = bench.succeed(&format!("need train bm25-tuned --data data {QUICK}")).stdout;
    assert!(
        table.starts_with("cross-validation on train")
            && table.lines().all(|line| line.len() <= 80),
        "{table}"
    );
}

#[test]
fn an_explanation_has_probabilities_and_the_features_behind_the_label() {
    let bench = Bench::with_sample();
    let explain = |request: &str| {
        let finished = bench
            .run(&["need", "explain", request, "--data", "data", "--top", "3", "--format", "json"]);
        assert_eq!(finished.status, Some(0), "{request}: {}", finished.stderr);
        let all: Value = serde_json::from_str(&finished.stdout).expect("JSON");
        let labels = all["labels"].as_array().expect("labels").clone();
        let sum: f64 =
            labels.iter().map(|row| row["probability"].as_f64().expect("a probability")).sum();
        assert!((sum - 1.0).abs() < 1e-9 && labels.len() == 4, "{request}: {sum}");
        assert_eq!(labels.iter().filter(|row| row["label"] == true).count(), 1, "{request}");
        assert_eq!(all["features"].as_array().expect("features").len(), 3, "{request}");
    };
    let long = "tent ".repeat(10_000);
    for request in [
        "tell me about tents",
        "?",
        &long,
        "我想知道关于帐篷的信息",
        "أخبرني عن الخيام",
        "🏕🐝",
        "Tëll mé",
    ] {
        explain(request);
    }
}

#[test]
fn requests_of_any_length_and_language_get_a_label() {
    let bench = Bench::with_sample();
    bench.remove("data/test_with_labels.tsv");
    let requests = [
        "",
        "tent ".repeat(10_000).as_str(),
        "我想知道关于帐篷的信息",
        "أخبرني عن الخيام",
        "🏕🐝",
        "?!\u{200b}",
    ]
    .iter()
    .zip(1001..)
    .fold("topic_id\tinitial request\n".to_owned(), |file, (request, id)| {
        format!("{file}{id}\t{request}\n")
    });
    bench.write("data/test.tsv", requests);
    for model in ["bm25", "bm25-tuned"] {
        let labels = predicted(&bench, model, "test", "");
        assert_eq!(labels.lines().count(), 6, "{labels}");
    }
}

/// Two labels are enough to learn from, and no other is ever given.
#[test]
fn labels_that_train_lacks_are_not_predicted() {
    let bench = Bench::with_sample();
    relabel(&bench, |need| if need == "1" { "1" } else { "3" });
    let labels = predicted(&bench, "bm25-tuned", "dev", "");
    assert!(labels.lines().all(|line| line.ends_with(" 1") || line.ends_with(" 3")), "{labels}");
}
