//! `clariq need train | predict | explain` on the sample collection: what they write, that the same
//! inputs give the same bytes, and what they refuse.

use crate::common::Bench;
use crate::common::refusals::{Case, NOTHING, case, check};
use clariq_collections::clariq::{ClariQ, DataDir, Split};
use serde_json::{Value, json};
use std::collections::HashSet;

const LEXICAL: &str = "[need]\nmodel = \"lexical\"\n";
const QUICK: &str = "--folds 5 --repeats 2";

/// A system with the empty question alone, and whatever stands behind it.
fn system(more: &str) -> String {
    format!("name = \"mine\"\n\n[[stages]]\nstage = \"no_question\"\nrank = 1\n{more}")
}

/// The need file of a split as the command prints it.
fn predicted(bench: &Bench, model: &str, split: &str, more: &str) -> String {
    bench.succeed(&format!("need predict {model} --data data --split {split} {more}")).stdout
}

#[test]
fn every_topic_of_a_split_gets_a_line_in_file_order() {
    let bench = Bench::with_sample();
    let collection = ClariQ::open(DataDir::Folder(bench.path("data"))).expect("the sample");
    for split in Split::ALL {
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
    assert_eq!((&repeats["figures"], &folds["figures"]), (&2.into(), &10.into()));
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
    .zip(1..)
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

/// Rewrites the labels of train.tsv.
fn relabel(bench: &Bench, change: fn(&str) -> &str) {
    bench.edit("data/train.tsv", |text| {
        let line = |(place, line): (usize, &str)| {
            let fields = line.split('\t').enumerate();
            fields
                .map(|(n, field)| if place > 0 && n == 3 { change(field) } else { field })
                .collect::<Vec<_>>()
                .join("\t")
        };
        text.lines().enumerate().map(line).collect::<Vec<_>>().join("\n") + "\n"
    });
}

/// A model of the sample, changed.
fn model(bench: &Bench, change: impl Fn(String) -> String) {
    bench.succeed(&format!("need train bm25-tuned --data data {QUICK} -o model.json"));
    bench.edit("model.json", change);
}

macro_rules! edited {
    ($from:literal to $to:literal) => {
        |bench| model(bench, |text| text.replacen($from, $to, 1))
    };
}

const TRAIN: &str = "need train bm25-tuned --data data -o out/old.json";
const PREDICT: &str = "need predict model.json --data data -o out/old.need";

const BAD_TRAINING: &[Case] = &[
    case(
        "unlabelled topics",
        |bench| relabel(bench, |_| ""),
        TRAIN,
        ["data/train.tsv:2", "from 1 to 4", "``"],
    ),
    case(
        "no labels",
        |bench| bench.write("data/train.tsv", "topic_id\tinitial_request\n1\ta tent\n"),
        TRAIN,
        ["data/train.tsv:1", "a column `topic_desc`", "initial_request"],
    ),
    case(
        "no training file",
        |bench| bench.remove("data/train.tsv"),
        TRAIN,
        ["data/train.tsv", "`train.tsv`", "nothing"],
    ),
    case(
        "a single class",
        |bench| relabel(bench, |_| "2"),
        TRAIN,
        ["data/train.tsv", "two different", "the label 2"],
    ),
    case(
        "label out of range",
        |bench| relabel(bench, |_| "5"),
        TRAIN,
        ["data/train.tsv:2", "from 1 to 4", "`5`"],
    ),
    case(
        "label of no number",
        |bench| relabel(bench, |_| "high"),
        TRAIN,
        ["data/train.tsv:2", "from 1 to 4", "`high`"],
    ),
    case(
        "no need model",
        NOTHING,
        "need train no-question --data data -o out/old.json",
        ["no-question", "[need]", "without one"],
    ),
    case(
        "an unknown need model",
        |bench| bench.write("mine.toml", system("[need]\nmodel = \"oracle\"\n")),
        "need train mine.toml --data data -o out/old.json",
        ["mine.toml:7", "`lexical`", "`oracle`"],
    ),
    case(
        "a key of another model",
        |bench| {
            bench.write("mine.toml", system(&format!("{LEXICAL}encoder = \"all-MiniLM-L6-v2\"\n")));
        },
        "need train mine.toml --data data -o out/old.json",
        ["mine.toml:8", "`prior_power`", "`encoder`"],
    ),
    case(
        "one fold",
        NOTHING,
        "need train bm25-tuned --data data --folds 1",
        ["--folds", "at least 2", "1"],
    ),
    case(
        "many folds",
        NOTHING,
        "need train bm25-tuned --data data --folds 99",
        ["--folds", "from 2 to 29", "99"],
    ),
    case(
        "no repeats",
        NOTHING,
        "need train bm25-tuned --data data --repeats 0",
        ["--repeats", "from 1 to 1000 repeats", "0"],
    ),
    case(
        "a thousand million repeats",
        NOTHING,
        "need train bm25-tuned --data data --repeats 1000000000",
        ["--repeats", "from 1 to 1000 repeats", "1000000000"],
    ),
    case(
        "a thousand million folds",
        NOTHING,
        "need train bm25-tuned --data data --folds 1000000000",
        ["--folds", "from 2 to 29", "1000000000"],
    ),
];

#[test]
fn what_there_is_nothing_to_learn_from_is_refused() {
    check(BAD_TRAINING);
}

const BAD_MODELS: &[Case] = &[
    case("no model", NOTHING, PREDICT, ["model.json", "a file", "nothing"]),
    case("no such system", NOTHING, "need predict bm52 --data data", ["bm52", "one of", "nothing"]),
    case(
        "another bank",
        |bench| {
            model(bench, |text| text);
            bench.edit("data/question_bank.tsv", |text| text + "Q09999\tone question more\n");
        },
        PREDICT,
        ["model.json", "the question bank", "one made with 575333ff3f8b"],
    ),
    case(
        "other features",
        edited!("\"letters\"" to "\"lettres\""),
        PREDICT,
        ["model.json", "the features", "features of"],
    ),
    case(
        "another format",
        edited!("\"need_model\": 2" to "\"need_model\": 9"),
        PREDICT,
        ["model.json", "format 2", "format 9"],
    ),
    case(
        "an unknown key",
        edited!("\"encoder\"" to "\"encodar\""),
        PREDICT,
        ["model.json:39", "a need model", "encodar"],
    ),
    case(
        "a truncated model",
        |bench| model(bench, |text| text.lines().take(9).collect::<Vec<_>>().join("\n")),
        PREDICT,
        ["model.json:9", "a need model", "EOF"],
    ),
    case(
        "an empty model",
        |bench| bench.write("model.json", ""),
        PREDICT,
        ["model.json:1", "a need model", "EOF"],
    ),
    case(
        "a model of something else",
        |bench| bench.write("model.json", "[1, 2]"),
        PREDICT,
        ["model.json:1", "a need model", ""],
    ),
    case(
        "too few weights",
        |bench| model(bench, |text| without_a_weight(&text)),
        PREDICT,
        ["model.json", "weights for all", "another"],
    ),
    case(
        "an empty request",
        NOTHING,
        "need explain  --data data",
        ["REQUEST", "a request", "nothing"],
    ),
    case(
        "a folder as need file",
        NOTHING,
        "need predict bm25 --data data -o data",
        ["data", "can be written", "directory"],
    ),
];

/// Takes the last weight of the first label away.
fn without_a_weight(text: &str) -> String {
    let mut saved: Value = serde_json::from_str(text).expect("JSON");
    let labels =
        saved.pointer_mut("/model/ensemble/members/0/labels").and_then(Value::as_object_mut);
    let first = labels.and_then(|labels| labels.values_mut().next()).expect("a label");
    first["columns"].as_array_mut().expect("weights").pop();
    saved.to_string()
}

#[test]
fn models_that_cannot_be_used_are_refused() {
    check(BAD_MODELS);
}

/// Without learned stages, what needs an encoder says how to get one, and which model needs none.
#[test]
fn a_command_without_learned_models_says_so() {
    let bench = Bench::with_sample().with_learned("");
    bench.write("full.toml", system("[need]\nmodel = \"full\"\n"));
    let finished = bench.run(&["need", "predict", "full.toml", "--data", "data"]);
    assert_eq!(finished.status, Some(2), "{}", finished.stderr);
    assert!(
        finished.stderr.contains("scripts/install") && finished.stderr.contains("lexical"),
        "{}",
        finished.stderr
    );
}

/// `bm25-tuned` with the empty question first where the need is predicted to be at most so much.
fn silent_when_clear(limit: u8) -> String {
    let stage = format!("[[stages]]\nstage = \"no_question\"\nrank = 1\nwhen_need = {limit}\n");
    format!(
        "name = \"mine\"\n\n[[stages]]\nstage = \"bm25\"\nanalyzer = \"nltk\"\ndepth = 30\n\n{stage}\n{LEXICAL}"
    )
}

/// The first question of every topic, in file order.
fn first_questions(run: &str) -> Vec<(String, bool)> {
    let fields = |line: &str| line.split(' ').map(str::to_owned).collect::<Vec<_>>();
    let lines = run.lines().map(fields).filter(|line| line[3] == "1");
    lines.map(|line| (line[0].clone(), line[2] == "Q00001")).collect()
}

#[test]
fn the_empty_question_comes_first_where_the_need_file_says_clear() {
    let bench = Bench::with_sample();
    let mut seen = HashSet::new();
    for limit in 1..=2 {
        bench.write("mine.toml", silent_when_clear(limit));
        for split in ["train", "dev", "test"] {
            bench.succeed(&format!("run mine.toml --data data --split {split} -o a.run"));
            let first = first_questions(&bench.text("a.run"));
            let clear = |line: &str| {
                let (topic, label) = line.split_once(' ').expect("two fields");
                (topic.to_owned(), label.parse::<u8>().expect("a label") <= limit)
            };
            let needs: Vec<_> = bench.text("a.need").lines().map(clear).collect();
            assert_eq!(first, needs, "{split}");
            seen.extend(needs.into_iter().map(|(_, clear)| (limit, clear)));
        }
    }
    assert_eq!(seen.len(), 4, "both limits have requests on both sides: {seen:?}");
}

/// Labels of the split that is answered change nothing, and those of train change nothing for the
/// topic that has them.
#[test]
fn no_label_of_a_topic_reaches_its_ranking() {
    let bench = Bench::with_sample();
    bench.write("mine.toml", silent_when_clear(1));
    let rankings = |split: &str| {
        bench.succeed(&format!("run mine.toml --data data --split {split} -o a.run"));
        first_questions(&bench.text("a.run"))
    };
    let before = rankings("dev");
    bench.edit("data/dev.tsv", |text| {
        let other = |line: &str| {
            let fields: Vec<&str> = line.split('\t').collect();
            let need =
                fields[3].parse::<u8>().map_or(fields[3].to_owned(), |need| (5 - need).to_string());
            [&fields[..3], &[need.as_str()], &fields[4..]].concat().join("\t")
        };
        text.lines().map(other).collect::<Vec<_>>().join("\n") + "\n"
    });
    assert_eq!(before, rankings("dev"));
    let record: Value = serde_json::from_slice(&bench.read("a.run.json")).expect("a record");
    assert_eq!(record["need"]["folds"], Value::Null);
    let before = rankings("train");
    let record: Value = serde_json::from_slice(&bench.read("a.run.json")).expect("a record");
    assert_eq!(
        record["need"]["folds"], 10,
        "topics of train are labelled by models that did not see them"
    );
    let labels = predicted(&bench, "mine.toml", "train", "");
    let seen = labels.lines().map(|line| line.ends_with(" 1"));
    assert!(
        before.iter().map(|(_, first)| *first).ne(seen),
        "held-out predictions differ from those of the whole model"
    );
}

#[test]
fn explain_tune_and_ask_follow_the_predicted_need() {
    let bench = Bench::with_sample();
    bench.write("mine.toml", silent_when_clear(4));
    let request = "tell me about tents";
    let explain = ["explain", request, "Q00001", "--data", "data", "--system", "mine.toml"];
    let explained = bench.run(&explain).stdout;
    assert!(
        explained.contains("no_question: rank 1 of")
            && explained.contains("predicted need, at most 4"),
        "{explained}"
    );
    let asked = bench.run(&["ask", request, "--data", "data", "--system", "mine.toml"]);
    assert_eq!((asked.status, asked.stdout.as_str()), (Some(0), ""), "{}", asked.stderr);
    bench.write("mine.toml", silent_when_clear(1));
    let tuned = bench
        .succeed("tune mine.toml --data data --grid no_question.when_need=1,4 --format json")
        .stdout;
    let rows: Value = serde_json::from_str(&tuned).expect("JSON");
    let recall = |row: usize| rows[row]["R@5"].as_f64().expect("a figure");
    assert!(recall(0) != recall(1), "{tuned}");
}

/// A system whose need model is trained on dev as well where it answers test.
fn trained_on_dev(uses: &str) -> String {
    format!(
        "uses = [{uses}]\n{}",
        system("[need]\nmodel = \"lexical\"\ntrain_on = [\"train\", \"dev\"]\n")
    )
}

fn record(bench: &Bench, name: &str) -> Value {
    serde_json::from_slice(&bench.read(name)).expect("a record")
}

#[test]
fn dev_is_trained_on_for_test_alone_and_the_record_says_so() {
    let bench = Bench::with_sample();
    bench.write("both.toml", trained_on_dev("\"dev-labels\""));
    bench.write("train.toml", system(LEXICAL));
    for split in ["train", "dev", "test"] {
        for name in ["both", "train"] {
            let line = format!("run {name}.toml --data data --split {split} -o {name}.run");
            bench.succeed(&line);
        }
        let [both, train] = ["both.run.json", "train.run.json"].map(|name| record(&bench, name));
        assert_eq!(train["need"]["train_on"], json!(["train"]));
        if split == "test" {
            assert_eq!(both["need"]["train_on"], json!(["train", "dev"]));
            assert_eq!(both["uses"], json!(["dev-labels"]));
            assert_ne!(both["need"]["parameters"], train["need"]["parameters"]);
        } else {
            assert_eq!((&both["need"], &both["uses"]), (&train["need"], &json!([])), "{split}");
            assert!(bench.read("both.need") == bench.read("train.need"), "{split}");
        }
    }
    bench.succeed("need predict both.toml --data data --split test -o predicted.need");
    bench.succeed("run both.toml --data data --split test -o both.run");
    assert!(bench.read("predicted.need") == bench.read("both.need"));
}

#[test]
fn a_model_that_was_trained_on_dev_does_not_answer_dev() {
    let bench = Bench::with_sample();
    bench.write("both.toml", trained_on_dev("\"dev-labels\""));
    let report = bench
        .succeed(&format!("need train both.toml --data data {QUICK} --split test -o both.json"))
        .stdout;
    assert!(
        report.starts_with("cross-validation on train and dev") && !report.contains("reliability"),
        "{report}"
    );
    bench.succeed("need predict both.json --data data --split test");
    bench.succeed("need explain tents --data data --model both.json");
    check(&[case(
        "a model that knows the answers",
        |bench| {
            bench.write("both.toml", trained_on_dev("\"dev-labels\""));
            let line =
                format!("need train both.toml --data data {QUICK} --split test -o both.json");
            bench.succeed(&line);
        },
        "need predict both.json --data data -o out/old.need",
        ["both.json", "not trained on labels of dev", "train and dev"],
    )]);
}

#[test]
fn labels_of_dev_must_be_declared() {
    check(&[
        case(
            "labels of dev without a word",
            |bench| bench.write("both.toml", trained_on_dev("")),
            "run both.toml --data data -o out/old.run",
            ["both.toml", "uses = [\"dev-labels\"]", "`lexical`"],
        ),
        case(
            "labels of test",
            |bench| {
                let need = "[need]\nmodel = \"lexical\"\ntrain_on = [\"train\", \"test\"]\n";
                bench.write("mine.toml", system(need));
            },
            "run mine.toml --data data -o out/old.run",
            ["mine.toml:8", "[\"train\", \"dev\"]", "test"],
        ),
    ]);
}
