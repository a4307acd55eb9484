//! Does a classifier learn its classes, resume to the same bytes, and leave a folder that is what it says?

use clariq_bert::train::train as run_training;
use clariq_bert::{BertClassifier, CrossEncoder, ModelFolder};
use clariq_core::{Examples, ModelOptions, Recipe, Training, TrainingEvent};
use clariq_rank::TextClassifier;
use std::collections::BTreeMap;
use std::fs;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

const NAMES: [&str; 4] = ["1", "2", "3", "4"];
const TEXTS: [&str; 8] = [
    "tell me about bees",
    "bees and honey",
    "the tent",
    "a tent in the wind",
    "my car",
    "buying a car",
    "animal",
    "wind",
];
const CLASSES: [usize; 8] = [0, 0, 1, 1, 2, 2, 3, 3];

/// libtorch draws dropout from one generator per process: trainings side by side would disturb each other.
fn alone() -> MutexGuard<'static, ()> {
    static ONE: Mutex<()> = Mutex::new(());
    ONE.lock().unwrap_or_else(PoisonError::into_inner)
}

fn recipe(epochs: f64, balance: f64) -> Recipe {
    let text = format!(
        "name = \"m\"\nbase = \"tiny\"\nepochs = {epochs}\nlearning_rate = 5e-3\nwarm_up = 0.1\nschedule = \"linear\"\n\
         weight_decay = 0.01\ncheckpoint_every = 2\n[objective]\nkind = \"classification\"\nbatch = 4\nbalance = {balance}"
    );
    Recipe::parse("m.toml", &text).unwrap()
}

fn tiny() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/data/tiny")
}

fn train(
    recipe: &Recipe,
    folder: &Path,
    resume: bool,
    tell: &mut dyn FnMut(&TrainingEvent),
) -> (f64, f64) {
    let (base, examples, options) =
        (tiny(), Examples::of_classes(&TEXTS, &CLASSES, &NAMES), ModelOptions::default());
    let training = Training {
        recipe,
        base: &base,
        examples: &examples,
        data: String::new(),
        options: &options,
        resume,
    };
    run_training(&training, folder, tell).unwrap().curve.loss(3).unwrap()
}

fn files(folder: &Path) -> BTreeMap<String, Vec<u8>> {
    let entry = |entry: Result<fs::DirEntry, _>| {
        let path = entry.unwrap().path();
        (path.file_name().unwrap().to_string_lossy().into_owned(), fs::read(&path).unwrap())
    };
    fs::read_dir(folder).unwrap().map(entry).collect()
}

#[test]
fn the_loss_falls_and_the_classes_are_learned() {
    let _alone = alone();
    for balance in [0.0, 1.0] {
        let folder = tempfile::tempdir().unwrap();
        let model = folder.path().join("model");
        let (first, last) = train(&recipe(40.0, balance), &model, false, &mut |_| {});
        assert!(last < first * 0.5, "{first} {last}");
        let config = ModelFolder::open(&model).unwrap().config;
        assert_eq!(config["architectures"][0], "BertForSequenceClassification");
        assert_eq!(
            config["id2label"],
            serde_json::json!({ "0": "1", "1": "2", "2": "3", "3": "4" })
        );
        let card = fs::read_to_string(model.join("README.md")).unwrap();
        assert!(card.contains("8 requests of the classes 1, 2, 3, 4; 0 topics held out"), "{card}");
        let classifier = BertClassifier::open(&model, 4, &ModelOptions::default()).unwrap();
        let rows = classifier.classify(&TEXTS, &|_| {}).unwrap();
        assert!(
            rows.iter().all(|row| row.len() == 4 && (row.iter().sum::<f64>() - 1.0).abs() < 1e-9)
        );
        let right =
            rows.iter().zip(CLASSES).filter(|(row, class)| row.iter().all(|p| *p <= row[*class]));
        assert!(right.count() >= 7, "{rows:?}");
        let two = BertClassifier::open(
            &model,
            4,
            &ModelOptions { threads: 2, ..ModelOptions::default() },
        )
        .unwrap();
        assert_eq!(two.classify(&TEXTS, &|_| {}).unwrap(), rows, "threads change no bit");
        assert_eq!((classifier.name(), classifier.checksum()), ("model", two.checksum()));
    }
}

#[test]
fn an_interrupted_training_ends_with_the_same_bytes() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let recipe = recipe(4.0, 0.5);
    let (whole, broken) = (folder.path().join("whole"), folder.path().join("broken"));
    train(&recipe, &whole, false, &mut |_| {});
    let interrupted = catch_unwind(AssertUnwindSafe(|| {
        train(&recipe, &broken, false, &mut |event| {
            assert!(!matches!(event, TrainingEvent::Step { step: 4, .. }), "interrupted here");
        });
    }));
    assert!(interrupted.is_err() && !broken.exists());
    let mut resumed = None;
    train(&recipe, &broken, true, &mut |event| {
        if let TrainingEvent::Resumed(step) = event {
            resumed = Some(*step);
        }
    });
    assert_eq!(resumed, Some(2));
    assert_eq!(files(&whole), files(&broken));
}

#[test]
fn a_folder_for_another_task_is_refused() {
    let _alone = alone();
    let folder = tempfile::tempdir().unwrap();
    let model = folder.path().join("model");
    train(&recipe(1.0, 0.0), &model, false, &mut |_| {});
    let refused = |error: String, says: &str| assert!(error.contains(says), "{error}");
    refused(
        BertClassifier::open(&model, 2, &ModelOptions::default()).err().unwrap().to_string(),
        "of 2 classes, found 4",
    );
    refused(
        CrossEncoder::open(&model, &ModelOptions::default()).err().unwrap().to_string(),
        "1 or 2 classes",
    );
    let encoder = BertClassifier::open(&tiny(), 4, &ModelOptions::default()).err().unwrap();
    refused(encoder.to_string(), "classifier");
}

#[test]
fn a_recipe_that_holds_topics_out_or_balances_beyond_measure_is_refused() {
    let parse = |change: [&str; 2]| {
        let text = "name = \"m\"\nbase = \"b\"\nepochs = 1\nlearning_rate = 1e-3\nheld_out = 0.0\n[objective]\n\
                    kind = \"classification\"\nbatch = 4\nbalance = 0.5";
        Recipe::parse("m.toml", &text.replace(change[0], change[1]))
            .err()
            .map(|error| error.to_string())
    };
    assert_eq!(parse(["", ""]), None);
    assert!(
        parse(["held_out = 0.0", "held_out = 0.2"])
            .unwrap()
            .contains("no held_out for a classifier")
    );
    assert!(parse(["balance = 0.5", "balance = 1.5"]).unwrap().contains("balance from 0 to 1"));
}
