//! A tiny model of every family against transformers: `families.json` by `scripts/make-golden bert`.
//! Its weights are made here, by the formula of that script, and its tokenizer is that of `tiny`.

use crate::model_files::{data, put, tiny};
use clariq_bert::{BertEncoder, CrossEncoder};
use clariq_core::{Encoder, ModelOptions, PairScorer};
use clariq_folder::ModelFolder;
use serde_json::{Value, json};
use std::fs;
use tempfile::TempDir;

pub(crate) fn families() -> Vec<Value> {
    read("families.json").as_array().unwrap().clone()
}

pub(crate) fn read(file: &str) -> Value {
    serde_json::from_slice(&fs::read(data().join(file)).unwrap()).unwrap()
}

/// The folder of a family's model.
pub(crate) fn folder(family: &Value) -> TempDir {
    let folder = TempDir::new().unwrap();
    put(folder.path(), "config.json", &family["config"]);
    put(folder.path(), "tokenizer.json", &tokenizer());
    // The same tokenizer for all families, as it is.
    let names = ["input_ids", "token_type_ids", "attention_mask"];
    let as_it_is = json!({ "tokenizer_class": "TokenizersBackend", "model_input_names": names });
    put(folder.path(), "tokenizer_config.json", &as_it_is);
    let tensors = family["tensors"].as_object().unwrap().iter();
    let tensors: Vec<(&String, tch::Tensor)> = tensors
        .map(|(name, size)| {
            let size: Vec<i64> = serde_json::from_value(size.clone()).unwrap();
            (name, tch::Tensor::from_slice(&numbers(name, &size)).view(&*size))
        })
        .collect();
    tch::Tensor::write_safetensors(&tensors, folder.path().join("model.safetensors")).unwrap();
    folder
}

/// The numbers of a tensor: a hash of its name, mixed with each one's place; norms are about 1.
pub(crate) fn numbers(name: &str, size: &[i64]) -> Vec<f32> {
    let hash = |hash: u32, byte: u8| (hash ^ u32::from(byte)).wrapping_mul(16_777_619);
    let seed = name.bytes().fold(2_166_136_261, hash);
    let is_norm = size.len() == 1 && name.ends_with("weight");
    let number = |place: u32| {
        let mixed = seed.wrapping_add(place.wrapping_mul(2_654_435_761));
        let mixed = (mixed ^ (mixed >> 16)).wrapping_mul(0x45d_9f3b);
        let uniform = f64::from(mixed ^ (mixed >> 16)) / 2_f64.powi(32) - 0.5;
        if is_norm { (1.0 + 0.4 * uniform) as f32 } else { uniform as f32 }
    };
    let count = u32::try_from(size.iter().product::<i64>()).unwrap();
    (0..count).map(number).collect()
}

pub(crate) fn tokenizer() -> Value {
    let words = fs::read_to_string(tiny().join("vocab.txt")).unwrap();
    let vocabulary: serde_json::Map<String, Value> =
        words.lines().zip(0..).map(|(word, id)| (word.to_owned(), json!(id))).collect();
    json!({
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true,
            "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "BertProcessing", "sep": ["[SEP]", 3], "cls": ["[CLS]", 2]},
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##",
            "max_input_chars_per_word": 100, "vocab": vocabulary},
    })
}

#[test]
fn every_family_equals_transformers() {
    let texts: Vec<String> = serde_json::from_value(read("golden.json")["texts"].clone()).unwrap();
    let pairs: Vec<(String, String)> =
        serde_json::from_value(read("golden.json")["pairs"].clone()).unwrap();
    let texts: Vec<&str> = texts.iter().map(String::as_str).collect();
    let pairs: Vec<(&str, &str)> = pairs.iter().map(|(a, b)| (a.as_str(), b.as_str())).collect();
    let families = families();
    assert_eq!(families.len(), 13);
    for family in families {
        let (name, folder) = (&family["name"], folder(&family));
        let near = |found: f32, expected: f64, size: f64| {
            let difference = (f64::from(found) - expected).abs();
            assert!(difference < 1e-5 * size, "{name}: {found}, expected {expected}");
        };
        let expected: Vec<Vec<f64>> = serde_json::from_value(family["vectors"].clone()).unwrap();
        let encoder = BertEncoder::open(folder.path(), &ModelOptions::default()).unwrap();
        let vectors = encoder.encode(&texts, &|_| {}).unwrap();
        for (row, expected) in vectors.rows().zip(expected) {
            row.iter().zip(expected).for_each(|(&found, expected)| near(found, expected, 1.0));
        }
        let expected: Vec<f64> = serde_json::from_value(family["logits"].clone()).unwrap();
        let largest = expected.iter().fold(1.0, |most: f64, logit| most.max(logit.abs()));
        let scorer = CrossEncoder::open(folder.path(), &ModelOptions::default()).unwrap();
        for (found, expected) in scorer.score(&pairs, &|_| {}).unwrap().into_iter().zip(expected) {
            near(found, expected, largest);
        }
    }
}

/// The score of a decoder is that of the last token that is no padding, wherever it comes from.
#[test]
fn the_mark_at_the_end_of_a_pair_may_be_padding() {
    let families = families();
    let qwen3 = families.iter().find(|family| family["name"] == "qwen3").unwrap();
    let score = |edit: &dyn Fn(&mut Value, &mut Value)| {
        let mut family = qwen3.clone();
        let mut tokenizer = tokenizer();
        edit(&mut family["config"], &mut tokenizer);
        let folder = folder(&family);
        put(folder.path(), "tokenizer.json", &tokenizer);
        let scorer = CrossEncoder::open(folder.path(), &ModelOptions::default()).unwrap();
        scorer.score(&[("bees", "tent pegs")], &|_| {}).unwrap()
    };
    let without_mark = score(&|_, tokenizer| {
        tokenizer["post_processor"] = json!({ "type": "TemplateProcessing",
            "single": [{ "SpecialToken": { "id": "[CLS]", "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } }],
            "pair": [{ "SpecialToken": { "id": "[CLS]", "type_id": 0 } }, { "Sequence": { "id": "A", "type_id": 0 } },
                { "SpecialToken": { "id": "[SEP]", "type_id": 0 } }, { "Sequence": { "id": "B", "type_id": 0 } }],
            "special_tokens": { "[CLS]": { "id": "[CLS]", "ids": [2], "tokens": ["[CLS]"] },
                "[SEP]": { "id": "[SEP]", "ids": [3], "tokens": ["[SEP]"] } } });
    });
    let as_padding = score(&|config, _| config["pad_token_id"] = 3.into());
    assert!((without_mark[0] - as_padding[0]).abs() < 1e-5, "{without_mark:?} {as_padding:?}");
    assert_ne!(score(&|_, _| ()), as_padding);
}

/// As in sentence-transformers, where no `modules.json` says how a vector is made.
#[test]
fn a_causal_language_model_has_the_vector_of_its_last_token() {
    let mut family = families().into_iter().find(|family| family["name"] == "qwen3").unwrap();
    let describe =
        |family: &Value| ModelFolder::open(folder(family).path()).unwrap().describe().unwrap();
    assert!(describe(&family).starts_with("Qwen3, Mean,"));
    family["config"]["architectures"] = json!(["Qwen3ForCausalLM"]);
    assert!(describe(&family).starts_with("Qwen3, LastToken,"));
    family["config"]["is_causal"] = false.into();
    assert!(describe(&family).starts_with("Qwen3, Mean,"));
}

/// Qwen3-Reranker: the logit of `yes` at the end of a pair without that of `no`.
#[test]
fn the_logits_of_words_score_pairs() {
    let family = families().into_iter().find(|family| family["name"] == "qwen3").unwrap();
    let [words, classes] = [folder(&family), folder(&family)];
    let size = [&family["config"]["vocab_size"], &family["config"]["hidden_size"]];
    let size = size.map(|size| size.as_i64().unwrap());
    let matrix = tch::Tensor::from_slice(&numbers("lm_head.weight", &size)).view(size);
    let put_tensor = |folder: &TempDir, name: &str, tensor: tch::Tensor| {
        let at = folder.path().join("model.safetensors");
        let mut tensors = tch::Tensor::read_safetensors(&at).unwrap();
        tensors.retain(|(other, _)| other != "score.weight");
        tensors.push((name.to_owned(), tensor));
        tch::Tensor::write_safetensors(&tensors, at).unwrap();
    };
    put_tensor(&words, "lm_head.weight", matrix.shallow_clone());
    put_tensor(&classes, "score.weight", (matrix.get(5) - matrix.get(6)).unsqueeze(0));
    let file = |name: &str, content: Value| put(words.path(), name, &content);
    let class = |path: &str, class: &str| json!({ "path": path, "type": format!("sentence_transformers.{class}") });
    let transformer = class("", "base.modules.transformer.Transformer");
    let last = class("1_LogitScore", "cross_encoder.modules.logit_score.LogitScore");
    file("modules.json", json!([transformer, last]));
    file("config_sentence_transformers.json", json!({ "model_type": "CrossEncoder" }));
    file(
        "sentence_bert_config.json",
        json!({ "transformer_task": "text-generation", "module_output_name": "causal_logits" }),
    );
    file("1_LogitScore/config.json", json!({ "true_token_id": 5, "false_token_id": 6 }));
    let pairs = [("bees", "tent pegs"), ("", "wind"), ("tell me about bees", "")];
    let [scores, expected] = [&words, &classes].map(|folder| {
        let scorer = CrossEncoder::open(folder.path(), &ModelOptions::default()).unwrap();
        scorer.score(&pairs, &|_| {}).unwrap()
    });
    for (found, expected) in scores.iter().zip(&expected) {
        assert!((found - expected).abs() < 1e-4, "{scores:?} {expected:?}");
    }
    let checksum = || ModelFolder::open(words.path()).unwrap().checksum;
    let before = checksum();
    file("1_LogitScore/config.json", json!({ "true_token_id": 5, "false_token_id": null }));
    assert_ne!(checksum(), before);
    file("1_LogitScore/config.json", json!({ "true_token_id": 5_000 }));
    let error = CrossEncoder::open(words.path(), &ModelOptions::default()).err().unwrap();
    assert_eq!(error.to_problem().expected, "ids of words");
}

/// The library takes the first token of a batch, which is padding then.
#[test]
fn padding_before_a_pair_whose_first_token_is_scored_is_refused() {
    let family = families().into_iter().find(|family| family["name"] == "modernbert").unwrap();
    let open = |pooling: &str| {
        let mut family = family.clone();
        family["config"]["classifier_pooling"] = pooling.into();
        let folder = folder(&family);
        put(folder.path(), "tokenizer_config.json", &json!({ "padding_side": "left" }));
        CrossEncoder::open(folder.path(), &ModelOptions::default()).map(|_| ())
    };
    assert!(open("cls").unwrap_err().to_string().contains("padding_side `right`"));
    open("mean").unwrap();
}
