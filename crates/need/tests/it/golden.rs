//! Features and labels against a second implementation, `scripts/make-golden need`, on the released
//! files where they are present.

use crate::labelled;
use clariq_collections::DataDir;
use clariq_core::Checksum;
use clariq_need::{Block, Extractor, NeedConfig, NeedTraining};
use clariq_track_clariq::{ClariQ, splits};
use serde_json::Value;
use std::path::Path;

fn released() -> Option<ClariQ> {
    let folders = ["../../data/clariq", "../../../shared/clariq/data"];
    let folder =
        folders.iter().map(Path::new).find(|folder| folder.join("question_bank.tsv").exists())?;
    Some(ClariQ::open(DataDir::Folder(folder.to_owned())).unwrap())
}

fn golden() -> Value {
    serde_json::from_str(include_str!("../data/golden.json")).unwrap()
}

#[track_caller]
fn near(found: f64, expected: &Value, within: f64) {
    let expected = expected.as_f64().unwrap();
    assert!((found - expected).abs() <= within, "{found} is not {expected}");
}

#[test]
fn features_are_those_of_the_reference() {
    let Some(collection) = released() else { return };
    let extractor = Extractor::new(&NeedConfig::lexical(), &collection.bank);
    for split in splits::ALL {
        let expected = &golden()[split.name()];
        let topics = collection.split(split).unwrap().topics;
        assert_eq!(topics.len() as u64, expected["topics"]);
        let requests: Vec<&str> = topics.iter().map(|topic| topic.request.as_str()).collect();
        let features = extractor.extract(&requests);
        let columns = [Block::Core, Block::Aspects].map(|block| features.block(block).clone());
        for (index, column) in
            columns.iter().flat_map(|block| block.columns().into_iter()).enumerate()
        {
            near(column.sum(), &expected["sums"][index], 1e-6);
            let weighted: f64 = (1..).zip(column).map(|(row, value)| f64::from(row) * value).sum();
            near(weighted, &expected["weighted"][index], 1e-6);
        }
    }
}

#[test]
fn labels_are_those_of_the_reference() {
    let Some(collection) = released() else { return };
    let train = collection.labelled(splits::TRAIN).unwrap();
    let config = NeedConfig::lexical();
    let training = NeedTraining::new(config, &collection.bank, &labelled(&train)).unwrap();
    let classifier = training.fit().unwrap();
    for split in [splits::DEV, splits::TEST] {
        let expected = &golden()[split.name()];
        let topics = collection.split(split).unwrap().topics;
        let requests: Vec<&str> = topics.iter().map(|topic| topic.request.as_str()).collect();
        let predictions = classifier.predict(&requests);
        let labels: String =
            predictions.iter().map(|prediction| (prediction.label + 1).to_string()).collect();
        let labels = Checksum::of(labels.as_bytes());
        assert_eq!(labels.as_str(), expected["labels_sha256"], "{split}");
        for place in 0..4 {
            let sum: f64 =
                predictions.iter().map(|prediction| prediction.probabilities[place]).sum();
            near(sum / predictions.len() as f64, &expected["mean_probabilities"][place], 1e-4);
        }
    }
}
