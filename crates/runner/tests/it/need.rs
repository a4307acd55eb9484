//! `clariq need train | predict | explain`: what they print, which is the same for the same inputs.

use crate::common::Bench;
use crate::common::refusals::{NOTHING, case, check};
use serde_json::Value;
use snapbox::{assert_data_eq, file};

const TRAIN: &str = "need train bm25-tuned --data data --folds 5 --repeats 2";

#[test]
fn the_same_inputs_give_the_same_bytes_on_any_number_of_threads() {
    let bench = Bench::with_sample();
    let train = |threads: u32| {
        let line = format!("{TRAIN} -o need.json --threads {threads}");
        (bench.succeed(&line).stdout, bench.read("need.json"))
    };
    assert!(train(1) == train(4));
    let predict = |more: &str| bench.succeed(&format!("need predict {more} --data data")).stdout;
    let saved = predict("need.json");
    assert_eq!(saved, predict("bm25-tuned --split dev"));
    bench.succeed("need predict need.json --data data -o b.need");
    assert_eq!(saved, bench.text("b.need"));
}

#[test]
fn the_report_has_the_official_figure_first_and_everything_behind_it() {
    let bench = Bench::with_sample();
    assert_data_eq!(bench.succeed(&format!("-q {TRAIN}")).stdout, file!["printed/need-train.txt"]);
    let report = bench.succeed(&format!("{TRAIN} --format json -o need.json"));
    let report: Value = serde_json::from_str(&report.stdout).expect("JSON");
    let dev = &report["dev"][0];
    let [f1, from, to] =
        ["weighted F1", "95 % from", "to"].map(|name| dev[name].as_f64().expect("a figure"));
    assert!(from <= f1 && f1 <= to && from < to, "{dev}");
    bench.succeed("need predict need.json --data data -o dev.need");
    let official = bench.succeed("eval dev.need --data data --task clarification_need").stdout;
    assert!(official.contains(&format!("F1: {f1}")), "{official} and {f1}");
    let sum = |table: &str, columns: &[&str]| -> u64 {
        let rows = report[table].as_array().expect("rows").iter();
        rows.flat_map(|row| columns.iter().map(|column| row[*column].as_u64().expect("a count")))
            .sum()
    };
    let topics = sum("classes", &["topics"]);
    assert_eq!(topics, sum("classes", &["as 1", "as 2", "as 3", "as 4"]), "the confusion matrix");
    assert_eq!(topics, sum("reliability", &["topics"]));
}

#[test]
fn an_explanation_has_probabilities_and_the_features_behind_the_label() {
    let bench = Bench::with_sample();
    let words = ["-q", "need", "explain", "tell me about tents", "--data", "data", "--top", "3"];
    assert_data_eq!(bench.run(&words).stdout, file!["printed/need-explain.txt"]);
}

#[test]
fn arguments_that_do_not_fit_are_refused() {
    check(&[
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
        case(
            "one fold",
            NOTHING,
            "need train bm25-tuned --data data --folds 1 -o out/old.json",
            ["--folds", "from 2 to 29", "1"],
        ),
    ]);
}
