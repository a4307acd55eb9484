//! T5 against transformers, token by token, and monoT5, score by score; golden files by
//! `scripts/check-t5`.

use crate::model_files::{self, copy};
use clariq_bert::{MonoT5, T5};
use clariq_core::{Decoding, ModelOptions, PairScorer, ReadingOverrides, TextGenerator};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::fs;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};

#[derive(Deserialize)]
struct Golden {
    texts: Vec<String>,
    models: BTreeMap<String, Vec<Row>>,
}

#[derive(Deserialize)]
struct Row {
    decoding: Decoding,
    written: Vec<Written>,
}

#[derive(Deserialize)]
struct Written {
    ids: Vec<i64>,
    text: String,
}

#[derive(Deserialize)]
struct Scored {
    requests: Vec<String>,
    documents: Vec<String>,
    scores: Vec<Vec<f32>>,
}

fn data() -> PathBuf {
    model_files::data().join("t5")
}

fn golden() -> Golden {
    golden_of("written.json")
}

fn golden_of(file: &str) -> Golden {
    serde_json::from_slice(&fs::read(data().join(file)).unwrap()).unwrap()
}

fn open(folder: &Path, threads: usize, reading: ReadingOverrides) -> Result<T5, String> {
    let options = ModelOptions { threads, reading, ..ModelOptions::default() };
    T5::open(folder, &options).map_err(|error| error.to_string())
}

fn greedy() -> Decoding {
    let (beams, max_length) = (NonZeroUsize::MIN, 20);
    Decoding { beams, length_penalty: 1.0, max_length, early_stopping: true, min_length: 0 }
}

#[test]
fn greedy_and_beam_search_write_what_transformers_writes() {
    let Golden { texts, models } = golden();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    assert_eq!(models.len(), 2);
    for (name, rows) in &models {
        let model = open(&data().join(name), 2, ReadingOverrides::default()).unwrap();
        for Row { decoding, written } in rows {
            // Long texts take most of the time: fewer of them.
            let count = match decoding.max_length {
                ..=30 => texts.len(),
                31..=100 => 4,
                _ => 1,
            };
            let ids = model.ids(&texts[..count], decoding, &|_| {}).unwrap();
            let expected: Vec<&[i64]> = written[..count].iter().map(|row| &row.ids[..]).collect();
            assert_eq!(ids, expected, "{name} {decoding:?}");
        }
        // Ids are spelled the same however they were found.
        let Row { decoding, written } = &rows[1];
        let written_here = model.generate(&texts, decoding, &|_| {}).unwrap();
        let expected: Vec<&str> = written.iter().map(|row| &*row.text).collect();
        assert_eq!(written_here, expected, "{name} {decoding:?}");
    }
}

#[test]
fn a_text_alone_and_on_one_thread_is_written_the_same() {
    let Golden { texts, .. } = golden();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let decoding = Decoding { beams: NonZeroUsize::new(4).unwrap(), ..greedy() };
    let folder = data().join("t5-1.1");
    let together = open(&folder, 3, ReadingOverrides::default()).unwrap();
    let together = together.generate(&texts, &decoding, &|_| {}).unwrap();
    let alone = open(&folder, 1, ReadingOverrides::default()).unwrap();
    for (text, expected) in texts.iter().zip(together) {
        assert_eq!(alone.generate(&[text], &decoding, &|_| {}).unwrap(), [expected]);
    }
    assert_eq!(alone.generate(&[], &decoding, &|_| {}).unwrap(), [""; 0]);
}

#[test]
fn the_end_of_a_long_text_is_read() {
    let read = |most| open(&data().join("t5"), 1, ReadingOverrides::cut_at(most)).unwrap();
    let model = read(4);
    let write = |model: &T5, text: &str| model.ids(&[text], &greedy(), &|_| {}).unwrap();
    let long = "running ".repeat(40_000) + "how much is it";
    assert_eq!(write(&model, &long), write(&model, "tell me how much is it"));
    assert_eq!(model.cut().count, 2);
    assert_ne!(read(4).checksum(), read(5).checksum());
    assert!(open(&data().join("t5"), 1, ReadingOverrides::cut_at(1)).is_err());
}

fn open_mono(name: &str, reading: ReadingOverrides) -> Result<MonoT5, String> {
    let options = ModelOptions { threads: 2, reading, ..ModelOptions::default() };
    MonoT5::open(&data().join(name), &options).map_err(|error| error.to_string())
}

#[test]
fn a_monot5_scores_pairs_as_transformers_does() {
    let scored = fs::read(data().join("scored.json")).unwrap();
    let Scored { requests, documents, scores } = serde_json::from_slice(&scored).unwrap();
    let model = open_mono("mono", ReadingOverrides::default()).unwrap();
    for (request, expected) in requests.iter().zip(&scores) {
        let pairs: Vec<_> = documents.iter().map(|document| (&**request, &**document)).collect();
        let found = model.score(&pairs, &|_| {}).unwrap();
        for (found, expected) in found.iter().zip(expected) {
            assert!((found - expected).abs() < 1e-5, "{request}: {found}, expected {expected}");
        }
        assert_eq!(model.score(&pairs[1..2], &|_| {}).unwrap(), found[1..2], "alone");
    }
    assert_eq!(model.cut().count, requests.len(), "the last document is too long");
}

#[test]
fn a_monot5_cuts_the_document_and_never_its_suffix() {
    let model = open_mono("mono", ReadingOverrides::cut_at(60)).unwrap();
    let score =
        |document: &str| model.score(&[("how much", document)], &|_| {}).unwrap()[0].to_bits();
    let long = "running ".repeat(40_000);
    assert_eq!(score(&long), score(&(long.clone() + "how much is it")));
    assert_ne!(score(&long), score("running "));
    assert_eq!(model.cut().count, 3);
    let error = open_mono("mono", ReadingOverrides::cut_at(8)).err().unwrap();
    assert!(error.contains("max_tokens above "), "{error}");
    let error = open_mono("t5", ReadingOverrides::default()).err().unwrap();
    assert!(error.contains("expected the tokens `▁true` and `▁false`"), "{error}");
}

#[test]
fn folders_that_are_almost_right_are_refused() {
    let refused = |name: &str, change: &dyn Fn(&Path)| {
        let folder = copy(&format!("t5/{name}"));
        change(folder.path());
        open(folder.path(), 1, ReadingOverrides::default()).err().unwrap_or_default()
    };
    let edit = |file: &'static str, from: &'static str, to: &'static str| {
        move |folder: &Path| {
            let at = folder.join(file);
            let text = fs::read_to_string(&at).unwrap();
            assert!(text.contains(from), "{from}");
            fs::write(at, text.replacen(from, to, 1)).unwrap();
        }
    };
    let remove =
        |file: &'static str| move |folder: &Path| fs::remove_file(folder.join(file)).unwrap();
    let config = "config.json";
    for (name, change, says) in [
        (
            "t5",
            &edit(config, "\"d_ff\": 12", "\"d_ff\": 13") as &dyn Fn(&Path),
            "of the shape [13, 8]",
        ),
        ("t5", &edit(config, "\"num_layers\": 1", "\"num_layers\": 2"), "num_decoder_layers"),
        ("t5", &edit(config, "\"relu\"", "\"silu\""), "dense_act_fn \"relu\""),
        (
            "t5-1.1",
            &edit(config, "\"scale_decoder_outputs\": false", "\"scale_decoder_outputs\": true"),
            "lm_head.weight equal to shared.weight",
        ),
        ("t5", &edit(config, "\"t5\"", "\"umt5\""), "model_type `t5`"),
        ("t5", &edit("tokenizer.json", "\"Unigram\"", "\"Octogram\""), "a tokenizer"),
        ("t5", &remove(config), "no such file"),
        ("t5", &remove("tokenizer.json"), "save_pretrained"),
        ("t5", &remove("model.safetensors"), "weights: model.safetensors"),
        (
            "t5",
            &|folder| {
                fs::rename(folder.join("model.safetensors"), folder.join("pytorch_model.bin"))
                    .unwrap();
            },
            "a file of PyTorch",
        ),
    ] {
        let error = refused(name, change);
        assert!(error.contains(says), "{says}: {error}");
    }
    let model = open(&data().join("t5"), 1, ReadingOverrides::default()).unwrap();
    let many = Decoding { beams: NonZeroUsize::new(64).unwrap(), ..greedy() };
    assert!(model.generate(&["a"], &many, &|_| {}).is_err(), "more beams than words");
}

#[derive(Deserialize)]
struct Likelihoods {
    requests: Vec<String>,
    documents: Vec<String>,
    models: BTreeMap<String, Vec<Vec<f32>>>,
}

#[test]
fn likelihoods_are_those_of_transformers() {
    let golden = fs::read(data().join("likelihood.json")).unwrap();
    let golden: Likelihoods = serde_json::from_slice(&golden).unwrap();
    let documents: Vec<&str> = golden.documents.iter().map(String::as_str).collect();
    for (name, rows) in &golden.models {
        for threads in [1, 3] {
            let model = open(&data().join(name), threads, ReadingOverrides::default()).unwrap();
            for (request, expected) in golden.requests.iter().zip(rows) {
                let found = model.likelihood(request, &documents).unwrap();
                for (found, expected) in found.iter().zip(expected) {
                    assert!(
                        (found - expected).abs() < 1e-4,
                        "{name}, `{request}`: {found} {expected}"
                    );
                }
            }
        }
    }
}

#[test]
fn texts_of_a_fewest_length_are_those_of_transformers() {
    let Golden { texts, models } = golden_of("long.json");
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    for (name, rows) in &models {
        let model = open(&data().join(name), 2, ReadingOverrides::default()).unwrap();
        for Row { decoding, written } in rows {
            // Of the long texts, those that reach the fewest and the most tokens.
            let count = if decoding.max_length > 100 { 3 } else { texts.len() };
            let found = model.ids(&texts[..count], decoding, &|_| {}).unwrap();
            let expected: Vec<&[i64]> = written[..count].iter().map(|row| &row.ids[..]).collect();
            assert_eq!(found, expected, "{name}, {decoding:?}");
        }
    }
}

#[test]
fn a_text_is_cut_at_the_end_that_its_use_names() {
    let folder = data().join("t5");
    let written = |cut_at_end: bool, text: &str| {
        let reading = ReadingOverrides { cut_at_end, ..ReadingOverrides::cut_at(6) };
        let model = open(&folder, 1, reading).unwrap();
        (model.generate(&[text], &greedy(), &|_| {}).unwrap(), model.cut().count)
    };
    let (first, second) = ("start slowly by walking", "how should I begin running in turns");
    // What is cut off changes nothing.
    assert_eq!(
        written(true, &format!("{first} {second}")).0,
        written(true, &format!("{first} a b c {second}")).0
    );
    assert_eq!(
        written(false, &format!("{first} {second}")).0,
        written(false, &format!("a b c {first} {second}")).0
    );
    assert_eq!(written(true, &format!("{first} {second}")).1, 1);
}
