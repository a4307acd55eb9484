//! Vectors of tokens against sentence-transformers: `late.json` by `scripts/make-golden bert`.

use crate::families::{numbers, read};
use crate::model_files::{copy, module, put, tiny};
use clariq_bert::BertEncoder;
use clariq_core::{Encoder, Error, ModelOptions, TextSide};
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

/// The folder of a case, over the tiny BERT.
fn folder(case: &Value) -> TempDir {
    let folder = copy("tiny");
    for (name, content) in case["files"].as_object().unwrap() {
        put(folder.path(), name, content);
    }
    for (name, sizes) in case["tensors"].as_object().unwrap() {
        let tensor = |(name, size): (&String, &Value)| {
            let size: Vec<i64> = serde_json::from_value(size.clone()).unwrap();
            (name.clone(), tch::Tensor::from_slice(&numbers(name, &size)).view(&*size))
        };
        let tensors: Vec<(String, tch::Tensor)> =
            sizes.as_object().unwrap().iter().map(tensor).collect();
        tch::Tensor::write_safetensors(&tensors, folder.path().join(name)).unwrap();
    }
    folder
}

fn open(folder: &TempDir) -> Result<BertEncoder, Error> {
    BertEncoder::open(folder.path(), &ModelOptions::default())
}

fn cases() -> Vec<Value> {
    read("late.json").as_array().unwrap().clone()
}

#[test]
fn the_vectors_of_tokens_equal_those_of_sentence_transformers() {
    let golden: Vec<String> = serde_json::from_value(read("golden.json")["texts"].clone()).unwrap();
    let texts = [&*golden[0], &*golden[3], &*golden[7]];
    let cases = cases();
    assert_eq!(cases.len(), 4);
    for case in cases {
        let name = &case["name"];
        let folder = folder(&case);
        let encoder = open(&folder).unwrap();
        for (side, key) in [(TextSide::Request, "requests"), (TextSide::Document, "documents")] {
            let expected: Vec<Vec<Vec<f32>>> = serde_json::from_value(case[key].clone()).unwrap();
            let found = encoder.exact_tokens(&texts, side).unwrap();
            let rounded = encoder.encode_tokens(&texts, side, &|_| {}).unwrap();
            for (((ids, rows), expected), rounded) in found.into_iter().zip(expected).zip(rounded) {
                assert_eq!(ids.len(), expected.len(), "{name}, {key}");
                assert_eq!(rounded, clariq_core::TokenVectors::new(ids.clone(), &rows));
                for (row, expected) in rows.chunks(rows.len() / ids.len()).zip(expected) {
                    for (found, expected) in row.iter().zip(expected) {
                        assert!((found - expected).abs() < 1e-5, "{name}: {found} {expected}");
                    }
                }
            }
        }
    }
}

#[test]
fn a_folder_that_gives_each_token_a_vector_gives_no_text_one() {
    let folder = folder(&cases()[0]);
    let error = open(&folder).unwrap().encode(&["bees"], &|_| {}).unwrap_err().to_string();
    assert!(error.contains("found one that gives each token a vector"), "{error}");
}

/// The tokens of an encoder's folder have the vectors of its last layer, of length 1.
#[test]
fn any_encoder_gives_its_tokens_vectors() {
    let encoder = BertEncoder::open(&tiny(), &ModelOptions::default()).unwrap();
    let [(ids, rows)] = &encoder.exact_tokens(&["bees"], TextSide::Document).unwrap()[..] else {
        panic!("a text, a result")
    };
    assert_eq!(
        ids.iter().map(|id| encoder.token(*id)).collect::<Vec<_>>(),
        ["[CLS]", "bees", "[SEP]"]
    );
    let mean: Vec<f32> = encoder.encode(&["bees"], &|_| {}).unwrap().values;
    assert_eq!(rows.len(), 3 * mean.len());
    for row in rows.chunks(mean.len()) {
        let length: f32 = row.iter().map(|value| value * value).sum();
        assert!((length - 1.0).abs() < 1e-5, "{length}");
    }
}

#[test]
fn settings_that_are_not_done_are_refused_by_name() {
    let damaged = [
        (
            "modules.json",
            "MultiVectorMask\"",
            "HierarchicalTokenPooling\"",
            "HierarchicalTokenPooling",
        ),
        ("1_Dense/config.json", "token_embeddings", "sentence_embedding", "sentence_embedding"),
        ("sentence_bert_config.json", "\"fixed\"", "\"some\"", "query_expansion"),
        (
            "sentence_bert_config.json",
            "\"document_length\":9",
            "\"document_length\":1",
            "document_length",
        ),
    ];
    for (file, old, new, named) in damaged {
        let folder = folder(&cases()[2]);
        let at = folder.path().join(file);
        let text = fs::read_to_string(&at).unwrap();
        assert!(text.contains(old), "{text}");
        fs::write(&at, text.replace(old, new)).unwrap();
        let error = open(&folder).err().expect(named).to_string();
        assert!(error.contains(named), "{error}");
    }
}

/// The library puts the tokens of an expansion where padding is.
#[test]
fn an_expansion_at_the_left_is_refused() {
    let family = crate::families::families().into_iter().find(|family| family["name"] == "qwen3");
    let folder = crate::families::folder(&family.unwrap());
    let put = |name: &str, content: Value| put(folder.path(), name, &content);
    put("modules.json", json!([module("", "Transformer")]));
    put("config_sentence_transformers.json", json!({ "model_type": "MultiVectorEncoder" }));
    let expansion = json!({ "strategy": "fixed", "length": 9, "token": "[SEP]" });
    put("sentence_bert_config.json", json!({ "query_expansion": expansion }));
    for (side, is_right) in [("left", true), ("right", false)] {
        let settings = json!({ "padding_side": side, "tokenizer_class": "TokenizersBackend" });
        put("tokenizer_config.json", settings);
        let opened = BertEncoder::open(folder.path(), &ModelOptions::default());
        let refusal = opened.err().map(|error| error.to_string());
        assert_eq!(refusal.is_some_and(|text| text.contains("beside query_expansion")), is_right);
    }
}
