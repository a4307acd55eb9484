//! Models that are trained on dev as well.

use super::{LEXICAL, QUICK, system};
use crate::common::Bench;
use crate::common::refusals::{case, check};
use serde_json::{Value, json};

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
fn dev_labels_train_models_for_test_only_and_the_record_lists_them() {
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
            "undeclared labels of dev",
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
