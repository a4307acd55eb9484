//! Every kind of model on the sample collection, and with unusual training data and requests.

use clariq_core::{Documents, Error, Need, TrainOn};
use clariq_files::{Source, Target};
use clariq_need::{Classifier, NeedConfig, NeedTraining};
use clariq_track_clariq::{ClariQ, ClariqSplit, Labelled, LabelledTopic};
use std::collections::HashMap;

const MAJORITY: NeedConfig = NeedConfig::Majority { train_on: TrainOn::Train };

fn all_models() -> [NeedConfig; 2] {
    [MAJORITY, NeedConfig::lexical()]
}

fn sample() -> ClariQ {
    ClariQ::open(clariq_track_clariq::SAMPLE).unwrap()
}

fn trained(config: &NeedConfig, train: &Labelled) -> Result<Classifier, Error> {
    NeedTraining::new(config.clone(), &sample().bank, train)?.fit()
}

fn texts(topics: &[LabelledTopic]) -> Vec<&str> {
    topics.iter().map(|topic| topic.request.as_str()).collect()
}

fn topic(request: &str, need: Option<u8>) -> LabelledTopic {
    LabelledTopic {
        id: "t".into(),
        request: request.to_owned(),
        description: String::new(),
        need: need.and_then(Need::new),
    }
}

fn train_of(topics: &[(&str, Option<u8>)]) -> Labelled {
    let topics = topics.iter().map(|(request, need)| topic(request, *need)).collect();
    Labelled { name: "train.tsv".to_owned(), topics, ..Labelled::default() }
}

fn written(classifier: &Classifier) -> Vec<u8> {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.json");
    classifier.write(&Target::new(&path)).unwrap();
    std::fs::read(path).unwrap()
}

#[test]
fn trainings_are_reproducible_and_saved_models_predict_the_same() {
    let collection = sample();
    let train = collection.labelled(ClariqSplit::Train).unwrap();
    let dev = collection.split(ClariqSplit::Dev).unwrap().topics;
    for config in all_models() {
        let model = config.name();
        let classifier = trained(&config, &train).unwrap();
        let bytes = written(&classifier);
        assert_eq!(bytes, written(&trained(&config, &train).unwrap()), "{model}");
        let read =
            Classifier::read(&Source::memory("model.json", bytes), &collection.bank).unwrap();
        let predictions = classifier.predict(&texts(&dev));
        assert_eq!(predictions, read.predict(&texts(&dev)), "{model}");
        assert_eq!(predictions.len(), dev.len());
        assert!(
            predictions.iter().all(|of| (of.probabilities.iter().sum::<f64>() - 1.0).abs() < 1e-9),
            "{model}"
        );
    }
}

#[test]
fn odd_requests_get_a_label() {
    let train = sample().labelled(ClariqSplit::Train).unwrap();
    let long = "tent ".repeat(10_000);
    let topics = [
        "",
        " \t?!",
        &long,
        "Wo ist der nächste Bahnhof?",
        "天気はどうですか",
        "\u{130}\u{212a} tell me",
        "🏕",
    ]
    .map(|text| topic(text, None));
    for config in all_models() {
        let classifier = trained(&config, &train).unwrap();
        let predictions = classifier.predict(&texts(&topics));
        assert_eq!(predictions.len(), topics.len());
        let mut probabilities = predictions.iter().flat_map(|of| of.probabilities);
        assert!(probabilities.all(f64::is_finite), "{}", config.name());
        classifier.explain("");
    }
}

#[test]
fn topics_without_a_label_are_not_trained_on() {
    let with = train_of(&[
        ("a tent", Some(1)),
        ("boats", None),
        ("cheese in Oslo", Some(3)),
        ("map", Some(3)),
    ]);
    let without = train_of(&[("a tent", Some(1)), ("cheese in Oslo", Some(3)), ("map", Some(3))]);
    for config in all_models() {
        let [with, without] =
            [&with, &without].map(|train| written(&trained(&config, train).unwrap()));
        assert_eq!(with, without, "{}", config.name());
    }
    let none = train_of(&[("a tent", None)]);
    let error = trained(&MAJORITY, &none).err().unwrap().to_string();
    assert!(error.starts_with("train.tsv: ") && error.contains("found none"), "{error}");
}

#[test]
fn one_label_is_enough_for_the_majority_only() {
    let one = train_of(&[("a tent", Some(2)), ("boats", Some(2))]);
    let error = trained(&NeedConfig::lexical(), &one).err().unwrap().to_string();
    assert!(error.contains("at least two different labels"), "{error}");
    let of = trained(&MAJORITY, &one).unwrap().predict(&["map"]);
    assert_eq!(of[0].need.get(), 2);
}

#[test]
fn a_label_that_was_never_seen_is_never_predicted() {
    let train = train_of(&[
        ("a tent", Some(1)),
        ("two boats", Some(3)),
        ("cheese in Oslo", Some(3)),
        ("map", Some(1)),
    ]);
    let classifier = trained(&NeedConfig::lexical(), &train).unwrap();
    for prediction in classifier.predict(&texts(&train.topics)) {
        assert!([1, 3].contains(&prediction.need.get()));
        assert!(prediction.probabilities[3] < 1e-12);
    }
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let collection = sample();
    let train = collection.labelled(ClariqSplit::Train).unwrap();
    let text =
        String::from_utf8(written(&trained(&NeedConfig::lexical(), &train).unwrap())).unwrap();
    let refused = |text: &str, says: &str| {
        let source = Source::memory("bad.json", text.as_bytes());
        let error = Classifier::read(&source, &collection.bank).err().unwrap().to_string();
        assert!(error.contains("bad.json") && error.contains(says), "{error}");
    };
    refused("{}", "need_model");
    refused("", "need train");
    refused(&text.replace("\"need_model\": 3", "\"need_model\": 1"), "format 1");
    refused(&text.replacen("\"letters\"", "\"lettres\"", 1), "features of this program");
    let (before, rest) = text.split_once("\"intercept\": ").unwrap();
    let end = rest.find([',', '}', '\n']).unwrap();
    refused(
        &format!("{before}\"intercept\": 1e308{}", &rest[end..]),
        "numbers as a training produces them",
    );
    refused(&text.replace(collection.bank.checksum().as_str(), &"0".repeat(64)), "question bank");
}

#[test]
fn cross_validation_repeats_with_its_seed() {
    let train = sample().labelled(ClariqSplit::Train).unwrap();
    let training = NeedTraining::new(NeedConfig::lexical(), &sample().bank, &train).unwrap();
    let pass = |seed| training.cross_validate(5, 2, seed).unwrap();
    assert_eq!(pass(1), pass(1));
    assert_ne!(pass(1)[0].folds, pass(9)[0].folds);
    assert!(pass(1).iter().all(|repeat| repeat.predictions.len() == train.topics.len()));
}

#[test]
fn a_fold_is_predicted_by_the_other_folds_alone() {
    let collection = sample();
    let train = collection.labelled(ClariqSplit::Train).unwrap();
    let config = NeedConfig::lexical();
    let training = NeedTraining::new(config.clone(), &collection.bank, &train).unwrap();
    let pass = training.cross_validate(4, 1, 42).unwrap().remove(0);
    let fold_of: HashMap<_, _> = train
        .topics
        .iter()
        .zip(&pass.folds)
        .map(|(topic, fold)| (topic.id.clone(), *fold))
        .collect();
    for fold in 0..4 {
        let mut others = train.clone();
        others.topics.retain(|topic| fold_of[&topic.id] != fold);
        let classifier = trained(&config, &others).unwrap();
        let alone = classifier.predict(&texts(&train.topics));
        for (row, topic) in train.topics.iter().enumerate() {
            if fold_of[&topic.id] == fold {
                assert_eq!(pass.predictions[row], alone[row], "{}", topic.request);
            }
        }
    }
}

#[test]
fn sizes_beyond_the_data_are_refused() {
    let train = sample().labelled(ClariqSplit::Train).unwrap();
    let training = NeedTraining::new(MAJORITY, &sample().bank, &train).unwrap();
    for (folds, repeats) in [(1, 1), (30, 1), (usize::MAX, 1), (2, 0), (2, usize::MAX)] {
        let error = training.cross_validate(folds, repeats, 1).err().unwrap().to_string();
        assert!(error.starts_with("--") && error.contains("from "), "{error}");
    }
}
