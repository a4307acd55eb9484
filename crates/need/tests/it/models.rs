//! Every kind of model on the sample collection, and with unusual training data and requests.

use crate::labelled;
use clariq_collections::{LabelledRequest, LabelledRequests, NeedLabel};
use clariq_core::{Documents, Error, Need, TrainOn};
use clariq_files::{Source, Target};
use clariq_need::{Classifier, NeedConfig, NeedTraining};
use clariq_track_clariq::{ClariQ, Labelled, LabelledTopic, splits};
use std::collections::HashMap;

const MAJORITY: NeedConfig = NeedConfig::Majority { train_on: TrainOn::Train };

fn all_models() -> [NeedConfig; 2] {
    [MAJORITY, NeedConfig::lexical()]
}

fn sample() -> ClariQ {
    ClariQ::open(clariq_track_clariq::SAMPLE).unwrap()
}

fn trained(config: &NeedConfig, train: &Labelled) -> Result<Classifier, Error> {
    NeedTraining::new(config.clone(), &sample().bank, &labelled(train))?.fit()
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
    let train = collection.labelled(splits::TRAIN).unwrap();
    let dev = collection.split(splits::DEV).unwrap().topics;
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
    let train = sample().labelled(splits::TRAIN).unwrap();
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
        let mut probabilities = predictions.iter().flat_map(|of| of.probabilities.clone());
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
    assert_eq!(of[0].label, 1, "the need 2");
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
        assert!([0, 2].contains(&prediction.label), "the needs 1 and 3");
        assert!(prediction.probabilities[3] < 1e-12);
    }
}

#[test]
fn models_that_do_not_fit_are_refused() {
    let collection = sample();
    let train = collection.labelled(splits::TRAIN).unwrap();
    let text =
        String::from_utf8(written(&trained(&NeedConfig::lexical(), &train).unwrap())).unwrap();
    let refused = |text: &str, says: &str| {
        let source = Source::memory("bad.json", text.as_bytes());
        let error = Classifier::read(&source, &collection.bank).err().unwrap().to_string();
        assert!(error.contains("bad.json") && error.contains(says), "{error}");
    };
    refused("{}", "need_model");
    refused("", "a need model as this program writes it");
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
    let train = sample().labelled(splits::TRAIN).unwrap();
    let training =
        NeedTraining::new(NeedConfig::lexical(), &sample().bank, &labelled(&train)).unwrap();
    let pass = |seed| training.cross_validate(5, 2, seed).unwrap();
    assert_eq!(pass(1), pass(1));
    assert_ne!(pass(1)[0].folds, pass(9)[0].folds);
    assert!(pass(1).iter().all(|repeat| repeat.predictions.len() == train.topics.len()));
}

#[test]
fn a_fold_is_predicted_by_the_other_folds_alone() {
    let collection = sample();
    let train = collection.labelled(splits::TRAIN).unwrap();
    let config = NeedConfig::lexical();
    let training = NeedTraining::new(config.clone(), &collection.bank, &labelled(&train)).unwrap();
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
    let train = sample().labelled(splits::TRAIN).unwrap();
    let training = NeedTraining::new(MAJORITY, &sample().bank, &labelled(&train)).unwrap();
    for (folds, repeats) in [(1, 1), (30, 1), (usize::MAX, 1), (2, 0), (2, usize::MAX)] {
        let error = training.cross_validate(folds, repeats, 1).err().unwrap().to_string();
        assert!(error.starts_with("--") && error.contains("from "), "{error}");
    }
}

/// Requests with needs of their own names.
fn named(needs: &[(&str, &str)]) -> LabelledRequests {
    let requests = (1..).zip(needs).map(|(id, (text, need))| LabelledRequest {
        id: id.to_string().as_str().into(),
        text: (*text).to_owned(),
        need: need.parse().map_or_else(|_| NeedLabel::Name((*need).to_owned()), NeedLabel::Number),
    });
    LabelledRequests { name: "requests.train.jsonl".to_owned(), requests: requests.collect() }
}

#[test]
fn a_model_of_names_is_saved_with_them_and_predicts_the_same() {
    let collection = sample();
    let train = named(&[
        ("a tent", "vague"),
        ("two boats", "clear"),
        ("cheese in Oslo", "clear"),
        ("map", "vague"),
        ("where do I buy a blue tent in Oslo", "clear"),
    ]);
    let names = ["clear", "vague"].map(|name| NeedLabel::Name(name.to_owned()));
    for config in all_models() {
        let training = NeedTraining::new(config.clone(), &collection.bank, &train).unwrap();
        assert_eq!(training.classes(), names);
        assert_eq!(training.labels, [1, 0, 0, 1, 0]);
        let classifier = training.fit().unwrap();
        let saved = Source::memory("model.json", written(&classifier));
        let read = Classifier::read(&saved, &collection.bank).unwrap();
        assert_eq!(read.made_of, classifier.made_of);
        let texts = ["tents", "which boats can I buy in Oslo", ""];
        let [predicted, again] = [&classifier, &read].map(|model| model.predict(&texts));
        assert_eq!(predicted, again);
        assert!(predicted.iter().all(|of| of.probabilities.len() == 2));
        assert!(predicted.iter().all(|of| names.contains(read.label(of))));
    }
}

#[test]
fn numbers_beyond_the_needs_of_clariq_are_classes_in_their_order() {
    let train = named(&[("a tent", "10"), ("two boats", "0"), ("map", "2")]);
    let training = NeedTraining::new(MAJORITY, &sample().bank, &train).unwrap();
    assert_eq!(training.classes(), [0, 2, 10].map(NeedLabel::Number));
    let needs = named(&[("a tent", "4"), ("two boats", "2")]);
    let training = NeedTraining::new(MAJORITY, &sample().bank, &needs).unwrap();
    assert_eq!(training.classes(), [1, 2, 3, 4].map(NeedLabel::Number));
}

#[test]
fn labels_that_a_need_file_cannot_hold_are_refused() {
    let refused = |train: &LabelledRequests| {
        NeedTraining::new(MAJORITY, &sample().bank, train).err().unwrap().to_string()
    };
    let blank = refused(&named(&[("a tent", "not clear"), ("map", "clear")]));
    assert!(
        blank.starts_with("requests.train.jsonl: ") && blank.contains("`not clear`"),
        "{blank}"
    );
    let names: Vec<String> = (0..51).map(|number| format!("n{number}")).collect();
    let many: Vec<(&str, &str)> = names.iter().map(|name| ("a tent", &**name)).collect();
    let many = refused(&named(&many));
    assert!(many.contains("at most 50 different needs") && many.contains("51"), "{many}");
}

#[test]
fn a_saved_model_whose_labels_do_not_fit_its_weights_is_refused() {
    let collection = sample();
    let train = named(&[("a tent", "vague"), ("two boats", "clear"), ("map", "vague")]);
    for config in all_models() {
        let training = NeedTraining::new(config, &collection.bank, &train).unwrap();
        let text = String::from_utf8(written(&training.fit().unwrap())).unwrap();
        for bad in ["[]", "[\"clear\"]", "[\"a\", \"b\", \"c\"]"] {
            let start = text.find("\"classes\": ").unwrap() + "\"classes\": ".len();
            let end = start + text[start..].find(']').unwrap() + 1;
            let changed = format!("{}{bad}{}", &text[..start], &text[end..]);
            let source = Source::memory("bad.json", changed.as_bytes());
            assert!(Classifier::read(&source, &collection.bank).is_err(), "{bad}");
        }
    }
}
