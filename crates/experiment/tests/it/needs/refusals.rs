//! Training data without anything to learn, and models that cannot be used, with the whole message.

use super::{named, relabel, silent, trained_on_dev, with_models};
use crate::common::{Folder, Work};
use clariq_files::Target;
use serde_json::Value;
use snapbox::{assert_data_eq, str};

/// The message that a training is refused with.
fn refused_training(folder: &Folder, system: &str) -> String {
    let name = named(folder, system);
    let error = with_models(folder, "dev", |models| models.training(&name).err());
    Work::on(folder, "data", "dev").printed(&error.expect("a refusal"))
}

const UNLABELLED: &str = "topic_id\tinitial_request\n1\ta tent\n";

#[test]
fn data_without_anything_to_learn_is_refused() {
    let refused = |arrange: fn(&Folder)| {
        let folder = Folder::with_sample();
        arrange(&folder);
        refused_training(&folder, "bm25-tuned")
    };
    assert_data_eq!(
        refused(|folder| relabel(folder, |_| "")),
        str![[r#"
error: @/data/train.tsv:2
  expected: a clarification need from 1 to 4
     found: ``
hint: 1 is clear by itself, 4 cannot be answered without a clarifying question

"#]]
    );
    assert_data_eq!(
        refused(|folder| relabel(folder, |_| "2")),
        str![[r#"
error: @/data/train.tsv
  expected: training topics with at least two different labels
     found: the label 2 on all of them
hint: label more topics, or use model = "majority", which needs one label only

"#]]
    );
    assert_data_eq!(
        refused(|folder| folder.remove("data/train.tsv")),
        str![[r#"
error: @/data/train.tsv: missing file
  expected: `train.tsv` in the data folder
     found: nothing
hint: 

"#]]
    );
    assert_data_eq!(
        refused(|folder| folder.write("data/train.tsv", UNLABELLED)),
        str![[r#"
error: @/data/train.tsv:1: missing column
  expected: a column `topic_desc`
     found: topic_id, initial_request
hint: the first line names the columns; the documentation describes the formats (reference, Formats)

"#]]
    );
    let folder = Folder::with_sample();
    assert_data_eq!(
        refused_training(&folder, "bm25-multi-turn"),
        str![[r#"
error: bm25-multi-turn
  expected: a system with a table [need] whose model is trained
     found: a system without one
hint: `bm25-tuned` has one; the documentation lists the need models (reference, Models)

"#]]
    );
    folder.write("mine.toml", silent("[need]\nmodel = \"oracle\"\n"));
    assert_data_eq!(
        refused_training(&folder, "mine.toml"),
        str![[r#"
error: @/mine.toml:7
  expected: `majority` or `lexical`
     found: `"oracle"`: unknown variant `oracle`
hint: the documentation lists the need models and their keys (reference, Models)

"#]]
    );
}

#[test]
fn folds_and_repeats_out_of_range_are_refused() {
    let folder = Folder::with_sample();
    let refused = |folds, repeats| {
        let error = with_models(&folder, "dev", |models| {
            let training = models.training("bm25-tuned").expect("training data");
            training.cross_validate(folds, repeats, 1).expect_err("a refusal")
        });
        Work::on(&folder, "data", "dev").printed(&error)
    };
    assert_data_eq!(
        refused(1, 2),
        str![[r#"
error: --folds
  expected: from 2 to 29 folds
     found: 1
hint: 5 and 10 folds are usual

"#]]
    );
    assert_data_eq!(
        refused(1_000_000_000, 2),
        str![[r#"
error: --folds
  expected: from 2 to 29 folds
     found: 1000000000
hint: 5 and 10 folds are usual

"#]]
    );
    assert_data_eq!(
        refused(5, 0),
        str![[r#"
error: --repeats
  expected: from 1 to 1000 repeats
     found: 0
hint: 10 to 100 repeats are usual

"#]]
    );
    assert_data_eq!(
        refused(5, 1_000_000_000),
        str![[r#"
error: --repeats
  expected: from 1 to 1000 repeats
     found: 1000000000
hint: 10 to 100 repeats are usual

"#]]
    );
}

#[test]
#[expect(clippy::too_many_lines, reason = "most of them are messages")]
fn models_that_cannot_be_used_are_refused() {
    let folder = Folder::with_sample();
    let path = folder.path("model.json");
    let refused = || {
        let error = with_models(&folder, "dev", |models| {
            models.open(&path.display().to_string()).err().expect("a refusal")
        });
        Work::on(&folder, "data", "dev").printed(&error)
    };
    assert_data_eq!(
        refused(),
        str![[r#"
error: @/model.json: missing file
  expected: a file
     found: nothing at that path
hint: check the path: @ has no such file

"#]]
    );
    with_models(&folder, "dev", |models| {
        let model = models.open("bm25-tuned").expect("a model");
        model.write(&Target::new(&path)).expect("written");
    });
    let whole = folder.text("model.json");
    let changed = |from: &str, to: &str| {
        assert!(whole.contains(from), "{from}");
        folder.write("model.json", whole.replacen(from, to, 1));
        refused()
    };
    assert_data_eq!(
        changed("\"letters\"", "\"lettres\""),
        str![[r#"
error: @/model.json
  expected: the features of this program
     found: 23 features of clariq 0.1.0
hint: train it again on this data

"#]]
    );
    assert_data_eq!(
        changed("\"need_model\": 3", "\"need_model\": 9"),
        str![[r#"
error: @/model.json
  expected: a need model of format 3
     found: format 9
hint: train it again on this data

"#]]
    );
    assert_data_eq!(
        changed("\"topics\"", "\"tropics\""),
        str![[r#"
error: @/model.json:37
  expected: a need model as this program writes it: a whole JSON object
     found: unknown field `tropics`, expected one of `clariq`, `config`, `classes`, `features`, `train_sha256`, `topics`, `bank_sha256` at line 37 column 13
hint: a configuration ends in .toml

"#]]
    );
    let written = |text: &str| {
        folder.write("model.json", text);
        refused()
    };
    let cut = whole.lines().take(9).collect::<Vec<_>>().join("\n");
    assert_data_eq!(
        written(&cut),
        str![[r#"
error: @/model.json:9
  expected: a need model as this program writes it: a whole JSON object
     found: EOF while parsing an object at line 9 column 7
hint: a configuration ends in .toml

"#]]
    );
    assert_data_eq!(
        written(""),
        str![[r#"
error: @/model.json:1
  expected: a need model as this program writes it: a whole JSON object
     found: EOF while parsing a value at line 1 column 0
hint: a configuration ends in .toml

"#]]
    );
    assert_data_eq!(
        written("[1, 2]"),
        str![[r#"
error: @/model.json:1
  expected: a need model as this program writes it: a whole JSON object
     found: trailing characters at line 1 column 5
hint: a configuration ends in .toml

"#]]
    );
    assert_data_eq!(
        written(&without_a_weight(&whole)),
        str![[r#"
error: @/model.json
  expected: weights for all features
     found: another number of them
hint: train it again on this data

"#]]
    );
    folder.write("model.json", &whole);
    folder.edit("data/question_bank.tsv", |text| text + "Q09999\tone question more\n");
    assert_data_eq!(
        refused(),
        str![[r#"
error: @/model.json
  expected: a model made with the question bank a8cf1cf8d8a2
     found: one made with 575333ff3f8b
hint: train it again on this data

"#]]
    );
}

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
fn a_model_that_was_trained_on_dev_does_not_answer_dev() {
    let folder = Folder::with_sample();
    folder.write("both.toml", trained_on_dev());
    let both = named(&folder, "both.toml");
    let path = folder.path("both.json");
    with_models(&folder, "test", |models| {
        let model = models.open(&both).expect("a model");
        model.write(&Target::new(&path)).expect("written");
        models.open(&path.display().to_string()).expect("it answers test");
    });
    let error = with_models(&folder, "dev", |models| {
        models.open(&path.display().to_string()).err().expect("a refusal")
    });
    assert_data_eq!(
        Work::on(&folder, "data", "dev").printed(&error),
        str![[r#"
error: @/both.json
  expected: a model that was not trained on labels of dev
     found: one trained on train and dev
hint: train one for dev: `clariq need train CONFIG -o FILE`, without --split test

"#]]
    );
}
