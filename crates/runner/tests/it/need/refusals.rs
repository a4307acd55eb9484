//! Training data without anything to learn, and models that cannot be used.

use super::{LEXICAL, QUICK, relabel, system};
use crate::common::Bench;
use crate::common::refusals::{Case, NOTHING, case, check};
use serde_json::Value;

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
        "need train bm25-multi-turn --data data -o out/old.json",
        ["bm25-multi-turn", "[need]", "without one"],
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
        ["--folds", "from 2 to 29", "1"],
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
fn data_without_anything_to_learn_is_refused() {
    check(BAD_TRAINING);
}

const BAD_MODELS: &[Case] = &[
    case("no model", NOTHING, PREDICT, ["model.json", "a file", "nothing"]),
    case(
        "no such system",
        NOTHING,
        "need predict bm52 --data data",
        ["bm52", "a built-in system", "nothing"],
    ),
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
        edited!("\"need_model\": 3" to "\"need_model\": 9"),
        PREDICT,
        ["model.json", "format 3", "format 9"],
    ),
    case(
        "an unknown key",
        edited!("\"topics\"" to "\"tropics\""),
        PREDICT,
        ["model.json:37", "a need model", "tropics"],
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

/// Removes the last weight of the first label.
fn without_a_weight(text: &str) -> String {
    let mut saved: Value = serde_json::from_str(text).expect("JSON");
    let labels =
        saved.pointer_mut("/model/lexical/members/0/labels").and_then(Value::as_object_mut);
    let first = labels.and_then(|labels| labels.values_mut().next()).expect("a label");
    first["columns"].as_array_mut().expect("weights").pop();
    saved.to_string()
}

#[test]
fn models_that_cannot_be_used_are_refused() {
    check(BAD_MODELS);
}
